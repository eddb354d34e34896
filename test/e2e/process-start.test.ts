import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { TestAuthority } from '../support/certificates.ts';
import { istiodEnd } from '../support/istiod-end.ts';
import { WorkDir } from '../support/work-dir.ts';

const OFF = 'grpc: "", grpcTls: "", http: "", monitoring: ""';

interface Case {
  readonly istiod?: string;
  readonly prepare?: (dir: WorkDir) => void;
  readonly code: number;
  /** Lines that it prints, in this order, and no others. */
  readonly says: readonly (string | RegExp)[];
}

const CASES: Readonly<Record<string, Case>> = {
  'an option that does not exist, with the one that was meant': {
    istiod: 'listen:\n  grcp: 127.0.0.1:15010\n',
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:2:3: error VM0001: listen.grcp: "grcp" is not a field of Listen; did you mean "grpc"?',
    ],
  },
  'every value that can not be taken, each at its place': {
    istiod: 'listen: {grpc: 15010}\nlog: {level: loud}\nsettle: soon\n',
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:1:16: error IST0106: listen.grpc: must be a text, not the number 15010: put it in quotes, as "15010"',
      'etc/istio/istiod.yaml:2:14: error IST0106: log.level: "loud" is not one of debug, info, warn, error',
      /^etc\/istio\/istiod\.yaml:3:9: error IST0106: settle: "soon" is not a duration/,
    ],
  },
  'addresses that are none, with what was meant': {
    istiod: 'listen:\n  grpc: "15010"\n  http: 127.0.0.1\n  monitoring: 127.0.0.1:99999\n',
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:2:9: error IST0106: listen.grpc: "15010" is no address: write 127.0.0.1:15010, or :15010 for all addresses',
      'etc/istio/istiod.yaml:3:9: error IST0106: listen.http: "127.0.0.1" is no address: write a port behind it, as 127.0.0.1:15010',
      'etc/istio/istiod.yaml:4:15: error IST0106: listen.monitoring: "127.0.0.1:99999" is no address: a port is at most 65535, not 99999',
    ],
  },
  'an address that is given twice': {
    istiod: 'listen:\n  http: 127.0.0.1:15090\n  monitoring: 127.0.0.1:15090\n',
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:3:15: error IST0106: listen.monitoring: 127.0.0.1:15090 is the address of listen.http, too: write another port',
    ],
  },
  'what this version does not do': {
    istiod: 'mode: minion\nregistry: {store: etcd}\n',
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:1:7: error VM0401: mode: minion is not in this version: write full or ca',
      'etc/istio/istiod.yaml:2:19: error VM0401: registry.store: etcd is not in this version: write embedded',
    ],
  },
  'a file that is no YAML': {
    istiod: 'listen:\n\tgrpc: ""\n',
    code: 78,
    says: ['istiod: etc/istio/istiod.yaml:2:1: error VM0103: a line is indented by a tab: use spaces'],
  },
  'options that can not be read': {
    prepare: (dir) => mkdirSync(dir.at('etc/istio/istiod.yaml'), { recursive: true }),
    code: 78,
    says: [
      'istiod: etc/istio/istiod.yaml:1:1: error VM0101: it can not be read: it is a directory: put a file in its place',
    ],
  },
  'a directory of configuration that is none': {
    istiod: `listen: {${OFF}}\n`,
    prepare: (dir) => dir.write('etc/istio/conf', ''),
    code: 66,
    says: ['istiod: etc/istio/conf can not be read: it is no directory: put a directory in its place'],
  },
  'a directory of configuration that leads in a circle': {
    istiod: `listen: {${OFF}}\n`,
    prepare: (dir) => symlinkSync('conf', dir.at('etc/istio/conf')),
    code: 66,
    says: ['istiod: etc/istio/conf can not be read: symbolic links lead in a circle: make them end at a file'],
  },
  'all addresses that this machine can not listen on': {
    istiod: 'listen:\n  grpc: 192.0.2.1:15010\n  grpcTls: ""\n  http: nobody.invalid:8080\n  monitoring: ""\n',
    code: 69,
    says: [
      /^istiod: etc\/istio\/istiod\.yaml:4:9: listen\.http: nobody\.invalid:8080 has a name that nobody knows here: write an IP address/,
      'etc/istio/istiod.yaml:2:9: listen.grpc: 192.0.2.1:15010 is no address of this machine: write one that is, or :15010 for all ("" switches it off)',
    ],
  },
  "a socket's path that is too long": {
    istiod: `listen: {${OFF}, grpcUnix: /tmp/${'x'.repeat(120)}}\n`,
    code: 69,
    says: [
      /^istiod: etc\/istio\/istiod\.yaml:1:\d+: listen\.grpcUnix: \S+ has 125 bytes, and a socket's path may have 107/,
    ],
  },
  'a file in the place of a socket, which it leaves there': {
    istiod: `listen: {${OFF}, grpcUnix: etc/istio/istiod.yaml}\n`,
    code: 69,
    says: [
      /^istiod: etc\/istio\/istiod\.yaml:1:\d+: listen\.grpcUnix: etc\/istio\/istiod\.yaml is there and no socket: write another path/,
    ],
  },
  'a key without its certificate': {
    istiod: 'listen: {grpc: "", grpcTls: "127.0.0.1:0", http: "", monitoring: ""}\n',
    prepare: (dir) => dir.write('etc/certs/key.pem', 'x'),
    code: 66,
    says: [
      'istiod: etc/certs/cert-chain.pem is missing beside etc/certs/key.pem: put both there, or none to have one made',
    ],
  },
  'the key of another certificate': {
    istiod: 'listen: {grpc: "", grpcTls: "127.0.0.1:0", http: "", monitoring: ""}\n',
    prepare: (dir) => {
      const authority = new TestAuthority(dir.path);
      dir.write('etc/certs/cert-chain.pem', authority.issue('DNS:a').chain);
      dir.write('etc/certs/key.pem', authority.issue('DNS:a').key);
    },
    code: 78,
    says: [
      'istiod: etc/certs/cert-chain.pem and etc/certs/key.pem can not be used: the key is not the one of the certificate',
    ],
  },
};

for (const [name, { istiod, prepare, code, says }] of Object.entries(CASES)) {
  test(`istiod does not start, and names ${name}`, async () => {
    using dir = new WorkDir('start');
    mkdirSync(dir.at('etc/istio'), { recursive: true });
    if (istiod !== undefined) dir.write('etc/istio/istiod.yaml', istiod);
    prepare?.(dir);
    const ended = await istiodEnd(dir.path);
    const lines = ended.output.trimEnd().split('\n');
    for (const [i, line] of says.entries()) {
      if (typeof line === 'string') assert.equal(lines[i], line);
      else assert.match(lines[i] ?? '', line);
    }
    assert.equal(lines.length, says.length, ended.output);
    assert.equal(ended.code, code);
  });
}

async function occupied(t: TestContext): Promise<number> {
  const server: Server = createServer();
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('istiod does not start on ports that are taken, and names all of them and who has them', async (t) => {
  using dir = new WorkDir('start');
  const ports = [await occupied(t), await occupied(t)];
  dir.write(
    'etc/istio/istiod.yaml',
    `listen:\n  grpc: 127.0.0.1:${ports[0]}\n  grpcTls: ""\n  http: 127.0.0.1:${ports[1]}\n  monitoring: ""\n`,
  );
  const { code, output } = await istiodEnd(dir.path);
  const holder = `is in use by process ${process.pid} \\(.+\\): write another port \\(0 picks a free one\\) \\(.. switches it off\\)`;
  assert.match(
    output,
    new RegExp(`^istiod: etc/istio/istiod.yaml:4:9: listen.http: 127.0.0.1:${ports[1]} ${holder}$`, 'm'),
  );
  assert.match(output, new RegExp(`^etc/istio/istiod.yaml:2:9: listen.grpc: 127.0.0.1:${ports[0]} ${holder}$`, 'm'));
  assert.equal(code, 69);
});

for (const args of [['--help-me'], ['serve'], ['check', 'a', 'b']]) {
  test(`istiod ${args.join(' ')} is answered with the commands that there are`, async () => {
    using dir = new WorkDir('start');
    const { code, output } = await istiodEnd(dir.path, args);
    assert.match(output, /^istiod: .+\nusage: istiod /);
    assert.equal(code, 64);
  });
}
