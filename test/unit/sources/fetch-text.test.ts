import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchError, type FetchLimits, fetchText } from '../../../src/sources/fetch-text.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { freePorts } from '../../support/free-port.ts';
import { TextServer } from '../../support/text-server.ts';
import { WorkDir } from '../../support/work-dir.ts';

const LIMITS: FetchLimits = { timeoutMs: 5_000, maxBytes: 1_000, blocked: [], insecure: false };
const GOING_ON = new AbortController().signal;

async function refusal(url: string, limits: Partial<FetchLimits> = {}): Promise<string> {
  try {
    await fetchText(url, { ...LIMITS, ...limits }, GOING_ON);
  } catch (error) {
    assert.ok(error instanceof FetchError, String(error));
    return error.message;
  }
  return 'nothing is wrong';
}

test('a text is read over http, also where others lead to', async () => {
  await using server = await TextServer.start((path) =>
    path === '/moved' ? { status: 302, headers: { location: '/here' } } : { body: `text of ${path}` },
  );
  const at = `http://127.0.0.1:${server.port}`;
  assert.equal(await fetchText(`${at}/a`, LIMITS, GOING_ON), 'text of /a');
  assert.equal(await fetchText(`${at}/moved`, LIMITS, GOING_ON), 'text of /here');
  assert.equal(await fetchText(`http://localhost:${server.port}/a`, LIMITS, GOING_ON), 'text of /a');
});

test('nobody leads to another scheme, in a circle, or to addresses of the machine itself', async () => {
  let location = '';
  await using server = await TextServer.start(() => ({ status: 301, headers: { location } }));
  const at = `http://127.0.0.1:${server.port}/`;
  const led = async (to: string): Promise<string> => {
    location = to;
    return await refusal(at);
  };
  assert.match(await led('file:///etc/passwd'), /leads to file:\/\/, and only http/);
  assert.match(await led('gopher://127.0.0.1/'), /leads to gopher:\/\//);
  assert.match(await led('/again'), /leads on more than 5 times/);
  assert.match(await led('http://169.254.169.254/latest'), /169\.254\.169\.254 is an address that only the machine/);
  assert.match(await led('http://[::ffff:169.254.169.254]/'), /only the machine itself should ask/);
  assert.match(await refusal('ftp://a/'), /leads to ftp/);
  assert.match(await refusal('no url'), /is no URL/);
  assert.match(await refusal('http://a/', { from: 'https://a/' }), /leads from https:\/\/ to http:\/\//);
});

test('blocked addresses are not asked, whatever name they have', async () => {
  await using server = await TextServer.start(() => ({ body: 'secret' }));
  const blocked = ['127.0.0.0/8', '::1/128'];
  assert.match(await refusal(`http://127.0.0.1:${server.port}/`, { blocked }), /127\.0\.0\.1 is an address/);
  assert.match(await refusal(`http://localhost:${server.port}/`, { blocked }), /only the machine itself should ask/);
  assert.deepEqual(server.asked, []);
});

test('what is too long, too late, of another status or not there at all is told apart', async () => {
  await using server = await TextServer.start((path) => {
    if (path === '/late') return undefined;
    return path === '/long' ? { body: 'x'.repeat(2_000) } : { status: 503, body: 'sorry' };
  });
  const at = `http://127.0.0.1:${server.port}`;
  const [closed] = await freePorts(1);
  assert.equal(await refusal(`${at}/long`), 'answers with more than 1000 bytes');
  assert.equal(await refusal(`${at}/late`, { timeoutMs: 100 }), 'does not answer within 100 ms');
  assert.equal(await refusal(`${at}/other`), 'answers with status 503');
  assert.equal(await refusal(`http://127.0.0.1:${closed}/`), 'refuses connections: nothing listens there');
});

test('over https the certificate counts, unless nobody wants to know', async () => {
  using files = new WorkDir('authority');
  const { chain: cert, key } = new TestAuthority(files.path).issue('DNS:localhost');
  await using server = await TextServer.start(() => ({ body: 'keys' }), { tls: { cert, key } });
  const url = `https://localhost:${server.port}/`;
  assert.match(await refusal(url), /certificate that no root of this machine vouches for/);
  assert.equal(await fetchText(url, { ...LIMITS, insecure: true }, GOING_ON), 'keys');
});
