import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigSink } from '../../../src/config/sink.ts';
import { Convergence } from '../../../src/istiod/convergence.ts';
import type { StreamInfo } from '../../../src/xds/events.ts';

interface Stream {
  readonly info: StreamInfo;
  /** As when a set of its session has changed. */
  change(): void;
}

/** A convergence whose time and changes are given. */
function fixture() {
  const state = { now: 0, revision: 0 };
  const converged: number[] = [];
  const unaffected: number[] = [];
  const convergence = new Convergence({
    revision: () => state.revision,
    converged: (seconds) => converged.push(seconds),
    unaffected: (streams) => unaffected.push(streams),
    now: () => state.now,
  });
  const inner: ConfigSink = {
    rootNamespace: 'istio-system',
    replace: () => {},
    apply: () => {},
    batch: (change) => change(),
  };
  const sink = convergence.sink(inner);
  const { events } = convergence;
  const stream = (sends: readonly string[]): Stream => {
    const info = {} as StreamInfo;
    events.onStreamOpen?.(info);
    const change = (): void => {
      events.onChange?.(info);
      for (const typeUrl of sends) events.onPush?.(info, { typeUrl } as never);
    };
    return { info, change };
  };
  /** An edit that changes the sets of some streams, at a time. */
  const edit = async (at: number, ...streams: readonly Stream[]): Promise<void> => {
    state.now = at;
    sink.batch(() => {
      state.revision++;
      queueMicrotask(() => {
        for (const one of streams) one.change();
      });
    });
    await Promise.resolve().then(() => {});
  };
  const answer = async (at: number, one: Stream, typeUrl: string, event: 'onAck' | 'onNack' = 'onAck') => {
    state.now = at;
    events[event]?.(one.info, typeUrl, {} as never, 0);
    await Promise.resolve();
  };
  return { stream, edit, answer, converged, unaffected, sink, state };
}

test('a proxy has converged when it has acknowledged every type that a change brought it', async () => {
  const { stream, edit, answer, converged, unaffected } = fixture();
  const [both, other] = [stream(['cds', 'eds']), stream(['cds'])];
  await edit(1000, both);
  await answer(1100, both, 'cds');
  assert.deepEqual(converged, []);
  await answer(1500, both, 'eds');
  assert.deepEqual(converged, [0.5]);
  assert.deepEqual(unaffected, [1]);
  await edit(2000, both, other);
  await answer(2250, other, 'cds');
  assert.deepEqual(
    [converged, unaffected],
    [
      [0.5, 0.25],
      [1, 0],
    ],
  );
});

test('a proxy that refuses a change has not converged to it', async () => {
  const { stream, edit, answer, converged } = fixture();
  const one = stream(['cds', 'eds']);
  await edit(0, one);
  await answer(100, one, 'cds', 'onNack');
  await answer(200, one, 'eds');
  assert.deepEqual(converged, []);
});

test('a change that sends nothing to a proxy is nothing that it converges to', async () => {
  const { stream, edit, answer, converged } = fixture();
  const one = stream([]);
  await edit(0, one);
  await answer(100, one, 'cds');
  assert.deepEqual(converged, []);
});
