import { createSocket, type Socket } from 'node:dgram';

/** Addresses by name; a name that is not there does not exist. */
export type Zone = Readonly<Record<string, readonly string[]>>;

const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;

/** A name server for names of a test. `*` stands for all names that are not there. */
export async function dnsServer(address: string, zone: Zone): Promise<Socket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (query, { address: peer, port }) => socket.send(answer(query, zone), port, peer));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, address, resolve);
  });
  return socket;
}

/** @param query a message with one question, as resolvers send it */
export function answer(query: Buffer, zone: Zone): Buffer {
  const labels: string[] = [];
  let end = 12;
  for (let length = query.readUInt8(end); length > 0; length = query.readUInt8(end)) {
    labels.push(query.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const type = query.readUInt16BE(end + 1);
  const addresses = zone[labels.join('.').toLowerCase()] ?? zone['*'];
  const wanted = (addresses ?? []).filter((address) => (address.includes(':') ? type === AAAA : type === A));
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8580 | (addresses === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(wanted.length, 6);
  const records = wanted.map((address) => {
    const data = address.includes(':') ? v6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, query.subarray(12, end + 5), ...records]);
}

function v6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));
  const [head, tail] = [groups(before), groups(after)];
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  const bytes = Buffer.alloc(16);
  for (const [i, group] of [...head, ...zeros, ...tail].entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2);
  return bytes;
}
