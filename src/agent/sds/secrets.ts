import { Buffer } from 'node:buffer';
import { pairProblem, rootsProblem } from '../../base/certificate.ts';
import { contentVersion } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import { encodeMessage } from '../../proto/message.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { SECRET_TYPE } from '../../proto/type-urls.ts';
import type { ResourceProvider, Session } from '../../xds/provider.ts';
import type { WorkloadCertificate } from '../certificates/workload-certificate.ts';
import { stampOf, textOf } from '../read-file.ts';
import { ResourceTable } from '../resource-table.ts';

/** The workload's certificate and its roots, under Istio's names. */
const OWN = 'default';
const ROOTS = 'ROOTCA';
const FILE_CERTIFICATE = 'file-cert:';
const FILE_ROOTS = 'file-root:';

/** How often files are looked at. Milliseconds. */
const EVERY = 1000;

export interface SecretsOptions {
  /** Files are relative to it. */
  readonly root: string;
  readonly log: { warn(message: string): void };
}

/**
 * What an Envoy is given as secrets: the workload's own certificate, and files of the machine that its configuration names
 * (`file-cert:cert.pem~key.pem`, `file-root:roots.pem`), which are followed as they change.
 *
 * @see istio/istio security/pkg/nodeagent/cache/secretcache.go `GenerateSecret`
 */
export class Secrets implements ResourceProvider {
  readonly #options: SecretsOptions;
  readonly #table = new ResourceTable();
  readonly #sessions = new Set<() => void>();
  /** Names for files with what they were when they were read. */
  readonly #files = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  constructor(options: SecretsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), EVERY);
    this.#timer.unref();
  }

  /** @param others roots beside those of the certificate, in PEM */
  take({ chain, key, roots }: WorkloadCertificate, others: readonly string[] = []): void {
    this.#table.set(certificateSecret(OWN, chain, key));
    this.#table.set(rootsSecret(ROOTS, together([roots, ...others])));
    this.#tell();
  }

  connect(): Session {
    let listener: () => void = () => {};
    const told = (): void => listener();
    this.#sessions.add(told);
    return {
      id: `secrets-${++this.#count}`,
      resources: (typeUrl) => (typeUrl === SECRET_TYPE ? this.#table : undefined),
      ask: (_typeUrl, names) => {
        for (const name of names) this.#follow(name);
        return undefined;
      },
      onChange: (changed) => {
        listener = changed;
      },
      close: () => {
        this.#sessions.delete(told);
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #follow(name: string): void {
    if (this.#files.has(name) || filesOf(name).length === 0) return;
    this.#files.set(name, '');
    this.#read(name);
  }

  #look(): void {
    let isChanged = false;
    for (const name of this.#files.keys()) isChanged = this.#read(name) || isChanged;
    if (isChanged) this.#tell();
  }

  /** @returns whether there is something new */
  #read(name: string): boolean {
    const { root, log } = this.#options;
    const files = filesOf(name);
    const stamps = (): string => files.map((file) => stampOf(root, file) ?? '').join();
    const before = stamps();
    if (before === this.#files.get(name)) return false;
    this.#files.set(name, before);
    try {
      const [first = '', second = ''] = files.map((file) => textOf(root, file) ?? '');
      const isPair = name.startsWith(FILE_CERTIFICATE);
      const problem = isPair ? pairProblem(first, second)?.problem : rootsProblem(first);
      if (problem !== undefined) throw new Error(problem);
      return this.#table.set(isPair ? certificateSecret(name, first, second) : rootsSecret(name, first));
    } catch (error) {
      log.warn(`${files.join(' with ')} can not be given to Envoy, and what it has stays: ${(error as Error).message}`);
      return false;
    }
  }

  #tell(): void {
    for (const told of this.#sessions) told();
  }
}

/** Each certificate once. */
function together(texts: readonly string[]): string {
  const all = texts.flatMap((text) => text.match(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g) ?? []);
  return [...new Set(all)].map((one) => `${one}\n`).join('');
}

/** Empty for other secrets. */
function filesOf(name: string): readonly string[] {
  if (name.startsWith(FILE_ROOTS)) return [name.slice(FILE_ROOTS.length)];
  if (!name.startsWith(FILE_CERTIFICATE)) return [];
  const parts = name.slice(FILE_CERTIFICATE.length).split('~');
  return parts.length === 2 ? parts : [];
}

function certificateSecret(name: string, chain: string, key: string): EncodedResource {
  return secret({
    name,
    tlsCertificate: { certificateChain: { inlineBytes: base64(chain) }, privateKey: { inlineBytes: base64(key) } },
  });
}

function rootsSecret(name: string, roots: string): EncodedResource {
  return secret({ name, validationContext: { trustedCa: { inlineBytes: base64(roots) } } });
}

function secret(json: JsonObject & { readonly name: string }): EncodedResource {
  const bytes = encodeMessage('envoy.extensions.transport_sockets.tls.v3.Secret', json);
  return { name: json.name, version: contentVersion(bytes), bytes };
}

function base64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}
