import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigTree, entry } from '../unit/sources/config-tree.ts';

const OBJECTS = 300;
/** Set ROUNDS=50 for the long run. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 6);
/** Between the halves: well below the time that a file must be still, as a busy machine sleeps longer than it was told. */
const BETWEEN = 120;

test(`${OBJECTS} objects in one file that is written in two halves, again and again, lose none of them`, async (t) => {
  const tree = new ConfigTree(t);
  const whole = (port: number): string => Array.from({ length: OBJECTS }, (_, i) => entry(`s${i}`, port)).join('---\n');
  tree.write('shop/all.yaml', whole(1));
  await tree.start();
  assert.equal(tree.takeChanges().length, OBJECTS);
  for (let round = 2; round < 2 + ROUNDS; round++) {
    const bytes = Buffer.from(whole(round));
    // In the middle of a document in one round, between two in another.
    const half = round % 2 === 0 ? bytes.length >> 1 : bytes.indexOf('---\n', bytes.length >> 1);
    const file = openSync(tree.conf('shop/all.yaml'), 'w');
    writeSync(file, bytes, 0, half);
    await sleep(BETWEEN);
    writeSync(file, bytes, half);
    closeSync(file);
    await tree.until(() => Object.values(tree.ports()).every((port) => port === round));
    const changes = tree.takeChanges();
    assert.deepEqual(
      changes.filter((change) => !change.startsWith('~')),
      [],
    );
    assert.equal(changes.length, OBJECTS);
  }
});
