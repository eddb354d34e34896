import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResolvConf, ResolvConfFile } from '../../../../src/agent/dns/resolv-conf.ts';
import { WorkDir } from '../../../support/work-dir.ts';

test('name servers and search domains are read, and nothing else', () => {
  const text = [
    '# made by hand',
    'domain first.example',
    'nameserver 10.0.0.2 # the near one',
    'nameserver fd00::2',
    'nameserver dns.example',
    'nameserver',
    'search shop.svc.cluster.local example.com.',
    'options ndots:5',
    '; nameserver 10.0.0.9',
  ].join('\n');
  assert.deepEqual(parseResolvConf(text), {
    servers: [
      { host: '10.0.0.2', port: 53 },
      { host: 'fd00::2', port: 53 },
    ],
    search: ['shop.svc.cluster.local', 'example.com'],
  });
  assert.deepEqual(parseResolvConf(''), { servers: [], search: [] });
});

test('a change of the file is seen after a while, and a file that goes away stays in force', () => {
  using dir = new WorkDir();
  let now = 0;
  const file = new ResolvConfFile([dir.at('own'), dir.at('resolv.conf')], () => now);
  const hosts = () => file.content.servers.map(({ host }) => host).join();
  assert.equal(hosts(), '');
  dir.write('resolv.conf', 'nameserver 10.0.0.1\n');
  assert.equal(hosts(), '');
  now += 3000;
  assert.equal(hosts(), '10.0.0.1');
  assert.equal(file.content, file.content);
  dir.write('own', 'nameserver 10.0.0.2\n');
  now += 3000;
  assert.equal(hosts(), '10.0.0.2');
  dir.remove('own');
  dir.remove('resolv.conf');
  now += 3000;
  assert.equal(hosts(), '10.0.0.2');
});
