import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigSource } from '#generated/config/specs.ts';
import { configSources } from '../../../src/istiod/sources.ts';

/** Names of the sources that mesh.yaml asks for, and what the log is told. */
function sourcesOf(...listed: readonly ConfigSource[]) {
  const log: string[] = [];
  const say = (message: string): void => void log.push(message);
  const options = { root: '/nowhere', strict: false, settleMs: 0, log: { info: say, warn: say } };
  return { names: configSources(options, listed).map(({ name }) => name), log };
}

test('without a list there are the files', () => {
  assert.deepEqual(sourcesOf(), { names: ['file:etc/istio/conf'], log: [] });
});

test('files come first, unless the list has them elsewhere', () => {
  const first = sourcesOf({ address: 'xds://a.test:1' }, { address: 'b.test:2' });
  assert.deepEqual(first.names, ['file:etc/istio/conf', 'xds://a.test:1', 'xds://b.test:2']);
  const last = sourcesOf({ address: 'xds://a.test:1' }, { address: 'fs://./etc/istio/conf' });
  assert.deepEqual(last.names, ['xds://a.test:1', 'file:etc/istio/conf']);
});

test('a source that can not be read as it is meant is not read; files elsewhere are told to the log', () => {
  const { names, log } = sourcesOf(
    { address: 'k8s://' },
    { address: 'fs:///elsewhere/etc/istio/conf' },
    { address: 'xds://a.test:1', tlsSettings: { mode: 'SIMPLE' } },
  );
  assert.deepEqual(names, ['file:etc/istio/conf']);
  assert.deepEqual(log, [
    'configSources: fs:///elsewhere/etc/istio/conf is not read: files are read from /nowhere/etc/istio/conf alone',
  ]);
});
