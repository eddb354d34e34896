import { chmodSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { encodedResource } from '../../src/pipeline/encoded-resource.ts';
import type { EncodedResource, ResourceSet } from '../../src/proto/resource-set.ts';
import type { Session } from '../../src/xds/provider.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';
import type { Certificate } from './certificates.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';

export interface SdsServerOptions {
  /** Of its socket. */
  readonly path: string;
  readonly certificate: Certificate;
  /** PEM: what peers are judged by. */
  readonly root: string;
  /** Names for files, `file-cert:…` and `file-root:…`: they stand for the same certificate and root. */
  readonly files?: Iterable<string>;
}

/** Secrets over a Unix socket, as an agent serves them to the Envoy beside it: `default`, `ROOTCA` and files. */
export class SdsServer {
  readonly path: string;
  readonly #server: Server;

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
  }

  static async start({ path, certificate, root, files = [] }: SdsServerOptions): Promise<SdsServer> {
    const secrets = secretSet(
      ['default', 'ROOTCA', ...files].map((name) =>
        name === 'ROOTCA' || name.startsWith('file-root:')
          ? rootSecret(name, root)
          : certificateSecret(name, certificate),
      ),
    );
    const session: Session = {
      id: path,
      resources: (typeUrl) => (typeUrl === `type.googleapis.com/${SECRET}` ? secrets : undefined),
      onChange: () => {},
      close: () => {},
    };
    const server = new Server();
    new DiscoveryServer({ provider: { connect: () => session } }).register(server);
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error));
      server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), done);
    });
    chmodSync(path, 0o666);
    return new SdsServer(path, server);
  }

  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
}

function certificateSecret(name: string, { chain, key }: Certificate): EncodedResource {
  return encodedResource(SECRET, name, {
    name,
    tlsCertificate: {
      certificateChain: { inlineBytes: base64(chain) },
      privateKey: { inlineBytes: base64(key) },
    },
  });
}

function rootSecret(name: string, root: string): EncodedResource {
  return encodedResource(SECRET, name, { name, validationContext: { trustedCa: { inlineBytes: base64(root) } } });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function secretSet(secrets: readonly EncodedResource[]): ResourceSet {
  return {
    revision: 1,
    size: secrets.length,
    get: (name) => secrets.find((secret) => secret.name === name),
    values: () => secrets,
    changesSince: () => ({ changed: [], removed: [] }),
  };
}
