import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalAdvice } from '../../../src/istiod/refusal-advice.ts';

test('what Envoys say when they lack something is answered with what to do, and nothing else is', () => {
  const words: readonly (readonly [string, RegExp | undefined])[] = [
    ["Error adding/updating listener(s) a: unable to open file '/dev/stdout': No such device or address", /a socket/],
    ["a: unable to open file '/var/log/x/y.log': No such file or directory", /a directory that is there/],
    ["Didn't find a registered implementation for 'istio.stats' with type URL: ''", /built without the extension/],
    ['Protobuf message (type envoy.config.cluster.v3.Cluster with unknown field set {64}) has unknown fields', /newer/],
    ['Only unique values for domains are permitted. Duplicate entry of domain a', undefined],
  ];
  for (const [message, advice] of words) {
    if (advice === undefined) assert.equal(refusalAdvice(message), undefined);
    else assert.match(refusalAdvice(message) ?? '', advice);
  }
});
