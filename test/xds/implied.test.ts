import assert from 'node:assert/strict';
import { decodeDiscoveryResponse, encodeDiscoveryRequest } from '../../src/proto/discovery.ts';
import { ENDPOINT_TYPE, LISTENER_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider, readFakeResource } from '../support/fake-provider.ts';
import { NODE, xdsTest } from './harness.ts';

const LISTENERS = { 'a:1': '1', 'a:2': '1', 'b:1': '1', c: '1' };

/** Whoever asks for `a` gets all that begin with `a:`, too. */
function withPorts(texts: Readonly<Record<string, string>>, typeUrl = LISTENER_TYPE): FakeProvider {
  const provider = new FakeProvider({ [typeUrl]: texts });
  provider.implies = (names) => (name) => names.has(name.split(':')[0] ?? '');
  return provider;
}

xdsTest('what belongs to a name is sent with it, and so are its changes', async (start, { variant }) => {
  const fixture = await start(withPorts(LISTENERS));
  const stream = fixture.stream(variant);
  stream.subscribe(LISTENER_TYPE, ['c']);
  assert.deepEqual((await stream.taken(['c'])).resources, { c: '1' });
  stream.subscribe(LISTENER_TYPE, variant === 'sotw' ? ['a', 'c'] : ['a']);
  const expected = { 'a:1': '1', 'a:2': '1' };
  const { resources } = await stream.taken(['a', 'c']);
  assert.deepEqual(resources, variant === 'sotw' ? { ...expected, c: '1' } : expected);
  fixture.provider.edit({ [LISTENER_TYPE]: { 'a:1': '2', 'b:1': '2' } });
  const changed = (await stream.taken(['a', 'c'])).resources;
  assert.deepEqual(changed, variant === 'sotw' ? { 'a:1': '2', 'a:2': '1', c: '1' } : { 'a:1': '2' });
});

xdsTest('what belongs to a name no longer comes when the name is not wanted any more', async (start, { variant }) => {
  const fixture = await start(withPorts(LISTENERS, ENDPOINT_TYPE));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['a', 'c']);
  const first = await stream.taken(['a', 'c']);
  if (variant === 'sotw') stream.ack(first, ['c']);
  else stream.delta({ typeUrl: ENDPOINT_TYPE, resourceNamesUnsubscribe: ['a'] });
  await stream.settled();
  fixture.provider.edit({ [ENDPOINT_TYPE]: { 'a:1': '2', c: '2' } });
  assert.deepEqual((await stream.taken(['c'])).resources, { c: '2' });
});

xdsTest(
  'what belongs to a name is in the answer to a fetch, too',
  async (start) => {
    const fixture = await start(withPorts(LISTENERS));
    const request = encodeDiscoveryRequest({ node: NODE, typeUrl: LISTENER_TYPE, resourceNames: ['a'] });
    const answer = await fixture.client().fetch('listener.v3.ListenerDiscoveryService/FetchListeners', request);
    const { resources } = decodeDiscoveryResponse(answer);
    assert.deepEqual(
      resources.map(({ value }) => readFakeResource(value).name),
      ['a:1', 'a:2'],
    );
  },
  ['sotw'],
);
