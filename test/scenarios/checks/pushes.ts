import { compareStrings } from '../../../src/base/order.ts';
import { object } from '../../support/json-fields.ts';
import { text, texts } from '../fields.ts';
import { milliseconds } from '../scenario.ts';
import { typeUrlOf } from '../types.ts';
import { firstOf, type Look } from './check-kind.ts';

/** How many responses a node was sent during the step, and which endpoints. */
export const push: Look = ({ node = '', at, assert }, world) => {
  const log = world.responsesSince(node, at === 'all-steps' ? 'start' : 'step');
  const of = (type: string) => log.filter(({ typeUrl }) => typeUrl === typeUrlOf(type));
  const counts = Object.entries(object(assert['responses'])).map(([type, count]) => {
    const found = of(type);
    const names = found.map(({ resources, removed }) => [...resources.map(({ name }) => name), ...removed].join(' '));
    return found.length === count ? undefined : `${found.length} ${type} responses, not ${count}: ${names.join('; ')}`;
  });
  if (assert['eds_resources'] === undefined) return firstOf(counts);
  const wanted = texts(assert['eds_resources']).toSorted(compareStrings).join();
  const named = of('EDS').flatMap(({ resources }) => resources.map(({ name }) => name));
  const found = [...new Set(named)].sort(compareStrings).join();
  return firstOf([...counts, found === wanted ? undefined : `endpoints of [${found}] were sent, not of [${wanted}]`]);
};

/** Time for what a script expects, where the check does not say. */
const EXPECT_MS = 5_000;

/** What a raw stream is answered. It is performed once, not looked at again and again. */
export const grpcScript: Look = async ({ node = '', mode, script, within, assert }, world) => {
  const variants = mode === 'both' ? (['sotw', 'delta'] as const) : ([mode as 'sotw' | 'delta'] as const);
  const withinMs = within === undefined ? EXPECT_MS : milliseconds(within);
  const verdicts = variants.map(async (variant) => {
    const stream = world.stream(node, variant);
    const received = await stream.run(texts(script), withinMs);
    const contains = text(assert['contains']);
    const counts = Object.entries(assert).flatMap(([name, count]) => {
      const [, type] = /^(\w+)_responses$/.exec(name) ?? [];
      if (type === undefined) return [];
      const found = received.filter(({ typeUrl }) => typeUrl === typeUrlOf(type.toUpperCase())).length;
      return [found === count ? undefined : `${variant}: ${found} ${type} responses, not ${count}`];
    });
    const isThere = received.some(({ resources }) => resources.some(({ name }) => name === contains));
    return firstOf([
      ...counts,
      contains === '' || isThere ? undefined : `${variant}: no response has ${contains}`,
      assert['stream_open'] === undefined || stream.isOpen === assert['stream_open']
        ? undefined
        : `${variant}: the stream is ${stream.isOpen ? 'open' : 'closed'}`,
    ]);
  });
  return firstOf(await Promise.all(verdicts));
};
