import type { Gateway, Secret, ServerTLSSettings } from '#generated/config/specs.ts';
import { decodedText, validityOf, weakKey } from '../../base/certificate.ts';
import type { Config } from '../../config/config.ts';
import { fileSecretsOfServer } from '../../config/file-secrets.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import { CERTIFICATE_FILES, SECRET } from '../../config/kinds/secret.ts';
import { certificateIn, rootsIn } from '../../config/secret-data.ts';
import type { Analyzer } from './analyzer.ts';
import type { MeshFacts } from './facts.ts';
import { listed } from './names.ts';

/** So much of its time a certificate has left when it should have been renewed: ten days of ninety. */
const LATE = 1 / 9;
/** How far behind the time may be that is asked for: a new certificate is no mistake. Milliseconds. */
const HOUR = 3_600_000;

/**
 * Certificates that no longer hold, or not for long, which are served all the same, as some clients do not look; and those that
 * Envoy refuses for their key.
 */
export const CERTIFICATE_VALIDITY: Analyzer<Secret> = {
  kinds: [SECRET.kind, CERTIFICATE_FILES.kind],
  *findings({ kind, spec: { data = {} } }, facts) {
    // Of files the finding is about the file as a whole.
    const at = (entry: string): Place => placeOf(kind === CERTIFICATE_FILES.kind ? [] : ['data', entry]);
    const certificate = certificateIn(data);
    if (certificate !== undefined) {
      const weak = weakKey(decodedText(certificate.certificate));
      if (weak !== undefined) yield at(certificate.at.certificate).warning(`${weak}: make one with another key`);
    }
    const now = facts.now();
    if (now === undefined) return;
    if (certificate !== undefined) {
      yield* validity(at(certificate.at.certificate), 'the certificate', certificate.certificate, now);
    }
    const roots = rootsIn(data);
    if (roots !== undefined) yield* validity(at(roots.at.roots), 'a root', roots.roots, now);
  },
};

function* validity(at: Place, what: string, base64: string, now: number): Generator<Finding> {
  const found = validityOf(decodedText(base64));
  if (found === undefined) return;
  const { from, until } = found;
  const renewed = 'replace it with one that holds';
  if (now >= until) yield at.warning(`${what} expired on ${day(until)}: ${renewed}`, 'VM0502');
  else if (from >= now + HOUR) yield at.warning(`${what} holds only from ${day(from)} on: ${renewed}`, 'VM0502');
  else if (until - now < (until - from) * LATE)
    yield at.warning(`${what} expires on ${day(until)}: renew it`, 'VM0502');
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Connected proxies that can not serve a Gateway's TLS, as what they need does not come to them. */
export const GATEWAY_CERTIFICATES: Analyzer<Gateway> = {
  kinds: ['Gateway'],
  *findings(config, facts) {
    if (config.group !== 'networking.istio.io') return;
    for (const [i, { tls }] of (config.spec.servers ?? []).entries()) {
      const at = placeOf(['spec', 'servers', i, 'tls']);
      const { mode = 'PASSTHROUGH', credentialName = '', credentialNames = [] } = tls ?? {};
      const files = fileSecretsOfServer(tls);
      const own = credentialNames.length > 0 ? credentialNames : [credentialName];
      const fromSecrets = mode !== 'ISTIO_MUTUAL' && own.some((name) => name !== '' && !ELSEWHERE.test(name));
      if (fromSecrets && !mode.endsWith('PASSTHROUGH')) yield* withoutSecrets(config, at, facts, tls ?? {});
      if (mode.endsWith('PASSTHROUGH') || (!fromSecrets && files.length === 0)) continue;
      yield* withoutKeys(config, at, fromSecrets, facts);
      for (const secret of files) yield* withoutFiles(config, at, secret.name, facts);
    }
  },
};

/** Served by the workload's own agent, or by somebody else. */
const ELSEWHERE = /^(builtin|sds|invalid):\/\//;

/**
 * A proxy reads Secrets of its own namespace alone. Of a Gateway whose workloads nobody knows, those of any may be meant.
 * @see istio/istio pkg/config/analysis/analyzers/gateway/secret.go
 */
function* withoutSecrets(
  { spec: { selector = {} } }: Config<Gateway>,
  at: Place,
  facts: MeshFacts,
  { credentialName = '', credentialNames = [] }: ServerTLSSettings,
): Generator<Finding> {
  const several = credentialNames.map((name, i) => [name, at.at('credentialNames', i)] as const);
  for (const [name, place] of several.length > 0 ? several : [[credentialName, at.at('credentialName')] as const]) {
    if (name === '' || name.includes('://')) continue;
    const namespaces = facts.secretsNamed(name);
    const isNear = namespaces.some((namespace) => facts.hasWorkload(namespace, selector));
    if (isNear || (namespaces.length > 0 && !facts.hasWorkload('*', selector))) continue;
    const elsewhere = namespaces.length === 0 ? '' : `, but in ${listed(namespaces)}`;
    const message = `there is no Secret "${name}" in the namespace of the gateway's proxies${elsewhere}: write one there`;
    // It may be where the server is, and not where its configuration is looked at.
    yield place.warning(message, 'IST0101');
  }
}

function* withoutKeys({ key }: Config, at: Place, fromSecrets: boolean, facts: MeshFacts): Generator<Finding> {
  const keyless = facts.gatewayProxies(key).filter(({ keys, agent }) => !keys && (fromSecrets || !agent));
  if (keyless.length === 0) return;
  const advice = 'let it connect to listen.grpcUnix, or to listen.grpcTls with a certificate of its namespace';
  yield at.warning(
    `${listed(keyless.map(({ id }) => id))} can not serve this: no private keys go over its connection; ${advice}`,
    'VM0503',
  );
}

function* withoutFiles({ key }: Config, at: Place, name: string, facts: MeshFacts): Generator<Finding> {
  if (facts.hasFiles(name)) return;
  const waiting = facts.gatewayProxies(key).filter(({ keys, agent }) => keys && !agent);
  if (waiting.length === 0) return;
  const [, paths = ''] = name.split(/:(.*)/);
  yield at.warning(
    `${listed(waiting.map(({ id }) => id))} can not serve this: ${paths.replace('~', ' and ')} can not be served from here; write them, readable for istiod`,
    'VM0504',
  );
}
