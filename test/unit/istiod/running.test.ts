import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { runningIstiod } from '../../../src/istiod/running.ts';
import { StartError } from '../../../src/process/failure.ts';
import { WorkDir } from '../../support/work-dir.ts';

const LISTENS = 'var/lib/istio/run/listen.json';

test('an istiod that says where it answers runs, on all addresses as on its own', (t) => {
  const dir = new WorkDir('running');
  t.after(() => dir.remove('.'));
  assert.equal(runningIstiod(dir.path), undefined);
  dir.write(LISTENS, '{"grpc": "127.0.0.1:1"}');
  assert.equal(runningIstiod(dir.path), undefined);
  dir.write(LISTENS, '{"http": "0.0.0.0:1"}');
  assert.deepEqual(runningIstiod(dir.path)?.addresses, { http: '0.0.0.0:1' });
});

test('of an istiod of another user nobody says that it does not run', {
  skip: process.getuid?.() === 0 ? 'root reads all' : false,
}, (t) => {
  const dir = new WorkDir('running');
  t.after(() => dir.remove('.'));
  dir.write(LISTENS, '{"http": "127.0.0.1:1"}');
  chmodSync(dir.at(LISTENS), 0);
  const denied = (error: unknown) => error instanceof StartError && /permission denied/.test(error.message);
  assert.throws(() => runningIstiod(dir.path), denied);
});
