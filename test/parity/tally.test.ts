import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome, Verdict } from './compare.ts';
import { belowFloor } from './floor.ts';
import { type CaseResult, distinct, percent, tally, tallyByArea } from './tally.ts';

function outcome(identity: string | undefined, verdict: Verdict, proxy = 'sidecar'): Outcome {
  return { proxy, type: 'cds', name: identity ?? 'more', verdict, identity, differences: [] };
}

function result(area: string, outcomes: readonly Outcome[], more: Partial<CaseResult> = {}): CaseResult {
  const sidecars = new Set(outcomes.map(({ proxy }) => proxy).filter((proxy) => proxy.startsWith('sidecar')));
  return { name: area, area, outcomes, sidecars, disagreements: [], refusals: [], errors: [], ...more };
}

test('equal content counts once', () => {
  const outcomes = [outcome('a', 'equal'), outcome('a', 'equal', 'sidecar-2'), outcome('b', 'missing')];
  assert.deepEqual(distinct(outcomes), { right: 1, all: 2 });
});

test('content that one proxy lacks is not right for the others', () => {
  assert.deepEqual(distinct([outcome('a', 'equal'), outcome('a', 'different', 'sidecar-2')]), { right: 0, all: 1 });
});

test('what was not expected is no distinct resource, and spoils its case', () => {
  const figures = tally('x', [result('x', [outcome('a', 'equal'), outcome(undefined, 'extra')])]);
  assert.deepEqual(figures.sidecars, { right: 1, all: 1 });
  assert.deepEqual(figures.cases, { right: 0, all: 1 });
});

test('a router that is wrong spoils the case, but not its sidecars', () => {
  const figures = tally('x', [result('x', [outcome('a', 'equal'), outcome('b', 'missing', 'router')])]);
  assert.deepEqual(figures.sidecars, { right: 1, all: 1 });
  assert.deepEqual(figures.proxies, { right: 1, all: 2 });
  assert.deepEqual(figures.sidecarCases, { right: 1, all: 1 });
  assert.deepEqual(figures.cases, { right: 0, all: 1 });
});

test('a case in which the wrong documents were refused is not whole', () => {
  assert.deepEqual(tally('x', [result('x', [outcome('a', 'equal')], { refusals: ['taken: a'] })]).cases.right, 0);
});

test('allowed differences count as right', () => {
  assert.equal(percent(distinct([outcome('a', 'allowed')])), 100);
});

test('areas below their minimum are named, and others not', () => {
  const areas = tallyByArea([
    result('good', [outcome('a', 'equal')]),
    result('bad', [outcome('b', 'equal'), outcome('c', 'missing')]),
    result('new', [outcome('d', 'missing')]),
  ]);
  const floor = { sidecars: { good: 100, bad: 95, absent: 95 }, proxies: { bad: 50 }, disagreements: 0 };
  assert.deepEqual(belowFloor(floor, areas, 0), ['bad, sidecars: 50.0 %, 95 % must hold']);
  assert.equal(belowFloor({ ...floor, sidecars: {} }, areas, 1).length, 1);
});
