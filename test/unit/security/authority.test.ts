import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { type AuthorityOptions, CertificateAuthority, type SigningError } from '../../../src/security/authority.ts';
import { readRequest } from '../../../src/security/csr.ts';
import { type FileProblem, istioLayout, tlsLayout } from '../../../src/security/plugged-in.ts';
import { plugIn, SigningAuthority } from '../../support/authorities.ts';
import { certificateRequest, disbelief } from '../../support/certificates.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { WorkDir } from '../../support/work-dir.ts';

const DAY = 24 * 3_600_000;
const NAMES = [{ uri: 'spiffe://cluster.local/ns/shop/sa/client' }];
const REQUEST = readRequest(certificateRequest().csr);
const OWN = 'var/lib/istio/ca';

interface Made extends Disposable {
  readonly dir: WorkDir;
  readonly clock: FakeClock;
  readonly authority: CertificateAuthority;
  readonly changes: () => number;
  /** Another one that finds what this one has left. */
  again(): CertificateAuthority;
}

function made(
  more: Partial<AuthorityOptions> = {},
  prepare: (dir: WorkDir) => void = () => {},
  rsaBits?: number,
): Made {
  const dir = new WorkDir('authority');
  prepare(dir);
  const clock = new FakeClock(Date.now());
  let changes = 0;
  const create = (): CertificateAuthority => {
    const authority = new CertificateAuthority({
      read: (path) => (existsSync(dir.at(path)) ? dir.read(path) : undefined),
      places: [tlsLayout('etc/cacerts'), istioLayout('etc/cacerts')],
      generated: {
        root: dir.path,
        directory: OWN,
        organization: () => 'cluster.local',
        ttlMs: 100 * DAY,
        gracePercent: 20,
        rsaBits,
      },
      defaultTtlMs: DAY,
      maxTtlMs: 90 * DAY,
      checkMs: 3_600_000,
      clock,
      changed: () => changes++,
      ...more,
    });
    authority.start();
    return authority;
  };
  const authority = create();
  return {
    dir,
    clock,
    authority,
    changes: () => changes,
    again: create,
    [Symbol.dispose]() {
      authority.close();
      dir[Symbol.dispose]();
    },
  };
}

function leaf(authority: CertificateAuthority, ttlMs = 0): readonly string[] {
  return authority.issue(REQUEST, { names: NAMES, ttlMs });
}

function commonName(pem: string | undefined): string {
  return /CN=(\S+)/.exec(new X509Certificate(pem ?? '').issuer)?.[1] ?? '';
}

test('a root of its own is kept where nobody else can read it, and found again', () => {
  using one = made();
  const { dir, authority } = one;
  const mode = (path: string) => (statSync(dir.at(path)).mode & 0o777).toString(8);
  assert.equal(mode(OWN), '700');
  assert.deepEqual(
    readdirSync(dir.at(OWN)).map((name) => [name, mode(`${OWN}/${name}`)]),
    ['ca-cert.pem', 'ca-key.pem', 'root-cert.pem'].map((name) => [name, '600']),
  );
  const chain = leaf(authority);
  assert.equal(chain.length, 2);
  assert.equal(disbelief(chain), undefined);
  const again = one.again();
  assert.equal(again.issuer?.roots, authority.issuer?.roots);
  again.close();
});

test('an RSA key is made where it is asked for, without anybody waiting for it', async () => {
  const told = Promise.withResolvers<void>();
  using one = made({ changed: () => told.resolve() }, undefined, 2048);
  assert.throws(
    () => leaf(one.authority),
    (error: SigningError) => error.failure === 'CA_NOT_READY',
  );
  await told.promise;
  assert.equal(one.authority.issuer?.key.asymmetricKeyType, 'rsa');
  assert.equal(disbelief(leaf(one.authority)), undefined);
});

test('its own root is renewed before it ends, and what it signed before is still right', () => {
  using one = made();
  const { authority, clock, dir } = one;
  const old = leaf(authority, 90 * DAY);
  clock.advance(79 * DAY);
  assert.equal(authority.issuer?.roots, old.at(-1));
  clock.advance(2 * DAY);
  const roots = authority.issuer?.roots ?? '';
  assert.equal(roots.match(/BEGIN/g)?.length, 2);
  assert.ok(roots.endsWith(old.at(-1) ?? '-'));
  assert.equal(dir.read(`${OWN}/root-cert.pem`), roots);
  const now = leaf(authority, 90 * DAY);
  const at = clock.date();
  assert.equal(disbelief([old[0] ?? '', roots], { at }), undefined);
  const oldRoot = old.at(-1) ?? '';
  assert.equal(disbelief([now[0] ?? '', oldRoot], { at }), undefined, 'the new one is right for who has the old root');
  assert.ok(new X509Certificate(now[0] ?? '').validToDate > new X509Certificate(old[0] ?? '').validToDate);
  clock.advance(30 * DAY);
  assert.equal(authority.issuer?.roots.match(/BEGIN/g)?.length, 1, 'the old one goes when it has ended');
});

test('a key that a process left alone gets its root; a key that is gone or another is never replaced', () => {
  using one = made();
  const { dir, authority } = one;
  const { publicKey } = authority.issuer?.certificate ?? {};
  dir.remove(`${OWN}/ca-cert.pem`);
  const healed = one.again();
  assert.equal(healed.problem, undefined);
  assert.ok(publicKey?.equals(healed.issuer?.certificate.publicKey ?? publicKey));
  healed.close();
  dir.write(`${OWN}/ca-key.pem`, certificateRequest().key);
  const other = one.again();
  assert.deepEqual([other.issuer, other.problem?.file], [undefined, `${OWN}/ca-key.pem`]);
  other.close();
  dir.remove(`${OWN}/ca-key.pem`);
  const gone = one.again();
  assert.match(gone.problem?.message ?? '', /the key of the own root is gone/);
  gone.close();
});

test('no certificate outlives what signs it, nor is longer than allowed', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const short = root.intermediate('short', { days: 2 });
  using one = made({}, (dir) => plugIn(dir, short.files()));
  const { authority } = one;
  const end = (pem: string | undefined) => new X509Certificate(pem ?? '').validToDate.getTime();
  const chain = leaf(authority, 10 * DAY);
  assert.equal(end(chain[0]), end(short.files().certificate));
  assert.equal(disbelief(chain), undefined);
  assert.equal(authority.issuer?.chainUntil, end(short.files().certificate));
  assert.throws(
    () => leaf(authority, 91 * DAY),
    (error: SigningError) => error.failure === 'TTL_ERROR',
  );
  one.clock.advance(3 * DAY);
  assert.throws(
    () => leaf(authority),
    (error: SigningError) => error.failure === 'CERT_GEN_ERROR',
  );
});

test('another authority of the same root is taken, whichever file comes first, and never half of it', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const [first, second] = ['int-1', 'int-2'].map((name) => root.intermediate(name, { days: 20 }));
  using one = made({}, (dir) => plugIn(dir, (first as SigningAuthority).files()));
  const { authority, dir, clock } = one;
  assert.equal(commonName(leaf(authority)[0]), 'int-1');
  const { key, certificate, chain } = (second as SigningAuthority).files();
  const steps = { 'ca-cert.pem': certificate, 'cert-chain.pem': chain, 'ca-key.pem': key };
  for (const [name, text] of Object.entries(steps)) {
    assert.equal(commonName(leaf(authority)[0]), 'int-1', name);
    dir.write(`etc/cacerts/${name}`, text);
    authority.look();
    assert.equal(authority.problem, undefined, name);
  }
  const now = leaf(authority);
  assert.equal(commonName(now[0]), 'int-2');
  assert.equal(disbelief(now), undefined);
  clock.advance(5000);
  assert.equal(authority.problem, undefined);
});

test('the chain that is answered leads from the leaf to the root, whatever else stands in the file', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const upper = root.intermediate('upper', { days: 20 });
  const lower = upper.intermediate('lower', { days: 10 });
  using stranger = new SigningAuthority('stranger', { days: 30 });
  const files = lower.files();
  using one = made({}, (dir) =>
    plugIn(dir, { ...files, chain: stranger.certificate + root.certificate + upper.certificate }),
  );
  const chain = leaf(one.authority);
  assert.deepEqual(
    chain.slice(1, -1).map((pem) => new X509Certificate(pem).subject),
    ['CN=lower', 'CN=upper'],
  );
  assert.equal(disbelief(chain), undefined);
});

test('files that do not fit are named with what is wrong, and the authority from before stays', () => {
  using root = new SigningAuthority('root', { days: 30 });
  using rogue = new SigningAuthority('rogue', { days: 30 });
  const good = root.intermediate('good', { days: 20 }).files();
  const foreign = rogue.intermediate('foreign', { days: 20 }).files();
  const cases: Readonly<Record<string, readonly [Partial<typeof good>, string, RegExp]>> = {
    mismatch: [
      { key: foreign.key },
      'ca-key.pem',
      /the key is not the one of the certificate in etc\/cacerts\/ca-cert\.pem/,
    ],
    foreign: [
      { key: foreign.key, certificate: foreign.certificate, chain: foreign.chain },
      'ca-cert.pem',
      /no root in .* has signed it/,
    ],
    'other roots': [foreign, 'root-cert.pem', /put the new root beside the old one first/],
    'no authority': [root.leaf('server'), 'ca-cert.pem', /no certificate of an authority/],
    'too deep': [
      root.intermediate('narrow', { days: 20, pathLength: 0 }).intermediate('low', { days: 9 }).files(),
      'ca-cert.pem',
      /allows 0 authorities below it/,
    ],
    'no key': [{ key: 'nonsense' }, 'ca-key.pem', /no private key in PEM form/],
    'no certificate': [{ certificate: 'nonsense' }, 'ca-cert.pem', /no certificate in PEM form/],
    expired: [root.intermediate('past', { days: -1 }).files(), 'ca-cert.pem', /expired on/],
  };
  for (const [name, [part, file, message]] of Object.entries(cases)) {
    using one = made({}, (dir) => plugIn(dir, good));
    const { authority, dir, clock } = one;
    plugIn(dir, { ...good, ...part });
    authority.look();
    const early = authority.problem;
    assert.equal(early, undefined, `${name}: files may be in the middle of being replaced`);
    clock.advance(2100);
    const problem = (authority as { readonly problem: FileProblem | undefined }).problem;
    assert.equal(problem?.file, `etc/cacerts/${file}`, name);
    assert.match(problem?.message ?? '', message, name);
    assert.match(problem?.message ?? '', /; the authority from before stays in force$/, name);
    assert.equal(commonName(leaf(authority)[0]), 'good', name);
    plugIn(dir, good);
    authority.look();
    assert.equal(authority.problem, undefined, name);
  }
});

test('where what is plugged in is wrong at the start, nothing signs until it is right, and no root is made', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const good = root.intermediate('good', { days: 20 }).files();
  using one = made({}, (dir) => plugIn(dir, { ...good, key: certificateRequest().key }));
  const { authority, dir } = one;
  assert.equal(authority.issuer, undefined);
  assert.equal(authority.problem?.file, 'etc/cacerts/ca-key.pem');
  assert.equal(existsSync(dir.at(OWN)), false);
  dir.write('etc/cacerts/ca-key.pem', good.key);
  authority.look();
  assert.equal(commonName(leaf(authority)[0]), 'good');
});

test('roots change step by step: the new one beside the old one, then alone', () => {
  using old = new SigningAuthority('old', { days: 30 });
  using next = new SigningAuthority('next', { days: 30 });
  const before = old.intermediate('before', { days: 20 }).files();
  const after = next.intermediate('after', { days: 20 }).files();
  using one = made({}, (dir) => plugIn(dir, before));
  const { authority, dir } = one;
  const steps = [
    { ...before, roots: old.certificate + next.certificate },
    { ...after, roots: old.certificate + next.certificate },
    after,
  ];
  for (const [i, files] of steps.entries()) {
    plugIn(dir, files);
    authority.look();
    assert.equal(authority.issuer?.roots, files.roots, String(i));
    assert.equal(commonName(leaf(authority)[0]), i === 0 ? 'before' : 'after');
    assert.equal(disbelief(leaf(authority)), undefined);
  }
});

test('where nobody needs a root at the start, it is made with the first certificate', () => {
  using one = made({ isLazy: true });
  assert.equal(existsSync(one.dir.at(OWN)), false);
  one.authority.look();
  assert.equal(existsSync(one.dir.at(OWN)), false);
  const chain = leaf(one.authority);
  assert.equal(disbelief(chain), undefined);
  assert.ok(one.changes() > 0);
  const again = one.again();
  assert.equal(again.issuer, undefined);
  assert.equal(leaf(again).at(-1), chain.at(-1));
  again.close();
});

test('an authority that is plugged in takes the place of the own root, which stays believed as long as it is there', () => {
  using root = new SigningAuthority('root', { days: 30 });
  using one = made();
  const { authority, dir } = one;
  const own = leaf(authority);
  plugIn(dir, root.intermediate('plugged', { days: 20 }).files());
  authority.look();
  const now = leaf(authority);
  assert.equal(commonName(now[0]), 'plugged');
  assert.equal(now.at(-1), root.certificate + own.at(-1));
  assert.equal(disbelief(now), undefined);
  assert.equal(disbelief([own[0] ?? '', now.at(-1) ?? '']), undefined, 'what was signed before is right');
  const again = one.again();
  assert.equal(again.issuer?.roots, now.at(-1));
  again.close();
  dir.remove(OWN);
  authority.look();
  assert.equal(authority.issuer?.roots, root.certificate);
});

test('the layout of a Secret of type kubernetes.io/tls is an authority, too', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const { certificate, key, chain, roots } = root.intermediate('manager', { days: 20 }).files();
  using one = made({}, (dir) => {
    dir.write('etc/cacerts/tls.crt', certificate + chain);
    dir.write('etc/cacerts/tls.key', key);
    dir.write('etc/cacerts/ca.crt', roots);
  });
  assert.equal(commonName(leaf(one.authority)[0]), 'manager');
  assert.equal(disbelief(leaf(one.authority)), undefined);
});

test('nothing secret is in what is said of files', () => {
  using root = new SigningAuthority('root', { days: 30 });
  const good = root.intermediate('good', { days: 20 }).files();
  using one = made({}, (dir) => plugIn(dir, { ...good, certificate: good.key }));
  const lines = readFileSync(one.dir.at('etc/cacerts/ca-key.pem'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-'));
  for (const line of lines) assert.ok(!one.authority.problem?.message.includes(line));
});
