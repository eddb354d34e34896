import { cidrBlock } from '../base/cidr.ts';
import { parseDuration } from '../base/duration.ts';
import type { Environment } from '../process/environment.ts';
import { JwksSource, type KeySetStorage } from '../sources/jwks.ts';
import type { SourceLog } from '../sources/source.ts';
import { SYSTEM_CLOCK } from '../xds/limits.ts';

const REFRESH_MS = 20 * 60_000;

/** Fetches the keys of tokens, as Istio's variables say. */
export function jwksSource(env: Environment, storage: KeySetStorage, log: SourceLog): JwksSource {
  const refresh = parseDuration(env['PILOT_JWT_PUB_KEY_REFRESH_INTERVAL'] ?? '') ?? 0;
  const blocked = (env['BLOCKED_CIDRS_IN_JWKS_URIS'] ?? '').split(',').map((block) => block.trim());
  for (const block of blocked) {
    if (block !== '' && cidrBlock(block) === undefined)
      log.warn(`BLOCKED_CIDRS_IN_JWKS_URIS: "${block}" is no block of addresses as "10.0.0.0/8"`);
  }
  return new JwksSource({
    clock: SYSTEM_CLOCK,
    log,
    storage,
    refreshMs: refresh > 0 ? refresh : REFRESH_MS,
    blocked: blocked.filter((block) => cidrBlock(block) !== undefined),
    insecure: /^(1|t|true)$/i.test(env['JWKS_RESOLVER_INSECURE_SKIP_VERIFY'] ?? ''),
  });
}
