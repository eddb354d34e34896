import { rootsProblem } from '../../base/certificate.ts';
import { StateFile, type StateFileOptions } from '../../process/state-file.ts';
import { decodeMessage } from '../../proto/decode.ts';
import type { PackedMessage } from '../../proto/discovery.ts';
import { messageName, PROXY_CONFIG_TYPE } from '../../proto/type-urls.ts';

/**
 * Roots that istiod tells of beside those that came with the certificate: of other meshes, or of an authority that follows. They
 * outlive the agent in `trust-bundle.json`, `{"roots": ["…"]}`.
 *
 * @see istio/istio pilot/pkg/xds/pcds.go
 */
export class TrustBundle {
  readonly #file: StateFile;
  readonly #listeners = new Set<() => void>();
  #roots: readonly string[];

  constructor(options: Pick<StateFileOptions, 'directory' | 'log'>) {
    this.#file = new StateFile({ ...options, name: 'trust-bundle.json', what: 'roots that istiod told of' });
    this.#roots =
      this.#file.load(({ roots }) => {
        if (!Array.isArray(roots)) throw new Error('it holds no roots');
        return roots.filter((pem): pem is string => typeof pem === 'string' && rootsProblem(pem) === undefined);
      }) ?? [];
  }

  /** In PEM. */
  get roots(): readonly string[] {
    return this.#roots;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** @param resources of a response; none say nothing. @returns why it is refused; undefined: it is taken */
  take([first]: readonly PackedMessage[]): string | undefined {
    if (first === undefined) return undefined;
    let pems: readonly string[];
    try {
      const { caCertificatesPem = [] } = decodeMessage(messageName(PROXY_CONFIG_TYPE), first.value);
      pems = caCertificatesPem as readonly string[];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const problem = pems.map(rootsProblem).find((one) => one !== undefined);
    if (problem !== undefined) return `a root can not be taken: ${problem}`;
    if (pems.join('\n') === this.#roots.join('\n')) return undefined;
    this.#roots = pems;
    this.#file.save(() => ({ roots: pems }));
    for (const listener of this.#listeners) listener();
    return undefined;
  }

  /** Resolves when what was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#file.flush();
  }
}
