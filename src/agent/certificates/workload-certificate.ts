import { pairProblem, rootsProblem, validityOf } from '../../base/certificate.ts';
import type { JsonObject } from '../../base/json.ts';
import { StateFile, type StateFileOptions } from '../../process/state-file.ts';

/** What a workload proves with who it is, in PEM. */
export interface WorkloadCertificate {
  /** The workload's own first, then those of authorities below the root. */
  readonly chain: string;
  readonly key: string;
  /** By which its peers are judged. */
  readonly roots: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

/** @throws Error with a message for people when the parts do not fit together */
export function workloadCertificate(chain: string, key: string, roots: string): WorkloadCertificate {
  const problem = pairProblem(chain, key)?.problem ?? rootsProblem(roots);
  if (problem !== undefined) throw new Error(problem);
  const { from, until } = validityOf(chain) ?? { from: 0, until: 0 };
  return { chain, key, roots, from, until };
}

/** The certificate that was given last, in a file that only the agent's user can read. */
export class CertificateFile {
  readonly #file: StateFile;

  constructor(options: Pick<StateFileOptions, 'directory' | 'log'>) {
    this.#file = new StateFile({ ...options, name: 'certificate.json', what: 'certificates of this workload' });
  }

  load(): WorkloadCertificate | undefined {
    return this.#file.load(({ chain, key, roots }: JsonObject) => {
      if (typeof chain !== 'string' || typeof key !== 'string' || typeof roots !== 'string')
        throw new Error('parts are missing');
      return workloadCertificate(chain, key, roots);
    });
  }

  save({ chain, key, roots }: WorkloadCertificate): void {
    this.#file.save(() => ({ chain, key, roots }));
  }

  /** Resolves when what was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#file.flush();
  }
}
