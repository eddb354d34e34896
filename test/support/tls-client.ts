import { once } from 'node:events';
import { type ConnectionOptions, connect, type PeerCertificate, type TLSSocket } from 'node:tls';

export interface TlsTarget {
  /** `host:port`. */
  readonly to: string;
  readonly servername: string;
  /** PEM: the client's own certificate. */
  readonly client?: { readonly chain: string; readonly key: string };
  /** Whom the client believes, in PEM; absent: everybody, since what is shown is what is looked at. */
  readonly roots?: string;
  /** The name in the certificate may be another one. */
  readonly withoutHostCheck?: boolean;
  /** Longest wait for the handshake in milliseconds; default 2,000. */
  readonly withinMs?: number;
}

/** What a server showed of itself. */
export interface ShownCertificate {
  /** In decimal digits. */
  readonly serial: string;
  readonly commonName: string;
  readonly subjectAltName: string;
}

/** A TLS connection that stays open until it is closed; over it requests of HTTP/1.1 are sent one after another. */
export class TlsConnection {
  readonly certificate: ShownCertificate;
  readonly #socket: TLSSocket;
  #closed: string | undefined;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    const { serialNumber, subject, subjectaltname = '' } = socket.getPeerCertificate() as PeerCertificate;
    this.certificate = {
      serial: String(BigInt(`0x${serialNumber}`)),
      commonName: String(subject?.CN ?? ''),
      subjectAltName: subjectaltname,
    };
    socket.on('error', (error) => {
      this.#closed ??= error.message;
    });
    socket.on('close', () => {
      this.#closed ??= 'the server closed it';
    });
  }

  /** @throws Error when there is no handshake, with the server's alert where it sends one */
  static async open(target: TlsTarget): Promise<TlsConnection> {
    const [host = '', port] = target.to.split(':');
    const options: ConnectionOptions = {
      host,
      port: Number(port),
      servername: target.servername,
      rejectUnauthorized: target.roots !== undefined,
      ...(target.roots === undefined ? {} : { ca: target.roots }),
      ...(target.withoutHostCheck ? { checkServerIdentity: () => undefined } : {}),
      ...(target.client === undefined ? {} : { cert: target.client.chain, key: target.client.key }),
      // The client's certificate is judged within the handshake, not after it as in TLS 1.3.
      maxVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
    };
    const socket = connect(options);
    const { withinMs = 2_000 } = target;
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`no handshake within ${withinMs} ms`)));
    try {
      await once(socket, 'secureConnect');
    } catch (error) {
      socket.destroy();
      throw error;
    }
    socket.setTimeout(0);
    return new TlsConnection(socket);
  }

  /** Why it is closed; undefined while it is open. */
  get closed(): string | undefined {
    return this.#closed;
  }

  /** @returns the status of the answer; @throws Error when there is none in time */
  async request(host: string, path: string = '/', withinMs: number = 5_000): Promise<number> {
    if (this.#closed !== undefined) throw new Error(this.#closed);
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    const [answer] = (await once(this.#socket, 'data', { signal: AbortSignal.timeout(withinMs) })) as [Buffer];
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1]);
  }

  close(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The certificate that a server shows. @throws as `TlsConnection.open` */
export async function shownCertificate(target: TlsTarget): Promise<ShownCertificate> {
  using connection = await TlsConnection.open(target);
  return connection.certificate;
}
