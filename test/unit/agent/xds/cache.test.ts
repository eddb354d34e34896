import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Accepted } from '../../../../src/agent/xds/accepted.ts';
import { XdsCache } from '../../../../src/agent/xds/cache.ts';
import { CacheFile } from '../../../../src/agent/xds/cache-file.ts';
import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '../../../../src/proto/discovery.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../../../src/proto/type-urls.ts';
import { runs } from '../../../support/runs.ts';
import { WorkDir } from '../../../support/work-dir.ts';

function opened(dir: WorkDir, owner = 'a') {
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  return { file: new CacheFile({ directory: dir.at('state'), owner, log }), warnings };
}

function request(more: Partial<DeltaDiscoveryRequest>): DeltaDiscoveryRequest {
  return {
    node: undefined,
    typeUrl: CLUSTER_TYPE,
    resourceNamesSubscribe: [],
    resourceNamesUnsubscribe: [],
    initialResourceVersions: new Map(),
    responseNonce: '',
    errorDetail: undefined,
    ...more,
  };
}

/** @param resources `name@version` */
function response(
  nonce: string,
  resources: readonly string[],
  removedResources: readonly string[] = [],
): DeltaDiscoveryResponse {
  return {
    systemVersionInfo: '',
    typeUrl: CLUSTER_TYPE,
    removedResources,
    nonce,
    controlPlane: undefined,
    resources: resources.map((text) => {
      const [name = '', version = ''] = text.split('@');
      return { name, version, aliases: [], resource: { typeUrl: CLUSTER_TYPE, value: Buffer.from(text) } };
    }),
  };
}

function held(cache: XdsCache, typeUrl = CLUSTER_TYPE): string {
  return [...cache.resources(typeUrl).values()].map(({ name, version }) => `${name}@${version}`).join(' ');
}

const REFUSED = { code: 3, message: 'no', details: [] };

test('what is taken is kept, what is refused is not, and what is not asked for any more goes', () => {
  using dir = new WorkDir();
  const cache = new XdsCache(opened(dir).file);
  const stream = new Accepted(cache);
  stream.request(request({}));
  stream.response(response('1', ['a@1', 'b@1']));
  assert.equal(held(cache), '');
  stream.request(request({ responseNonce: '1' }));
  assert.equal(held(cache), 'a@1 b@1');
  stream.response(response('2', ['a@2']));
  stream.request(request({ responseNonce: '2', errorDetail: REFUSED }));
  stream.response(response('3', ['c@1'], ['b']));
  stream.request(request({ responseNonce: '3' }));
  assert.equal(held(cache), 'a@1 c@1');
  stream.request(request({ resourceNamesUnsubscribe: ['c'] }));
  assert.equal(held(cache), 'a@1');
  stream.request(request({ responseNonce: '99' }));
  assert.equal(held(cache), 'a@1');
});

test('an Envoy that has nothing is told all anew, and until it is, the cache stays', () => {
  using dir = new WorkDir();
  const cache = new XdsCache(opened(dir).file);
  const first = new Accepted(cache);
  first.request(request({}));
  first.response(response('1', ['a@1', 'b@1', 'c@1']));
  first.request(request({ responseNonce: '1' }));
  const again = new Accepted(cache);
  again.request(
    request({
      initialResourceVersions: new Map([
        ['a', '1'],
        ['c', '0'],
      ]),
    }),
  );
  assert.equal(held(cache), 'a@1 b@1 c@1');
  again.response(response('1', ['c@2']));
  again.request(request({ responseNonce: '1' }));
  assert.equal(held(cache), 'a@1 c@2');
});

test('what is kept is there for the next process, of all types', async () => {
  using dir = new WorkDir();
  const cache = new XdsCache(opened(dir).file);
  const bytes = Buffer.from([1, 2, 3]);
  cache.update(
    CLUSTER_TYPE,
    [
      { name: 'b', version: '1', bytes },
      { name: 'a', version: '2', bytes, typeUrl: 'type.googleapis.com/x' },
    ],
    [],
  );
  cache.update(ENDPOINT_TYPE, [{ name: 'e', version: '3', bytes: Buffer.alloc(0) }], []);
  await cache.flush();
  const next = new XdsCache(opened(dir).file);
  assert.equal(held(next), 'a@2 b@1');
  assert.equal(held(next, ENDPOINT_TYPE), 'e@3');
  assert.equal(next.size, 3);
  assert.deepEqual(next.resources(CLUSTER_TYPE).get('a'), {
    name: 'a',
    version: '2',
    bytes: Uint8Array.from(bytes),
    typeUrl: 'type.googleapis.com/x',
  });
  assert.equal(new XdsCache(opened(dir, 'b').file).size, 0);
});

test('a file that is damaged anywhere is put aside, and a new one is written', async () => {
  using dir = new WorkDir();
  const cache = new XdsCache(opened(dir).file);
  cache.update(CLUSTER_TYPE, [{ name: 'a', version: '1', bytes: Buffer.from('abc') }], []);
  await cache.flush();
  const good = dir.read('state/xds-cache');
  const damaged = fc.oneof(
    fc.nat(good.length - 1).map((length) => good.slice(0, length)),
    fc
      .tuple(fc.nat(good.length - 1), fc.integer({ min: 32, max: 126 }))
      .map(([at, code]) => `${good.slice(0, at)}${String.fromCharCode(code)}${good.slice(at + 1)}`),
    fc.string(),
  );
  fc.assert(
    fc.property(damaged, (text) => {
      dir.write('state/xds-cache', text);
      const { file, warnings } = opened(dir);
      const loaded = new XdsCache(file);
      // A change may be none, or make it the file of another owner or format.
      if (text === good) return;
      assert.equal(loaded.size, 0);
      assert.ok(warnings.length === 1 || /^\{"format":[02-9],|"owner":"[^a]"/.test(text), text);
    }),
    { numRuns: runs(200) },
  );
  dir.write('state/xds-cache', good);
  assert.equal(new XdsCache(opened(dir).file).size, 1);
});

test('a directory that can not be written is a warning, once', async () => {
  using dir = new WorkDir();
  dir.write('state', 'a file');
  const { file, warnings } = opened(dir);
  await file.save([]);
  await file.save([]);
  assert.equal(warnings.length, 1, warnings.join('\n'));
});
