import { parseDuration } from '../../base/duration.ts';
import type { Environment } from '../../process/environment.ts';
import { Connection } from '../connection.ts';
import { controlPlaneAddress, grpcTarget } from '../control-plane-address.ts';
import type { AgentSettings, ControlPlaneSettings } from '../settings.ts';
import { valueOf } from '../variables.ts';
import { Certificates, type CertificatesOptions } from './certificates.ts';
import { CertificateFile } from './workload-certificate.ts';

/** Complete certificates there are the workload's own, as with Istio's agent; those of PROV_CERT elsewhere only prove who asks. */
const MOUNTED = 'etc/certs';
const DAY = 24 * 3_600_000;

export interface MachineCertificatesOptions extends Pick<CertificatesOptions, 'root' | 'log'> {
  readonly settings: Pick<AgentSettings, 'env' | 'controlPlane'>;
  /** For what is kept. */
  readonly directory: string;
}

/** The certificates of the workload as the settings of its machine have it. */
export function machineCertificates({ root, settings, directory, log }: MachineCertificatesOptions): Certificates {
  const { env, controlPlane } = settings;
  return new Certificates({
    root,
    mounted: MOUNTED,
    authority: authority(env, controlPlane),
    connection: (current) => new Connection(root, controlPlane, current),
    file: new CertificateFile({ directory, log }),
    ttlMs: parseDuration(env['SECRET_TTL'] ?? '') ?? DAY,
    grace: Number(valueOf(env, 'SECRET_GRACE_PERIOD_RATIO')),
    jitter: Number(valueOf(env, 'SECRET_GRACE_PERIOD_RATIO_JITTER')),
    log,
  });
}

/** Over plaintext TCP no certificates are given. */
function authority(env: Environment, { address, plaintext }: ControlPlaneSettings): string | undefined {
  const named = controlPlaneAddress(env['CA_ADDR'] ?? '').address;
  if (named !== undefined && env['CA_ADDR']) return grpcTarget(named);
  return plaintext && !('socket' in address) ? undefined : grpcTarget(address);
}
