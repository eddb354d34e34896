import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParsedFile } from '../../../src/config/parsed.ts';
import type { ConfigSink } from '../../../src/config/sink.ts';
import { patientSink } from '../../../src/istiod/patient-sink.ts';

function setUp(isWhole: (files: readonly string[]) => boolean, ask: () => Promise<void> | undefined = () => undefined) {
  const taken: string[][] = [];
  let batch: string[] | undefined;
  const inner: ConfigSink = {
    rootNamespace: 'istio-system',
    replace: (files) => taken.push(['whole', ...files.map(({ file }) => file)]),
    apply: (file, parsed) => batch?.push(parsed === undefined ? `-${file}` : file),
    batch(change) {
      batch = [];
      change();
      taken.push(batch);
    },
  };
  let due: (() => void) | undefined;
  const sink = patientSink(inner, {
    clock: {
      now: () => 0,
      date: () => 0,
      after: (_ms, callback) => {
        due = callback;
        return () => {
          due = undefined;
        };
      },
    },
    ask,
    wait: (changes) => (isWhole(changes.map(({ file }) => file)) ? 0 : 250),
  });
  return { sink, taken, timeIsUp: () => due?.(), isWaiting: () => due !== undefined };
}

const parsed = (file: string): ParsedFile => ({
  file,
  namespace: '',
  documents: [],
  configs: [],
  refused: [],
  diagnostics: [],
});

test('changes that are whole are handed on at once', () => {
  const { sink, taken, isWaiting } = setUp(() => true);
  sink.batch(() => {
    sink.apply('a', parsed('a'));
    sink.apply('b', undefined);
  });
  assert.deepEqual(taken, [['a', '-b']]);
  assert.equal(isWaiting(), false);
});

test('a change that is not whole waits for the one that makes it so, and both are taken in one batch', () => {
  const { sink, taken, isWaiting } = setUp((files) => files.includes('rule'));
  sink.apply('route', parsed('route'));
  assert.deepEqual(taken, []);
  sink.apply('rule', parsed('rule'));
  assert.deepEqual(taken, [['route', 'rule']]);
  assert.equal(isWaiting(), false);
});

test('a change that never becomes whole is taken when its time is up', () => {
  const { sink, taken, timeIsUp } = setUp(() => false);
  sink.apply('route', parsed('route'));
  timeIsUp();
  assert.deepEqual(taken, [['route']]);
});

test('a whole state takes the place of what waits', () => {
  const { sink, taken, timeIsUp } = setUp(() => false);
  sink.apply('route', parsed('route'));
  sink.replace([parsed('all')]);
  timeIsUp();
  assert.deepEqual(taken, [['whole', 'all']]);
});

test('a change that needs something from elsewhere waits until it is there', async () => {
  const elsewhere = Promise.withResolvers<void>();
  let isThere = false;
  const { sink, taken, isWaiting } = setUp(
    () => true,
    () => (isThere ? undefined : elsewhere.promise),
  );
  sink.apply('tokens', parsed('tokens'));
  sink.apply('route', parsed('route'));
  assert.deepEqual([taken, isWaiting()], [[], true]);
  isThere = true;
  elsewhere.resolve();
  await elsewhere.promise;
  assert.deepEqual([taken, isWaiting()], [[['tokens', 'route']], false]);
});

test('what never comes from elsewhere is not waited for for long', () => {
  const { sink, taken, timeIsUp } = setUp(
    () => true,
    () => new Promise(() => undefined),
  );
  sink.apply('tokens', parsed('tokens'));
  timeIsUp();
  assert.deepEqual(taken, [['tokens']]);
});
