import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { type DecodedPacket, decode, encode, streamEncode } from 'dns-packet';

export type QueryType = 'A' | 'AAAA' | 'MX' | 'TXT';

export interface DnsQuestion {
  readonly name: string;
  readonly type: QueryType;
  /** Default: udp. */
  readonly protocol?: 'udp' | 'tcp';
  /** Bytes that are taken over UDP; default: no EDNS. */
  readonly payloadSize?: number;
}

export interface DnsAnswer {
  readonly rcode: string;
  /** Of A and AAAA. */
  readonly addresses: readonly string[];
  readonly packet: DecodedPacket;
}

/** How long a server may take. Milliseconds. */
const WITHIN = 10_000;

/** One question to a server, `host:port`, over a socket of its own. @throws Error when no answer comes */
export async function dnsQuery(server: string, question: DnsQuestion): Promise<DnsAnswer> {
  const { name, type, protocol = 'udp', payloadSize } = question;
  const query = {
    id: Math.floor(Math.random() * 65_536),
    type: 'query' as const,
    flags: 0x0100,
    questions: [{ name, type }],
    ...(payloadSize === undefined
      ? {}
      : {
          additionals: [
            {
              type: 'OPT' as const,
              name: '.' as const,
              udpPayloadSize: payloadSize,
              flags: 0,
              options: [],
              extendedRcode: 0,
              ednsVersion: 0,
              flag_do: false,
            },
          ],
        }),
  };
  const answered = protocol === 'udp' ? overUdp(server, encode(query)) : overTcp(server, streamEncode(query));
  const packet = decode(await answered);
  const addresses = (packet.answers ?? []).flatMap((record) =>
    record.type === 'A' || record.type === 'AAAA' ? [record.data] : [],
  );
  // Node's types know no code.
  const { rcode } = packet as DecodedPacket & { readonly rcode: string };
  return { rcode, addresses, packet };
}

/** The whole message; empty when the server closes without one. */
export function overUdp(server: string, message: Uint8Array): Promise<Buffer> {
  const [host = '', port] = server.split(/:(?=\d+$)/);
  const socket = createSocket('udp4');
  return timely(
    (resolve, reject) => {
      socket.once('message', resolve);
      socket.once('error', reject);
      socket.send(message, Number(port), host);
    },
    () => socket.close(),
  );
}

/** @param message with its length before it. @returns without it */
export function overTcp(server: string, message: Uint8Array): Promise<Buffer> {
  const [host = '', port] = server.split(/:(?=\d+$)/);
  const socket = connect({ host, port: Number(port) }, () => socket.write(message));
  let received = Buffer.alloc(0);
  return timely(
    (resolve, reject) => {
      socket.on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        if (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) resolve(received.subarray(2));
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the server closed the connection')));
    },
    () => socket.destroy(),
  );
}

function timely(
  begin: (resolve: (answer: Buffer) => void, reject: (error: Error) => void) => void,
  end: () => void,
): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${WITHIN} ms`)), WITHIN);
    timer.unref();
    begin(resolve, reject);
  }).finally(end);
}
