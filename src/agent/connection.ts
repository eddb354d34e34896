import { join } from 'node:path';
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import type { WorkloadCertificate } from './certificates/workload-certificate.ts';
import type { ControlPlaneAddress } from './control-plane-address.ts';
import { textOf } from './read-file.ts';
import type { ControlPlaneSettings } from './settings.ts';

/** A certificate with its key, in PEM. */
export type Pair = Pick<WorkloadCertificate, 'chain' | 'key'>;

/** How this machine connects to istiod. Files are read at each connection, as they are renewed. */
export class Connection {
  readonly #root: string;
  readonly #settings: ControlPlaneSettings;
  /** The certificate of the workload as it is now. */
  readonly #current: () => WorkloadCertificate | undefined;

  constructor(root: string, settings: ControlPlaneSettings, current: () => WorkloadCertificate | undefined) {
    this.#root = root;
    this.#settings = settings;
    this.#current = current;
  }

  get channelOptions(): ChannelOptions {
    const { serverName } = this.#settings;
    if (serverName === undefined) return {};
    return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
  }

  /** @throws Error with a message for people when there is nothing by which istiod could be told from others */
  channelCredentials(own: Pair | undefined = this.pair()): ChannelCredentials {
    const { plaintext, rootFiles } = this.#settings;
    if (plaintext) return credentials.createInsecure();
    const roots = rootFiles === undefined ? undefined : this.#roots(rootFiles);
    return credentials.createSsl(
      roots ?? null,
      own === undefined ? null : Buffer.from(own.key),
      own === undefined ? null : Buffer.from(own.chain),
    );
  }

  /** The proof for who has no certificate. It is a secret: it goes over TLS and sockets of this machine alone. */
  authorization(): Readonly<Record<string, string>> {
    const token = this.token();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Undefined when there is none, or it may not be sent. */
  token(): string | undefined {
    const { plaintext, tokenFile, address } = this.#settings;
    if (plaintext && !isSocket(address)) return undefined;
    return textOf(this.#root, tokenFile)?.trim() || undefined;
  }

  /** That of the workload, or else the one that the machine was given to ask for it. */
  pair(): Pair | undefined {
    const current = this.#current();
    if (current !== undefined && current.until > Date.now()) return current;
    const { certificateDirectory } = this.#settings;
    const chain = textOf(this.#root, join(certificateDirectory, 'cert-chain.pem'));
    const key = textOf(this.#root, join(certificateDirectory, 'key.pem'));
    return chain === undefined || key === undefined ? undefined : { chain, key };
  }

  /** Those of files, and those that came with the workload's certificate: they may be newer. */
  #roots(files: readonly string[]): Buffer {
    const ofFile = files.map((file) => textOf(this.#root, file)).find((text) => text !== undefined);
    const all = [ofFile, this.#current()?.roots].filter((text) => text !== undefined);
    if (all.length > 0) return Buffer.from(all.join('\n'), 'latin1');
    throw new Error(
      `there are no roots for its certificate: put them into ${files.join(' or ')}, or write XDS_ROOT_CA=SYSTEM if it has a public one`,
    );
  }
}

function isSocket(address: ControlPlaneAddress): boolean {
  return 'socket' in address;
}
