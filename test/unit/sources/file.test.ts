import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { CONF, ConfigTree, entry } from './config-tree.ts';

function findings(tree: ConfigTree): string {
  return tree.store.allDiagnostics().map(formatDiagnostic).join('\n');
}

test('the whole tree is read: a directory is a namespace, a file beside them is in the root namespace', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'), entry('b'));
  tree.write('shop/deep/er/c.yml', entry('c'));
  tree.write('pay/d.json', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'pay' } }));
  tree.write('e.yaml', entry('e'));
  tree.write('shop/README.md', 'no configuration');
  tree.write('shop/.hidden.yaml', entry('hidden'));
  tree.write('.git/x.yaml', entry('hidden'));
  await tree.start();
  assert.deepEqual(tree.ports(), { 'shop/a': 80, 'shop/b': 80, 'shop/c': 80, 'istio-system/e': 80 });
  assert.ok(tree.store.get('/Namespace//pay'));
  assert.equal(tree.store.isSynced, true);
  assert.equal(findings(tree), '');
});

test('a rename over a file, an added file, an unlinked file and a moved file are followed', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start();
  tree.replace('shop/a.yaml', entry('a', 81));
  await tree.untilPorts({ 'shop/a': 81 });
  tree.replace('shop/b.yaml', entry('b'));
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 80 });
  unlinkSync(tree.conf('shop/a.yaml'));
  await tree.untilPorts({ 'shop/b': 80 });
  tree.takeChanges();
  renameSync(tree.conf('shop/b.yaml'), tree.conf('shop/z.yaml'));
  await tree.until(
    () => tree.store.get('networking.istio.io/ServiceEntry/shop/b')?.location.file.endsWith('z.yaml') === true,
  );
  assert.deepEqual(tree.takeChanges(), []);
});

test('a file that is written in place is followed, in one piece', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start({ settle: 30 });
  tree.takeChanges();
  tree.write('shop/a.yaml', entry('a', 81));
  await tree.untilPorts({ 'shop/a': 81 });
  tree.write('shop/new.yaml', entry('b'), entry('c'));
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 80, 'shop/c': 80 });
  tree.write('shop/new.yaml', entry('b'));
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 80 });
  tree.write('shop/new.yaml', '');
  await tree.untilPorts({ 'shop/a': 81 });
  assert.deepEqual(tree.takeChanges().sort(), ['+shop/b', '+shop/c', '-shop/b', '-shop/c', '~shop/a']);
});

test('a file that grows loses nothing, and its last document is not taken before it is still', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'), entry('b'), entry('c'));
  await tree.start({ settle: 400 });
  tree.takeChanges();
  const whole = [entry('a', 81), entry('b', 82), entry('c', 83)].join('---\n');
  const half = whole.indexOf('82');
  writeFileSync(tree.conf('shop/a.yaml'), whole.slice(0, half));
  await tree.until(() => tree.ports()['shop/a'] === 81);
  assert.deepEqual(tree.ports(), { 'shop/a': 81, 'shop/b': 80, 'shop/c': 80 });
  appendFileSync(tree.conf('shop/a.yaml'), whole.slice(half));
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 82, 'shop/c': 83 });
  assert.deepEqual(tree.takeChanges().sort(), ['~shop/a', '~shop/b', '~shop/c']);
});

test('what is appended in many small steps is one change', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start({ settle: 300 });
  const before = tree.batches;
  for (let i = 0; i < 20; i++) {
    appendFileSync(tree.conf('shop/a.yaml'), `  - {number: ${100 + i}, name: p${i}}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await tree.until(() => tree.takeChanges().includes('~shop/a'));
  assert.ok(tree.batches - before <= 2, `${tree.batches - before} batches`);
});

test("an editor's save takes nothing away", async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'), entry('b'));
  await tree.start({ settle: 300, gather: 300 });
  tree.takeChanges();
  const path = tree.conf('shop/a.yaml');
  // vim: the old file becomes the backup, a new one is written, the backup goes.
  renameSync(path, `${path}~`);
  writeFileSync(path, [entry('a', 81), entry('b')].join('---\n'));
  unlinkSync(`${path}~`);
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 80 });
  // git: the old file is unlinked, a new one is written.
  unlinkSync(path);
  await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync(path, [entry('a', 82), entry('b')].join('---\n'));
  await tree.untilPorts({ 'shop/a': 82, 'shop/b': 80 });
  assert.deepEqual(tree.takeChanges(), ['~shop/a', '~shop/a']);
});

test('a file that is split into others, some written in place, changes nothing', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('edge/all.yaml', entry('a'), entry('b'), entry('c'));
  await tree.start({ settle: 300 });
  tree.takeChanges();
  tree.write('edge/a.yaml', entry('a'));
  tree.replace('edge/z/b.yaml', entry('b'));
  tree.write('edge/c.yaml', entry('c'));
  unlinkSync(tree.conf('edge/all.yaml'));
  const fileOf = (name: string): string =>
    tree.store.get(`networking.istio.io/ServiceEntry/edge/${name}`)?.location.file ?? '';
  await tree.until(() => ['a', 'b', 'c'].every((name) => fileOf(name) !== '' && !fileOf(name).endsWith('all.yaml')));
  assert.deepEqual(tree.takeChanges(), []);
  await tree.until(() => findings(tree) === '');
});

test('objects that two files exchange while both are written in place are never gone', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/1.yaml', entry('a'), entry('c'));
  tree.write('shop/2.yaml', entry('b'), entry('d'));
  await tree.start({ settle: 100 });
  tree.takeChanges();
  tree.write('shop/1.yaml', entry('b', 81), entry('c'));
  tree.write('shop/2.yaml', entry('a', 81), entry('d'));
  await tree.untilPorts({ 'shop/a': 81, 'shop/b': 81, 'shop/c': 80, 'shop/d': 80 });
  await tree.until(() => findings(tree) === '');
  assert.deepEqual(tree.takeChanges().sort(), ['~shop/a', '~shop/b']);
});

test('directories come, move and go with what is in them', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.conf(''), { recursive: true });
  await tree.start({ settle: 50 });
  mkdirSync(tree.path('elsewhere/sub'), { recursive: true });
  writeFileSync(tree.path('elsewhere/sub/a.yaml'), entry('a'));
  renameSync(tree.path('elsewhere'), tree.conf('shop'));
  await tree.untilPorts({ 'shop/a': 80 });
  tree.replace('shop/sub/a.yaml', entry('a', 81));
  await tree.untilPorts({ 'shop/a': 81 });
  renameSync(tree.conf('shop'), tree.conf('store'));
  await tree.untilPorts({ 'store/a': 81 });
  tree.replace('store/sub/a.yaml', entry('a', 82));
  await tree.untilPorts({ 'store/a': 82 });
  rmSync(tree.conf('store'), { recursive: true });
  await tree.untilPorts({});
});

test('a root that appears later, goes, and is replaced is followed', async (t) => {
  const tree = new ConfigTree(t);
  await tree.start({ settle: 300 });
  assert.match(tree.logged.join(), /etc\/istio\/conf is not there/);
  assert.equal(tree.store.isSynced, true);
  tree.write('shop/a.yaml', entry('a'));
  await tree.untilPorts({ 'shop/a': 80 });
  tree.takeChanges();
  mkdirSync(tree.path('next/shop'), { recursive: true });
  writeFileSync(tree.path('next/shop/a.yaml'), entry('a', 81));
  renameSync(tree.conf(''), tree.path('old'));
  renameSync(tree.path('next'), tree.conf(''));
  await tree.untilPorts({ 'shop/a': 81 });
  assert.deepEqual(tree.takeChanges(), ['~shop/a']);
  tree.replace('shop/a.yaml', entry('a', 82));
  await tree.untilPorts({ 'shop/a': 82 });
  renameSync(tree.path('etc'), tree.path('etc.old'));
  await tree.untilPorts({});
});

test('a directory that is a link is followed, also when the link is set to another directory', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.conf(''), { recursive: true });
  mkdirSync(tree.path('releases/1/shop'), { recursive: true });
  writeFileSync(tree.path('releases/1/shop/a.yaml'), entry('a'));
  symlinkSync(tree.path('releases/1/shop'), tree.conf('shop'));
  await tree.start();
  assert.deepEqual(tree.ports(), { 'shop/a': 80 });
  tree.takeChanges();
  cpSync(tree.path('releases/1'), tree.path('releases/2'), { recursive: true });
  writeFileSync(tree.path('releases/2/shop/a.yaml'), entry('a', 81));
  symlinkSync(tree.path('releases/2/shop'), tree.path('.link'));
  renameSync(tree.path('.link'), tree.conf('shop'));
  await tree.untilPorts({ 'shop/a': 81 });
  writeFileSync(`${tree.path('releases/2/shop/a.yaml')}~`, entry('a', 82));
  renameSync(`${tree.path('releases/2/shop/a.yaml')}~`, tree.path('releases/2/shop/a.yaml'));
  await tree.untilPorts({ 'shop/a': 82 });
  assert.deepEqual(tree.takeChanges(), ['~shop/a', '~shop/a']);
});

test('a link above the root is followed when it is set to another directory', async (t) => {
  const tree = new ConfigTree(t);
  for (const [release, port] of [1, 2].entries()) {
    mkdirSync(tree.path(`releases/${release}/conf/shop`), { recursive: true });
    writeFileSync(tree.path(`releases/${release}/conf/shop/a.yaml`), entry('a', port));
  }
  mkdirSync(tree.path('etc'));
  symlinkSync('../releases/0', tree.path('etc/istio'));
  await tree.start();
  tree.takeChanges();
  symlinkSync('../releases/1', tree.path('etc/.istio'));
  renameSync(tree.path('etc/.istio'), tree.path('etc/istio'));
  await tree.untilPorts({ 'shop/a': 2 });
  assert.deepEqual(tree.takeChanges(), ['~shop/a']);
});

test('files that are links through a hidden directory change with it, and are read once', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/..v1/a.yaml', entry('a'));
  symlinkSync('..v1', tree.conf('shop/..data'));
  symlinkSync('..data/a.yaml', tree.conf('shop/a.yaml'));
  await tree.start();
  assert.deepEqual([tree.ports(), findings(tree)], [{ 'shop/a': 80 }, '']);
  tree.takeChanges();
  for (let version = 2; version < 5; version++) {
    tree.write(`shop/..v${version}/a.yaml`, entry('a', 80 + version));
    symlinkSync(`..v${version}`, tree.conf('shop/..tmp'));
    renameSync(tree.conf('shop/..tmp'), tree.conf('shop/..data'));
    rmSync(tree.conf(`shop/..v${version - 1}`), { recursive: true });
    await tree.untilPorts({ 'shop/a': 80 + version });
  }
  assert.deepEqual(tree.takeChanges(), ['~shop/a', '~shop/a', '~shop/a']);
  assert.equal(findings(tree), '');
});

test('a file that is a link follows what it leads to, outside of the tree', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.conf('shop'), { recursive: true });
  mkdirSync(tree.path('far/away'), { recursive: true });
  symlinkSync(tree.path('far/away/a.yaml'), tree.conf('shop/a.yaml'));
  await tree.start({ settle: 30 });
  assert.deepEqual(tree.ports(), {});
  writeFileSync(tree.path('far/away/a.yaml'), entry('a'));
  await tree.untilPorts({ 'shop/a': 80 });
  writeFileSync(tree.path('far/away/a.yaml'), entry('a', 81));
  await tree.untilPorts({ 'shop/a': 81 });
  unlinkSync(tree.path('far/away/a.yaml'));
  await tree.untilPorts({});
});

test('a link that leads to nothing is a finding until it leads somewhere, or is gone', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.conf('shop'), { recursive: true });
  symlinkSync(tree.path('a.yaml'), tree.conf('shop/a.yaml'));
  symlinkSync(tree.path('bank'), tree.conf('bank'));
  symlinkSync('nowhere.txt', tree.conf('shop/notes.txt'));
  await tree.start({ settle: 30 });
  assert.match(findings(tree), /shop\/a\.yaml:1:1: error VM0101: it can not be read: the link leads to nothing/);
  assert.match(findings(tree), /conf\/bank:1:1: error VM0101: it can not be read: the link leads to nothing/);
  assert.doesNotMatch(findings(tree), /notes/);
  writeFileSync(tree.path('a.yaml'), entry('a'));
  mkdirSync(tree.path('bank'));
  writeFileSync(tree.path('bank/b.yaml'), entry('b'));
  await tree.untilPorts({ 'shop/a': 80, 'bank/b': 80 });
  await tree.until(() => findings(tree) === '');
  unlinkSync(tree.path('a.yaml'));
  await tree.untilPorts({ 'bank/b': 80 });
  await tree.until(() => /shop\/a\.yaml:1:1: error VM0101: .*leads to nothing/.test(findings(tree)));
  unlinkSync(tree.conf('shop/a.yaml'));
  await tree.until(() => findings(tree) === '');
});

test('links in a circle are passed over with a finding', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  symlinkSync('..', tree.conf('shop/up'));
  symlinkSync('self.yaml', tree.conf('shop/self.yaml'));
  await tree.start();
  assert.deepEqual(tree.ports(), { 'shop/a': 80 });
  assert.match(findings(tree), /shop\/up:1:1: error VM0101: .*leads back/);
  assert.match(findings(tree), /shop\/self.yaml:1:1: error VM0101: .*circle/);
  unlinkSync(tree.conf('shop/up'));
  unlinkSync(tree.conf('shop/self.yaml'));
  await tree.until(() => findings(tree) === '');
});

test('a file that can not be read keeps what it had', {
  skip: process.getuid?.() === 0 ? 'root reads all' : false,
}, async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start({ settle: 30 });
  chmodSync(tree.conf('shop/a.yaml'), 0);
  await tree.until(() => /shop\/a.yaml:1:1: error VM0101: .*permission/.test(findings(tree)));
  chmodSync(tree.conf('shop'), 0);
  await tree.until(() => /shop:1:1: error VM0101: .*permission/.test(findings(tree)));
  assert.deepEqual(tree.ports(), { 'shop/a': 80 });
  chmodSync(tree.conf('shop'), 0o700);
  chmodSync(tree.conf('shop/a.yaml'), 0o600);
  await tree.until(() => findings(tree) === '');
  assert.deepEqual(tree.ports(), { 'shop/a': 80 });
});

test('what is no file is a finding, and does not block', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  mkdirSync(tree.conf('shop/dir.yaml'), { recursive: true });
  tree.write('shop/dir.yaml/b.yaml', entry('b'));
  symlinkSync('/dev/zero', tree.conf('shop/zero.yaml'));
  await tree.start();
  assert.deepEqual(tree.ports(), { 'shop/a': 80, 'shop/b': 80 });
  assert.match(findings(tree), /zero.yaml:1:1: error VM0101: .*no regular file/);
});

test('a root that is no directory is an error at the start', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.path('etc/istio'), { recursive: true });
  writeFileSync(tree.conf(''), 'a file');
  await assert.rejects(tree.start(), /etc\/istio\/conf can not be read: it is no directory/);
});

test('mesh.yaml is read first, and its root namespace moves the files that are in no directory', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('a.yaml', entry('a'));
  tree.write('../mesh.yaml', 'rootNamespace: first\n');
  await tree.start({ settle: 30 });
  assert.deepEqual(tree.takeChanges().sort(), ['+/mesh', '+first/a']);
  tree.replace('../mesh.yaml', 'rootNamespace: second\n');
  await tree.untilPorts({ 'second/a': 80 });
  tree.replace('../mesh.yaml', 'rootNamespace: [\n');
  await tree.until(() => /etc\/istio\/mesh.yaml:\d+:\d+: error/.test(findings(tree)));
  assert.deepEqual(tree.ports(), { 'second/a': 80 });
  unlinkSync(tree.path('etc/istio/mesh.yaml'));
  await tree.untilPorts({ 'istio-system/a': 80 });
  tree.write('../meshNetworks.yaml', 'networks: {}\n');
  await tree.until(() => tree.store.get('/MeshNetworks//meshNetworks') !== undefined);
});

test('a burst of thousands of renames loses nothing', async (t) => {
  const tree = new ConfigTree(t);
  mkdirSync(tree.conf('shop'), { recursive: true });
  await tree.start();
  const expected: Record<string, number> = {};
  for (let i = 0; i < 1500; i++) {
    tree.replace(`shop/s${i}.yaml`, entry(`s${i}`, 1 + i));
    expected[`shop/s${i}`] = 1 + i;
  }
  await tree.untilPorts(expected);
  for (let i = 0; i < 1500; i++) tree.replace(`shop/s${i}.yaml`, entry(`s${i}`, 10_000 + i));
  for (const name of Object.keys(expected)) expected[name] = (expected[name] as number) + 9999;
  await tree.untilPorts(expected);
});

test('a file whose events are lost is found by looking at all', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start({ rescan: 50, settle: 30 });
  // A write to the same inode under another name tells the watch on the directory nothing.
  const { linkSync } = await import('node:fs');
  mkdirSync(tree.path('far'));
  linkSync(tree.conf('shop/a.yaml'), tree.path('far/a.yaml'));
  writeFileSync(tree.path('far/a.yaml'), entry('a', 81));
  await tree.untilPorts({ 'shop/a': 81 });
});

test('an invalid version keeps the last good one in force, with its place relative to the working directory', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/users.yaml', entry('users'));
  await tree.start();
  tree.replace('shop/users.yaml', entry('users', 70000));
  await tree.until(() => findings(tree) !== '');
  assert.deepEqual(tree.ports(), { 'shop/users': 80 });
  assert.match(findings(tree), new RegExp(`^${CONF}/shop/users.yaml:9:14: error IST0106: .*70000`, 'm'));
  tree.replace('shop/users.yaml', entry('users', 81));
  await tree.untilPorts({ 'shop/users': 81 });
  assert.equal(findings(tree), '');
});

test('nothing is taken after the end', async (t) => {
  const tree = new ConfigTree(t);
  tree.write('shop/a.yaml', entry('a'));
  await tree.start();
  tree.stop();
  const { batches } = tree;
  tree.replace('shop/a.yaml', entry('a', 81));
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(tree.batches, batches);
});
