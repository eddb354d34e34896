import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdsClient } from '../support/ads-client.ts';
import { istiodEnd } from '../support/istiod-end.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const entry = (name: string, exportTo = '*', port = 8080): string => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.internal]
  exportTo: ["${exportTo}"]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  endpoints: [{address: 10.0.0.1}]
`;

const rule = (timeout: string): string => `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: a}
spec:
  host: a.internal
  trafficPolicy: {connectionPool: {tcp: {connectTimeout: ${timeout}}}}
`;

const node = (name: string, namespace: string) => nodeJson({ id: `${name}.${namespace}`, namespace });

/** A root with a mesh of one service, and a tree beside it with the same. */
function mesh(): WorkDir {
  const dir = new WorkDir('diff');
  for (const tree of ['etc/istio/conf', 'next']) {
    dir.write(`${tree}/shop/a.yaml`, entry('a'));
    dir.write(`${tree}/shop/rule.yaml`, rule('5s'));
  }
  return dir;
}

test('a directory is compared for the proxies that are connected, place by place', async () => {
  using dir = mesh();
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const clients = [node('one', 'shop'), node('two', 'shop'), node('three', 'bank')].map(
    (each) => new AdsClient({ address: istiod.addresses.grpc, node: each }),
  );
  try {
    for (const client of clients) await client.settled();
    const same = await istiodEnd(dir.path, ['diff', 'next']);
    assert.deepEqual(same, { code: 0, signal: null, output: 'nothing changes for 3 proxies\n' });

    dir.write('next/shop/rule.yaml', rule('7s'));
    dir.write('next/shop/b.yaml', entry('b', '.', 9090));
    const changed = await istiodEnd(dir.path, ['diff', 'next']);
    assert.equal(changed.code, 1);
    assert.match(
      changed.output,
      /^one\.shop, two\.shop \(2 proxies\)\n {2}~ CDS {2}outbound\|8080\|\|a\.internal\n {11}connectTimeout: "5s" -> "7s"\n {2}\+ CDS {2}outbound\|9090\|\|b\.internal\n/,
    );
    assert.match(changed.output, /\n {2}\+ EDS {2}outbound\|9090\|\|b\.internal\n/);
    assert.match(
      changed.output,
      /\n\nthree\.bank\n {2}~ CDS {2}outbound\|8080\|\|a\.internal\n {11}connectTimeout: "5s" -> "7s"\n\n/,
    );
    assert.match(changed.output, /\nsomething changes for 3 of 3 proxies\n$/);
    assert.equal((await istiodEnd(dir.path, ['diff', '.'])).code, 0);
    assert.equal((await istiodEnd(dir.path, ['diff', 'etc'])).code, 0);

    dir.remove('next/shop/b.yaml');
    dir.write('next/shop/rule.yaml', rule('"soon"'));
    const broken = await istiodEnd(dir.path, ['diff', 'next']);
    assert.match(broken.output, /^new error, served as before: next\/shop\/rule\.yaml:6:\d+: error IST0106: /);
    assert.match(broken.output, /\nnothing changes for 3 proxies\n$/);

    dir.write('root/etc/istio/conf/shop/a.yaml', entry('a'));
    dir.write('root/etc/istio/conf/shop/rule.yaml', rule('"soon"'));
    for (const part of ['root', 'root/etc', 'root/etc/istio']) {
      const ofRoot = await istiodEnd(dir.path, ['diff', part]);
      assert.match(
        ofRoot.output,
        /^new error, served as before: root\/etc\/istio\/conf\/shop\/rule\.yaml:6:\d+: error IST0106: [^\n]*\nnothing changes for 3 proxies\n$/,
      );
    }
  } finally {
    for (const client of clients) client.close();
  }
});

test('without an istiod, proxies come from a file, and machines read what changes', async () => {
  using dir = mesh();
  dir.write('next/shop/a.yaml', entry('a', '.'));
  dir.write(
    'proxies.yaml',
    `- node: ${JSON.stringify(node('one', 'shop'))}\n- ${JSON.stringify(node('two', 'bank'))}\n`,
  );
  const env = { DIFF_PROXIES: 'proxies.yaml', DIFF_FORMAT: 'json' };
  const { code, output } = await istiodEnd(dir.path, ['diff', 'next'], env);
  assert.equal(code, 1);
  const { proxies, groups } = JSON.parse(output) as {
    readonly proxies: number;
    readonly groups: readonly { readonly proxies: readonly string[]; readonly changes: readonly object[] }[];
  };
  assert.equal(proxies, 2);
  assert.deepEqual(
    groups.map((group) => group.proxies),
    [['two.bank']],
  );
  const type = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
  assert.deepEqual(groups[0]?.changes[0], {
    typeUrl: type,
    name: 'outbound|8080||a.internal',
    change: 'removed',
    fields: [],
  });
});

test('what can not be compared ends with 2 and what is missing', async () => {
  using dir = mesh();
  using empty = new WorkDir('diff');
  dir.write('none.yaml', '- {}\n');
  const cases: readonly (readonly [WorkDir, readonly string[], Readonly<Record<string, string>>, RegExp])[] = [
    [dir, ['diff'], {}, /^istiod: diff takes one directory, not none\nusage: /],
    [dir, ['diff', 'nowhere'], {}, /^istiod: there is no directory "nowhere"\n$/],
    [
      dir,
      ['diff', 'next'],
      {},
      /^istiod: no istiod runs here whose proxies could be compared: start it, or name a file/,
    ],
    [empty, ['diff', '.'], {}, /^istiod: there is no etc\/istio here to compare with: run istiod diff in/],
    [dir, ['diff', 'next'], { DIFF_PROXIES: 'none.yaml' }, /^istiod: none\.yaml holds no node: write what/],
    [dir, ['diff', 'next'], { DIFF_PROXIES: 'missing' }, /^istiod: missing can not be read: /],
    [dir, ['diff', 'next'], { DIFF_FORMAT: 'xml' }, /^istiod: DIFF_FORMAT is "xml": write text or json\n$/],
  ];
  for (const [root, args, env, words] of cases) {
    const { code, output } = await istiodEnd(root.path, args, env);
    assert.match(output, words);
    assert.equal(code, 2, output);
  }
});

test('the status of a running istiod names proxies, sources and what was refused', async () => {
  using dir = mesh();
  const none = await istiodEnd(dir.path, ['status']);
  assert.match(none.output, /^istiod: no istiod runs here: go to its working directory, or start it/);
  assert.equal(none.code, 69);

  await using istiod = await IstiodProcess.start({ root: dir.path });
  let isWilling = true;
  const judge = ({ typeUrl }: { readonly typeUrl: string }): string | undefined =>
    isWilling || !typeUrl.endsWith('.Cluster') ? undefined : 'outbound|9090||b.internal is not for me';
  using client = new AdsClient({ address: istiod.addresses.grpc, node: node('one', 'shop'), judge });
  await client.settled();
  isWilling = false;
  dir.write('etc/istio/conf/shop/b.yaml', entry('b', '*', 9090));
  dir.write('etc/istio/conf/shop/rule.yaml', rule('"soon"'));
  dir.write('etc/istio/conf/shop/unknown.yaml', 'a: [');
  const { output } = await waitFor(
    async () => {
      const status = await istiodEnd(dir.path, ['status']);
      return ['REFUSED', 'of them not taken', 'unknown'].every((part) => status.output.includes(part))
        ? status
        : undefined;
    },
    { what: 'status with refusals' },
  );
  assert.match(output, new RegExp(`^istiod-vm \\S+ serves: grpc ${istiod.addresses.grpc}, http `));
  assert.match(output, /\nPROXY +CDS +EDS +LDS +RDS +CONNECTED\none\.shop +REFUSED \(\d\) +synced /);
  assert.match(output, /\nfile:etc\/istio\/conf: 3 objects, 1 of them not taken\n/);
  assert.match(output, /\nnot taken: etc\/istio\/conf\/shop\/unknown\.yaml:1:4: error VM0103: this "\[" is not closed/);
  assert.match(
    output,
    /\nnot taken: DestinationRule\/shop\/a, etc\/istio\/conf\/shop\/rule\.yaml:1:1; its last good version is served\n(?: {2}.*\n)* {2}etc\/istio\/conf\/shop\/rule\.yaml:6:\d+: error IST0106: /,
  );
  assert.match(
    output,
    /\nrefused by one\.shop \(CDS\): ServiceEntry\/shop\/b, etc\/istio\/conf\/shop\/b\.yaml:1:1: outbound\|9090\|\|b\.internal is not for me\n/,
  );
  dir.write('etc/istio/mesh.yaml', 'namespaces: [shpo]\n');
  const left = await waitFor(
    async () => {
      const status = await istiodEnd(dir.path, ['status']);
      return status.output.includes('not served') ? status : undefined;
    },
    { what: 'status with objects that are not served' },
  );
  assert.match(
    left.output,
    /\nfile:etc\/istio\/conf: 4 objects, 1 of them not taken, 2 of them in namespaces that are not served\n/,
  );
});
