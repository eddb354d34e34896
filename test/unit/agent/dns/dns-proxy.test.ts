import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { encode, streamEncode } from 'dns-packet';
import { DnsProxy, type DnsProxyOptions } from '../../../../src/agent/dns/dns-proxy.ts';
import { isQuery, readQuery } from '../../../../src/agent/dns/query.ts';
import { ResolvConfFile } from '../../../../src/agent/dns/resolv-conf.ts';
import { Upstream } from '../../../../src/agent/dns/upstream.ts';
import { formatAddress, parseAddress } from '../../../../src/base/host-port.ts';
import { dnsQuery, overTcp, overUdp } from '../../../support/dns-client.ts';
import { type Change, DnsStub } from '../../../support/dns-stub.ts';
import { waitFor } from '../../../support/wait.ts';

interface Opened extends AsyncDisposable {
  readonly proxy: DnsProxy;
  readonly at: string;
  readonly warnings: readonly string[];
}

async function opened(upstream: readonly string[], more: Partial<DnsProxyOptions> = {}): Promise<Opened> {
  const warnings: string[] = [];
  const proxy = await DnsProxy.start({
    listen: [{ host: '127.0.0.1', port: 0 }],
    place: { namespace: 'shop', domain: 'svc.cluster.local' },
    upstream: upstream.map((text) => parseAddress(text) ?? assert.fail()),
    resolvConf: new ResolvConfFile([]),
    timeoutMs: 5000,
    parallel: false,
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
    ...more,
  });
  const [address = assert.fail()] = proxy.addresses;
  return { proxy, at: formatAddress(address), warnings, [Symbol.asyncDispose]: () => proxy.close() };
}

async function stub(change?: Change): Promise<DnsStub & AsyncDisposable> {
  const server = change === undefined ? new DnsStub() : new DnsStub(undefined, change);
  await server.start();
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() });
}

const TABLE = { table: { 'orders.mesh.internal': { ips: ['240.10.0.1'], registry: 'External' } } };
const ORDERS = { name: 'orders.mesh.internal', type: 'A' } as const;
const OTHER = { name: 'www.unrelated.test', type: 'A' } as const;
const withRcode =
  (rcode: number): Change =>
  (answer) => {
    answer.writeUInt16BE(0x8180 | rcode, 2);
    return answer;
  };

test('names are answered by the name servers before there is a table, then by the table', async () => {
  await using server = await stub();
  await using dns = await opened([server.address]);
  assert.deepEqual((await dnsQuery(dns.at, ORDERS)).addresses, ['198.51.100.7']);
  dns.proxy.take(TABLE);
  for (const protocol of ['udp', 'tcp'] as const) {
    assert.deepEqual((await dnsQuery(dns.at, { ...ORDERS, protocol })).addresses, ['240.10.0.1']);
    assert.deepEqual((await dnsQuery(dns.at, { ...OTHER, protocol })).addresses, ['198.51.100.7']);
  }
  assert.deepEqual(server.questions, [
    { name: ORDERS.name, protocol: 'udp' },
    { name: OTHER.name, protocol: 'udp' },
    { name: OTHER.name, protocol: 'tcp' },
  ]);
});

test('records other than addresses of a name of the mesh are asked for elsewhere', async () => {
  await using server = await stub();
  await using dns = await opened([server.address]);
  dns.proxy.take(TABLE);
  await dnsQuery(dns.at, { name: ORDERS.name, type: 'MX' });
  assert.equal(server.questions.length, 1);
});

test('a server that fails or is not there is followed by the next one', async () => {
  await using failing = await stub(withRcode(2));
  await using good = await stub();
  await using gone = await stub();
  const nowhere = gone.address;
  await gone.stop();
  await using dns = await opened([nowhere, failing.address, good.address]);
  for (const protocol of ['udp', 'tcp'] as const)
    assert.deepEqual((await dnsQuery(dns.at, { ...OTHER, protocol })).addresses, ['198.51.100.7']);
  assert.equal(failing.questions.length, 2);
});

test('a failure that all have is what the client gets, and that a name is not there is none', async () => {
  await using failing = await stub(withRcode(2));
  await using never = await stub();
  await using dns = await opened([failing.address]);
  assert.equal((await dnsQuery(dns.at, OTHER)).rcode, 'SERVFAIL');
  assert.equal(failing.questions.length, 1);
  await using absent = await stub(withRcode(3));
  await using other = await opened([absent.address, never.address]);
  assert.equal((await dnsQuery(other.at, OTHER)).rcode, 'NXDOMAIN');
  assert.equal(never.questions.length, 0);
});

test('a lost datagram is sent again', async () => {
  let lost = 0;
  await using server = await stub((answer) => (lost++ === 0 ? undefined : answer));
  await using dns = await opened([server.address]);
  assert.deepEqual((await dnsQuery(dns.at, OTHER)).addresses, ['198.51.100.7']);
});

test('servers that are silent are told of once, and the client gets an error in time', async () => {
  await using server = await stub(() => undefined);
  await using dns = await opened([server.address], { timeoutMs: 100 });
  assert.equal((await dnsQuery(dns.at, OTHER)).rcode, 'SERVFAIL');
  assert.equal((await dnsQuery(dns.at, OTHER)).rcode, 'SERVFAIL');
  assert.equal(dns.warnings.length, 1);
  assert.match(dns.warnings[0] ?? '', /no name server of this machine answers/);
});

test('in parallel a silent server delays nobody', async () => {
  await using silent = await stub(() => undefined);
  await using good = await stub();
  await using dns = await opened([silent.address, good.address], { parallel: true });
  assert.deepEqual((await dnsQuery(dns.at, OTHER)).addresses, ['198.51.100.7']);
  assert.equal(silent.questions.length, 1);
});

test('answers to other questions are not believed', async () => {
  await using forged = await stub((answer, protocol) => {
    if (protocol === 'udp') answer.writeUInt8(answer.readUInt8(13) ^ 1, 13);
    else answer.writeUInt16BE(answer.readUInt16BE(0) ^ 1, 0);
    return answer;
  });
  await using dns = await opened([forged.address], { timeoutMs: 100 });
  for (const protocol of ['udp', 'tcp'] as const)
    assert.equal((await dnsQuery(dns.at, { ...OTHER, protocol })).rcode, 'SERVFAIL');
});

test('what is cut off is passed on so, and comes whole over TCP', async () => {
  await using server = await stub((answer, protocol) => {
    if (protocol === 'udp') answer.writeUInt16BE(answer.readUInt16BE(2) | 0x0200, 2);
    return answer;
  });
  await using dns = await opened([server.address]);
  assert.equal((await dnsQuery(dns.at, OTHER)).packet.flag_tc, true);
  assert.equal((await dnsQuery(dns.at, { ...OTHER, protocol: 'tcp' })).packet.flag_tc, false);
});

test('the agent does not ask itself', async () => {
  await using server = await stub();
  await using first = await opened([server.address]);
  const own = parseAddress(first.at) ?? assert.fail();
  await first.proxy.close();
  await using dns = await opened([first.at, server.address], { listen: [own] });
  assert.deepEqual((await dnsQuery(dns.at, OTHER)).addresses, ['198.51.100.7']);
  assert.match(dns.warnings.join(), /is this agent itself/);
});

test('a question that comes back from a name server does not go round', async () => {
  let agent = '';
  let asked = 0;
  let relayed: Promise<void> | undefined;
  const relay = createSocket('udp4');
  relay.on('message', (query, { address, port }) => {
    asked++;
    relayed = overUdp(agent, query).then((response) => relay.send(response, port, address));
  });
  relay.bind(0, '127.0.0.1');
  await once(relay, 'listening');
  await using dns = await opened([`127.0.0.1:${relay.address().port}`], { timeoutMs: 300 });
  agent = dns.at;
  assert.equal((await dnsQuery(dns.at, OTHER)).rcode, 'SERVFAIL');
  assert.equal(asked, 1);
  await relayed;
  relay.close();
});

test('many who ask the same at once are one question', async () => {
  await using server = await stub();
  await using dns = await opened([server.address]);
  const query = encode({ type: 'query', id: 1, questions: [OTHER] });
  const answers = await Promise.all(
    [1, 2, 3, 4].map((id) => {
      query.writeUInt16BE(id, 0);
      return overUdp(dns.at, Buffer.from(query));
    }),
  );
  assert.deepEqual(
    answers.map((answer) => answer.readUInt16BE(0)),
    [1, 2, 3, 4],
  );
  assert.ok(server.questions.length < 4, `${server.questions.length} questions`);
});

test('where questions go out from is known while they are out', async () => {
  const seen: boolean[] = [];
  const server = createSocket('udp4');
  server.on('message', (query, { address: host, port }) => {
    seen.push(upstream.isOwn({ host, port }));
    query.writeUInt16BE(0x8180, 2);
    server.send(query, port, host);
    address = { host, port };
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  let address = { host: '', port: 0 };
  const servers = () => [{ host: '127.0.0.1', port: server.address().port }];
  const log = { info: () => undefined, warn: () => undefined };
  const upstream = new Upstream({ servers, timeoutMs: 5000, parallel: false, most: 1, log });
  const message = encode({ type: 'query', id: 1, questions: [OTHER] });
  const query = readQuery(message);
  assert.ok(isQuery(query));
  const answered = upstream.answer(message, query, 'udp');
  const other = encode({ type: 'query', id: 1, questions: [ORDERS] });
  assert.equal(await upstream.answer(other, query, 'udp'), undefined, 'more than may be out');
  assert.ok(await answered);
  assert.deepEqual(seen, [true]);
  assert.equal(upstream.isOwn(address), false);
  server.close();
});

test('what is no question is answered with an error or not at all, and the next one is answered', async () => {
  await using dns = await opened([]);
  dns.proxy.take(TABLE);
  const bad = encode({ type: 'query', id: 7, questions: [{ name: 'a', type: 'A' }] });
  bad.writeUInt16BE(3, 4);
  assert.equal((await overUdp(dns.at, bad)).readUInt16BE(2) & 0xf, 1);
  const cut = Buffer.concat([Buffer.from([0, 12]), bad.subarray(0, 12)]);
  assert.equal((await overTcp(dns.at, cut)).readUInt16BE(2) & 0xf, 1);
  await assert.rejects(overTcp(dns.at, Buffer.from([0, 3, 1, 2, 3])), /closed/);
  await assert.rejects(overTcp(dns.at, Buffer.from([255, 255, 1])), /closed/);
  assert.deepEqual((await dnsQuery(dns.at, ORDERS)).addresses, ['240.10.0.1']);
});

test('a connection may carry several questions, and be cut anywhere', async () => {
  await using dns = await opened([]);
  dns.proxy.take(TABLE);
  const one = streamEncode({ type: 'query', id: 1, questions: [ORDERS] });
  const two = streamEncode({ type: 'query', id: 2, questions: [{ ...ORDERS, type: 'AAAA' }] });
  const [host = '', port] = dns.at.split(':');
  let received = Buffer.alloc(0);
  const socket = connect({ host, port: Number(port), noDelay: true });
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  const all = Buffer.concat([one, two]);
  for (const byte of all) socket.write(Buffer.from([byte]));
  const first = 2 + one.length - 2 + 16;
  await waitFor(() => received.length === first + two.length, { what: 'two answers' });
  assert.deepEqual([received.readUInt16BE(2), received.readUInt16BE(first + 2)], [1, 2]);
  socket.destroy();
});

test('an address that is taken is an error that says what to do', async () => {
  await using dns = await opened([]);
  const taken = parseAddress(dns.at) ?? assert.fail();
  await assert.rejects(opened([], { listen: [taken] }), /can not listen on 127.0.0.1:\d+: another program does/);
});
