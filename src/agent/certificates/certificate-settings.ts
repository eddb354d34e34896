import { parseDuration } from '../../base/duration.ts';
import type { Environment } from '../../process/environment.ts';
import { controlPlaneAddress, grpcTarget } from '../control-plane-address.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { valueOf } from '../variables.ts';
import type { CertificatesOptions } from './certificates.ts';

/** Complete certificates there are the workload's own, as with Istio's agent; those of PROV_CERT elsewhere only prove who asks. */
const MOUNTED = 'etc/certs';
const DAY = 24 * 3_600_000;

/** What the variables say of the workload's certificates. */
export function certificateSettings(
  env: Environment,
  controlPlane: ControlPlaneSettings,
): Pick<CertificatesOptions, 'mounted' | 'authority' | 'ttlMs' | 'grace' | 'jitter'> {
  return {
    mounted: MOUNTED,
    authority: authority(env, controlPlane),
    ttlMs: parseDuration(env['SECRET_TTL'] ?? '') ?? DAY,
    grace: Number(valueOf(env, 'SECRET_GRACE_PERIOD_RATIO')),
    jitter: Number(valueOf(env, 'SECRET_GRACE_PERIOD_RATIO_JITTER')),
  };
}

/** Over plaintext TCP no certificates are given. */
function authority(env: Environment, { address, plaintext }: ControlPlaneSettings): string | undefined {
  const named = controlPlaneAddress(env['CA_ADDR'] ?? '').address;
  if (named !== undefined && env['CA_ADDR']) return grpcTarget(named);
  return plaintext && !('socket' in address) ? undefined : grpcTarget(address);
}
