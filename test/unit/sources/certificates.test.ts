import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import type { FileSecret } from '../../../src/config/file-secrets.ts';
import { ConfigStore } from '../../../src/config/store.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { CERTIFICATE_SOURCE } from '../../../src/sources/certificate-files.ts';
import { Certificates } from '../../../src/sources/certificates.ts';
import { LastGoodFiles } from '../../../src/sources/last-good-files.ts';
import { SYSTEM_CLOCK } from '../../../src/xds/limits.ts';
import { type Certificate, TestAuthority } from '../../support/certificates.ts';
import { waitFor } from '../../support/wait.ts';
import { WorkDir } from '../../support/work-dir.ts';

const DAY = 86_400_000;
const CRT = 'etc/certs/gw/tls.crt';
const KEY = 'etc/certs/gw/tls.key';
const CA = 'etc/certs/gw/ca.crt';
const PAIR: FileSecret = { name: `file-cert:${CRT}~${KEY}`, certificate: CRT, privateKey: KEY };
const ROOTS: FileSecret = { name: `file-root:${CA}`, roots: CA };

/** Files in a directory of their own, and what is served of them. */
class Served {
  readonly dir: WorkDir = new WorkDir('certificates');
  readonly authority: TestAuthority;
  readonly store: ConfigStore;
  /** Days that went by. */
  days = 0;
  readonly #graph = new Graph();
  readonly #certificates: Certificates | undefined;

  constructor(t: TestContext, prepare: (served: Served) => void, named: readonly FileSecret[] = [PAIR], patience = 60) {
    mkdirSync(this.dir.at('ca'));
    mkdirSync(this.dir.at('etc/certs/gw'), { recursive: true });
    this.authority = new TestAuthority(this.dir.at('ca'));
    const lastGood = this.lastGood();
    this.store = new ConfigStore(this.#graph, { rootNamespace: 'istio-system', lastGood });
    prepare(this);
    t.after(async () => {
      this.#certificates?.close();
      await lastGood.flush();
      this.dir[Symbol.dispose]();
    });
    this.#certificates = new Certificates(this.store.source(CERTIFICATE_SOURCE), named, {
      root: this.dir.path,
      log: QUIET,
      clock: { ...SYSTEM_CLOCK, date: () => Date.now() + this.days * DAY },
      patience,
    });
  }

  lastGood(): LastGoodFiles {
    return new LastGoodFiles({ directory: this.dir.at('var/lib/istio/last-good'), log: QUIET, delay: 0 });
  }

  follow(...named: readonly FileSecret[]): void {
    this.#certificates?.follow(named);
  }

  /** The entry of a secret that is in force. */
  entry({ name }: FileSecret, entry: string): string | undefined {
    const spec = this.store.get(`/CertificateFiles//${name}`)?.spec as { data: Record<string, string> } | undefined;
    return spec && Buffer.from(spec.data[entry] ?? '', 'base64').toString();
  }

  get certificate(): string | undefined {
    return this.entry(PAIR, 'tls.crt');
  }

  /** Resolves when this certificate is in force. */
  async becomes({ chain }: Certificate): Promise<void> {
    await waitFor(() => this.certificate === chain, { what: 'new certificate in force' });
  }

  findings(): readonly string[] {
    return this.store.allDiagnostics().map(formatDiagnostic);
  }

  /** Resolves with the findings when there is one so. */
  async finding(words: RegExp): Promise<readonly string[]> {
    await waitFor(() => words.test(this.findings().join('\n')), { what: `finding like ${words}` });
    return this.findings();
  }

  inPlace({ chain, key }: Certificate): void {
    writeFileSync(this.dir.at(KEY), key);
    writeFileSync(this.dir.at(CRT), chain);
  }

  byRename({ chain, key }: Certificate): void {
    this.dir.write(KEY, key);
    this.dir.write(CRT, chain);
  }

  /** As Kubernetes and certbot do: links that lead to a directory which another link is set to. */
  bySwap({ chain, key }: Certificate, version: string): void {
    this.dir.write(`etc/certs/gw/${version}/tls.crt`, chain);
    this.dir.write(`etc/certs/gw/${version}/tls.key`, key);
    symlinkSync(version, this.dir.at('etc/certs/gw/..tmp'));
    renameSync(this.dir.at('etc/certs/gw/..tmp'), this.dir.at('etc/certs/gw/..data'));
  }
}

const QUIET = { info: () => undefined, warn: () => undefined };

test('a pair is read again however it is written: in place, by renames, by swaps of a link', async (t) => {
  let first: Certificate | undefined;
  const served = new Served(t, (s) => {
    first = s.authority.issue('DNS:first.test');
    s.byRename(first);
  });
  assert.equal(served.certificate, first?.chain, 'it is there from the start');
  for (const style of ['inPlace', 'byRename'] as const) {
    for (const _ of [1, 2, 3]) {
      const next = served.authority.issue('DNS:next.test');
      served[style](next);
      await served.becomes(next);
    }
  }
  const linked = served.authority.issue('DNS:linked.test');
  served.bySwap(linked, 'd1');
  for (const name of ['tls.key', 'tls.crt']) {
    symlinkSync(`..data/${name}`, served.dir.at(`etc/certs/gw/.${name}`));
    renameSync(served.dir.at(`etc/certs/gw/.${name}`), served.dir.at(`etc/certs/gw/${name}`));
  }
  await served.becomes(linked);
  for (const version of ['d2', 'd3', 'd4']) {
    const next = served.authority.issue('DNS:next.test');
    served.bySwap(next, version);
    await served.becomes(next);
    rmSync(served.dir.at(`etc/certs/gw/d${Number(version.slice(1)) - 1}`), { recursive: true });
  }
  assert.deepEqual(served.findings(), []);
});

test('what is wrong is a finding at its file, and the last good pair stays until another is right', async (t) => {
  let good: Certificate | undefined;
  const served = new Served(t, (s) => {
    good = s.authority.issue('DNS:good.test');
    s.byRename(good);
  });
  const other = served.authority.issue('DNS:other.test');
  const wrong: readonly [string, string, RegExp][] = [
    [CRT, other.chain, /^etc\/certs\/gw\/tls\.crt:1:1: error VM0501: .*do not belong together/m],
    [CRT, 'garbage', /^etc\/certs\/gw\/tls\.crt:1:1: error VM0501: .*holds no certificate/m],
    [CRT, '', /^etc\/certs\/gw\/tls\.crt:1:1: error VM0501: .*is empty/m],
    [KEY, 'garbage', /^etc\/certs\/gw\/tls\.key:1:1: error VM0501: .*holds no private key/m],
  ];
  for (const [file, text, words] of wrong) {
    writeFileSync(served.dir.at(file), text);
    const findings = await served.finding(words);
    assert.equal(served.certificate, good?.chain);
    assert.ok(findings.some((finding) => / warning VM0202: .* stays as it was last right /.test(finding)));
    assert.ok(!findings.join().includes(other.key.slice(60, 80)));
    served.inPlace(good as Certificate);
    await waitFor(() => served.findings().length === 0, { what: 'end of the finding' });
  }
  rmSync(served.dir.at(KEY));
  await served.finding(/tls\.key:1:1: error VM0501: it is not there any more/);
  assert.equal(served.certificate, good?.chain);
  served.inPlace(other);
  await served.becomes(other);
  assert.deepEqual(served.findings(), []);
});

test('a key that is written a while before its certificate is no finding', async (t) => {
  let good: Certificate | undefined;
  const served = new Served(
    t,
    (s) => {
      good = s.authority.issue('DNS:good.test');
      s.byRename(good);
    },
    [PAIR, ROOTS],
    60_000,
  );
  const next = served.authority.issue('DNS:next.test');
  writeFileSync(served.dir.at(KEY), next.key);
  // The roots are looked at after the key: when they are there, so has the key been.
  served.dir.write(CA, served.authority.root);
  await waitFor(() => served.entry(ROOTS, 'ca.crt') !== undefined, { what: 'roots' });
  assert.deepEqual([served.certificate, served.findings()], [good?.chain, []]);
  writeFileSync(served.dir.at(CRT), next.chain);
  await served.becomes(next);
});

test('a certificate that has expired does not take the place of one that holds', async (t) => {
  const served = new Served(t, (s) => s.byRename(s.authority.issueFor(90, 'DNS:long.test')));
  const long = served.certificate;
  served.days = 10;
  served.byRename(served.authority.issueFor(2, 'DNS:short.test'));
  await served.finding(/the certificate expired on .*; the one before, which holds until .*, stays/);
  assert.equal(served.certificate, long);
  served.days = 100;
  const last = served.authority.issueFor(3, 'DNS:last.test');
  served.byRename(last);
  await served.becomes(last);
});

test('files that are not there are no mistake, and are taken when they come; those that are named no more go', async (t) => {
  const served = new Served(t, () => {}, [PAIR]);
  assert.deepEqual([served.certificate, served.findings()], [undefined, []]);
  const pair = served.authority.issue('DNS:late.test');
  rmSync(served.dir.at('etc/certs'), { recursive: true });
  served.byRename(pair);
  await served.becomes(pair);
  served.dir.write(CA, 'no roots');
  served.follow(PAIR, ROOTS);
  assert.match(served.findings().join(), /etc\/certs\/gw\/ca\.crt:1:1: error VM0501: .*holds no certificate/);
  served.follow(ROOTS);
  assert.equal(served.certificate, undefined);
  served.follow();
  assert.deepEqual([served.findings(), served.store.keys()], [[], []]);
});

test('keys of istiod itself are handed out by no name', (t) => {
  const own = [
    ['etc/cacerts/ca-cert.pem', 'etc/cacerts/ca-key.pem'],
    ['etc/certs/cert-chain.pem', 'etc/certs/key.pem'],
    ['var/lib/istio/ca/cert.pem', 'var/lib/istio/ca/key.pem'],
    ['etc/certs/gw/../../cacerts/ca-cert.pem', 'etc/certs/gw/link.pem'],
  ] as const;
  const named = own.map(([certificate, privateKey]) => ({
    name: `file-cert:${certificate}~${privateKey}`,
    certificate,
    privateKey,
  }));
  const served = new Served(
    t,
    ({ dir, authority }) => {
      const { chain, key } = authority.issue('DNS:istiod.test');
      for (const [certificate, privateKey] of own.slice(0, 3)) {
        dir.write(certificate, chain);
        dir.write(privateKey, key);
      }
      symlinkSync('../../cacerts/ca-key.pem', dir.at('etc/certs/gw/link.pem'));
    },
    named,
  );
  for (const secret of named) assert.equal(served.entry(secret, 'tls.key'), undefined, secret.name);
  assert.equal(served.findings().filter((finding) => /a file of istiod itself/.test(finding)).length, 4);
});

test('after a restart beside a wrong pair the last good one is served, from a copy that nobody else may read', async (t) => {
  let good: Certificate | undefined;
  const served = new Served(t, (s) => {
    good = s.authority.issue('DNS:good.test');
    s.byRename(good);
  });
  const copies = served.dir.at('var/lib/istio/last-good');
  await waitFor(() => served.dir.read('var/lib/istio/last-good/objects.jsonl').includes(PAIR.name), { what: 'copy' });
  assert.equal(statSync(copies).mode & 0o777, 0o700);
  assert.equal(statSync(`${copies}/objects.jsonl`).mode & 0o777, 0o600);
  served.dir.write(CRT, 'garbage');
  const store = new ConfigStore(new Graph(), { rootNamespace: 'istio-system', lastGood: served.lastGood() });
  const again = new Certificates(store.source(CERTIFICATE_SOURCE), [PAIR], { root: served.dir.path, log: QUIET });
  t.after(() => again.close());
  const { spec } = store.get(`/CertificateFiles//${PAIR.name}`) ?? {};
  const text = (spec as { data: Record<string, string> }).data['tls.crt'];
  assert.equal(Buffer.from(text ?? '', 'base64').toString(), good?.chain);
  assert.match(store.allDiagnostics().map(formatDiagnostic).join('\n'), /holds no certificate/);
});

test('a file that may not be read says so', { skip: process.getuid?.() === 0 && 'root reads everything' }, (t) => {
  const served = new Served(t, (s) => {
    s.byRename(s.authority.issue('DNS:a.test'));
    chmodSync(s.dir.at(KEY), 0);
  });
  assert.match(served.findings().join(), /tls\.key:1:1: error VM0501: .*permission denied/);
});
