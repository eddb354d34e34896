import type { Buffer } from 'node:buffer';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { type Address, formatAddress } from '../../base/host-port.ts';
import { Framed, frame, type Protocol } from './exchange.ts';
import { LONGEST_QUESTION } from './query.ts';

/** From where a question came. */
export interface Asker {
  readonly protocol: Protocol;
  readonly address: Address;
}

/** @returns the answer; undefined: none is sent. Never rejects. */
export type Answer = (message: Buffer, asker: Asker) => Promise<Buffer | undefined>;

/** Limits of TCP, which a program that opens connections and says nothing does not use up. RFC 7766, section 6. */
const TCP = { connections: 200, idleMs: 10_000, pipelined: 100 } as const;

/** Ports that are tried where any will do, until one is free for both protocols. */
const ATTEMPTS = 20;

/** An address on which questions are answered, over UDP and TCP. */
export interface DnsListener {
  readonly address: Address;
  close(): Promise<void>;
}

/** @throws Error of the system when the address can not be taken */
export async function listenDns({ host, port }: Address, answer: Answer): Promise<DnsListener> {
  for (let left = ATTEMPTS; ; left--) {
    const tcp = await listenTcp({ host, port }, answer);
    try {
      const udp = await listenUdp({ host, port: tcp.port }, answer);
      return {
        address: { host, port: tcp.port },
        close: async () => void (await Promise.all([udp.close(), tcp.close()])),
      };
    } catch (error) {
      await tcp.close();
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (port !== 0 || !isTaken || left === 1) throw error;
    }
  }
}

function listenUdp({ host, port }: Address, answer: Answer): Promise<Pick<DnsListener, 'close'>> {
  const socket: UdpSocket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  socket.on('message', (message, peer) => {
    void answer(message, { protocol: 'udp', address: { host: peer.address, port: peer.port } }).then((response) => {
      // Whoever asked may be gone.
      if (response !== undefined && isOpen) socket.send(response, peer.port, peer.address, () => undefined);
    });
  });
  let isOpen = true;
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', reject);
      // Of one datagram, which is lost then.
      socket.on('error', () => undefined);
      resolve({
        close: () => {
          if (!isOpen) return Promise.resolve();
          isOpen = false;
          return new Promise((closed) => socket.close(() => closed()));
        },
      });
    });
  });
}

function listenTcp(
  { host, port }: Address,
  answer: Answer,
): Promise<Pick<DnsListener, 'close'> & { readonly port: number }> {
  const open = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    serve(socket, answer);
  });
  server.maxConnections = TCP.connections;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const bound = server.address();
      resolve({
        port: typeof bound === 'object' && bound !== null ? bound.port : port,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            for (const socket of open) socket.destroy();
          }),
      });
    });
  });
}

/** Questions of one connection, which are answered as the answers come, not in their order. */
function serve(socket: Socket, answer: Answer): void {
  const { remoteAddress: host = '', remotePort: port = 0 } = socket;
  const asker: Asker = { protocol: 'tcp', address: { host, port } };
  const questions = new Framed();
  let pending = 0;
  socket.setTimeout(TCP.idleMs, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    for (const question of questions.take(bytes)) {
      if (question.length > LONGEST_QUESTION || ++pending > TCP.pipelined) {
        socket.destroy();
        return;
      }
      void answer(question, asker).then((response) => {
        pending--;
        if (socket.destroyed) return;
        if (response === undefined) socket.destroy();
        else socket.write(frame(response));
      });
    }
    if ((questions.announced ?? 0) > LONGEST_QUESTION) socket.destroy();
  });
}

/** For people. */
export function listenFailureText(address: Address, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const at = formatAddress(address);
  if (code === 'EADDRINUSE')
    return `the DNS of the agent can not listen on ${at}: another program does; end it, or write another address into DNS_PROXY_ADDR`;
  if (code === 'EACCES')
    return `the DNS of the agent can not listen on ${at}: ports below 1024 need root or the capability CAP_NET_BIND_SERVICE`;
  return `the DNS of the agent can not listen on ${at}: ${message}`;
}
