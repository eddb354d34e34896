import { chmodSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { encodedResource } from '../../src/pipeline/encoded-resource.ts';
import type { EncodedResource, ResourceSet } from '../../src/proto/resource-set.ts';
import type { Session } from '../../src/xds/provider.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';
import type { Certificate } from './certificates.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';

/** Secrets over a Unix socket, as an agent serves them to the Envoy beside it: `default` and `ROOTCA`. */
export class SdsServer {
  readonly path: string;
  readonly #server: Server;

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
  }

  /** @param root PEM of the certificate that peers are judged by */
  static async start(path: string, certificate: Certificate, root: string): Promise<SdsServer> {
    const secrets = secretSet([
      encodedResource(SECRET, 'default', {
        name: 'default',
        tlsCertificate: {
          certificateChain: { inlineBytes: base64(certificate.chain) },
          privateKey: { inlineBytes: base64(certificate.key) },
        },
      }),
      encodedResource(SECRET, 'ROOTCA', {
        name: 'ROOTCA',
        validationContext: { trustedCa: { inlineBytes: base64(root) } },
      }),
    ]);
    const session: Session = {
      id: path,
      resources: (typeUrl) => (typeUrl === `type.googleapis.com/${SECRET}` ? secrets : undefined),
      onChange: () => {},
      close: () => {},
    };
    const server = new Server();
    new DiscoveryServer({ provider: { connect: () => session } }).register(server);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    chmodSync(path, 0o666);
    return new SdsServer(path, server);
  }

  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
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
