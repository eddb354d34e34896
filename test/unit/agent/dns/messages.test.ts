import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { isQuery, type Query, readQuery } from '../../../../src/agent/dns/query.ts';
import { errorResponse, type Found, fitted, foundResponse } from '../../../../src/agent/dns/response.ts';
import { addressBytes } from '../../../../src/base/cidr.ts';
import { runs } from '../../../support/runs.ts';

function question(name: string, type: 'A' | 'AAAA' = 'A', payloadSize?: number): Buffer {
  const opt = { type: 'OPT' as const, name: '.' as const, udpPayloadSize: payloadSize ?? 0, flags: 0, options: [] };
  const packet = { type: 'query', id: 0xbeef, flags: 0x0100, questions: [{ name, type }] };
  return encode({ ...packet, ...(payloadSize === undefined ? {} : { additionals: [opt] }) } as unknown as Packet);
}

function read(message: Buffer): Query {
  const query = readQuery(message);
  assert.ok(isQuery(query));
  return query;
}

function addresses(count: number, prefix: string): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, i) => Uint8Array.from(addressBytes(`${prefix}${i + 1}`)));
}

const found = (v4: number, v6 = 0, canonical?: string): Found => ({
  canonical,
  v4: addresses(v4, '10.0.0.'),
  v6: addresses(v6, 'fd00::'),
});

/** Type and data of each record, sorted. */
function records(message: Buffer): readonly string[] {
  const { answers = [] } = decode(message);
  return answers
    .map((one) => `${'name' in one ? one.name : ''} ${one.type} ${'data' in one ? one.data : ''}`)
    .toSorted();
}

test('a question is read, in whatever case it is asked', () => {
  const { id, name, type, class: kind, payloadSize } = read(question('Orders.Mesh.Internal'));
  assert.deepEqual([id, name, type, kind, payloadSize], [0xbeef, 'orders.mesh.internal', 1, 1, undefined]);
  assert.equal(read(question('a', 'AAAA', 4096)).payloadSize, 4096);
});

test('an answer repeats id, flags and question as they came, and says that it knows', () => {
  const query = question('Orders.Mesh.Internal');
  const response = foundResponse(read(query), found(2), 'udp');
  assert.deepEqual(response.subarray(12, query.length), query.subarray(12));
  const { id, type, flag_aa: known, flag_rd: desired, flag_ra: available, flag_tc: cut } = decode(response);
  assert.deepEqual([id, type, known, desired, available, cut], [0xbeef, 'response', true, true, true, false]);
  assert.deepEqual(records(response), ['Orders.Mesh.Internal A 10.0.0.1', 'Orders.Mesh.Internal A 10.0.0.2']);
});

test('a name that has addresses of the other family alone exists, and has none', () => {
  const response = foundResponse(read(question('a.b', 'AAAA')), found(1), 'udp');
  assert.deepEqual(records(response), []);
  assert.equal((decode(response) as { rcode?: string }).rcode, 'NOERROR');
  const six = foundResponse(read(question('a.b', 'AAAA')), found(1, 1), 'udp');
  assert.deepEqual(records(six), ['a.b AAAA fd00::1']);
});

test('a name that stands for another is answered with both', () => {
  const response = foundResponse(read(question('a.b.search')), found(2, 0, 'a.b'), 'udp');
  assert.deepEqual(records(response), ['a.b A 10.0.0.1', 'a.b A 10.0.0.2', 'a.b.search CNAME a.b']);
  assert.deepEqual(records(foundResponse(read(question('a.b.search', 'AAAA')), found(2, 0, 'a.b'), 'udp')), []);
});

test('what has no room over UDP is left out and said to be, and comes whole over TCP', () => {
  const name = 'a-rather-long-name.of-a-service.shop.svc.cluster.local';
  const plain = foundResponse(read(question(name)), found(100), 'udp');
  assert.ok(plain.length <= 512 && plain.length > 480, `${plain.length} bytes`);
  assert.equal(decode(plain).flag_tc, true);
  const large = foundResponse(read(question(name, 'A', 1232)), found(100), 'udp');
  assert.ok(large.length <= 1232 && large.length > 1200, `${large.length} bytes`);
  assert.equal(decode(large).additionals?.[0]?.type, 'OPT');
  const whole = foundResponse(read(question(name)), found(100), 'tcp');
  assert.equal(records(whole).length, 100);
  assert.equal(decode(whole).flag_tc, false);
});

test('clients that take the first address are spread over all', () => {
  const query = read(question('a'));
  const first = () => {
    const [record] = decode(foundResponse(query, found(3), 'udp')).answers ?? [];
    return record?.type === 'A' ? record.data : '';
  };
  const firsts = new Set(Array.from({ length: 200 }, first));
  assert.deepEqual([...firsts].sort(), ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
});

test('an answer of another server that is too large for the client is said to be cut off', () => {
  const query = read(question('a'));
  const large = foundResponse(query, found(100), 'tcp');
  assert.deepEqual(fitted(query, large, 'tcp'), large);
  const short = fitted(query, large, 'udp');
  assert.deepEqual([decode(short).flag_tc, short.length < 512], [true, true]);
});

test('errors repeat the question', () => {
  const { questions, flag_aa: known } = decode(errorResponse(read(question('a.b')), 2));
  assert.deepEqual([questions?.[0]?.name, known], ['a.b', false]);
});

test('what is no question is refused, and an answer is not answered', () => {
  const refused = (change: (message: Buffer) => Buffer): number | undefined => {
    const query = readQuery(change(question('a.b')));
    assert.ok(!isQuery(query));
    return query.rcode;
  };
  const withShort = (at: number, value: number) => (message: Buffer) => {
    message.writeUInt16BE(value, at);
    return message;
  };
  assert.equal(
    refused(() => Buffer.alloc(11)),
    undefined,
  );
  assert.equal(refused(withShort(2, 0x8100)), undefined);
  assert.equal(refused(withShort(2, 0x2800)), 4);
  for (const count of [0, 2, 65_535]) assert.equal(refused(withShort(4, count)), 1);
  // More records than there are.
  assert.equal(refused(withShort(10, 1)), 1);
  // Pointers: to itself, to the header, behind the end.
  for (const pointer of [0xc00c, 0xc000, 0xffff]) assert.equal(refused(withShort(12, pointer)), 1);
  assert.equal(
    refused((message) => message.subarray(0, -1)),
    1,
  );
  assert.equal(
    refused((message) => Buffer.concat([message, Buffer.alloc(5000)])),
    1,
  );
  // A name of 256 bytes.
  const label = Buffer.concat([Buffer.from([63]), Buffer.alloc(63, 'a')]);
  const long = Buffer.concat([label, label, label, label, Buffer.alloc(5)]);
  assert.equal(
    refused((message) => Buffer.concat([message.subarray(0, 12), long])),
    1,
  );
});

test('a label with a dot or other bytes in it is no name of the mesh', () => {
  const withLabel = (label: Buffer) => {
    const message = question('x');
    const name = Buffer.concat([Buffer.from([label.length]), label, Buffer.alloc(1)]);
    return read(Buffer.concat([message.subarray(0, 12), name, message.subarray(-4)]));
  };
  for (const label of [Buffer.from('a.b'), Buffer.from([0xff, 0x00]), Buffer.from('a b')])
    assert.equal(withLabel(label).name, undefined);
  assert.equal(withLabel(Buffer.from('a_b')).name, 'a_b');
});

test('no bytes break the reader, and what it takes can be answered', () => {
  const random = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));
  const changed = fc
    .tuple(
      fc.constantFrom(question('orders.mesh.internal'), question('a', 'AAAA', 4096)),
      fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 4 }),
      fc.nat(80),
    )
    .map(([message, changes, cut]) => {
      const copy = Buffer.from(message);
      for (const [at, value] of changes) if (at < copy.length) copy.writeUInt8(value, at);
      return copy.subarray(0, copy.length - (cut < 20 ? cut : 0));
    });
  fc.assert(
    fc.property(fc.oneof(random, changed), (message) => {
      const query = readQuery(message);
      if (!isQuery(query)) return;
      decode(errorResponse(query, 2));
      if (query.type !== 1 && query.type !== 28) return;
      const response = foundResponse(query, found(3, 3, 'other.name'), 'udp');
      assert.equal(response.readUInt16BE(0), message.readUInt16BE(0));
      assert.ok(response.length <= Math.max(512, query.payloadSize ?? 0));
      decode(response);
    }),
    { numRuns: runs(2000) },
  );
});
