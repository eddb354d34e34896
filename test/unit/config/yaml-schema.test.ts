import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOT_FINITE, plainValue, taggedValue } from '../../../src/config/yaml-schema.ts';

/** As sigs.k8s.io/yaml 1.5 answers. */
const MEANINGS: readonly (readonly [string, unknown])[] = [
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['yEs', 'tRUE', 'nil', 'NaN', 'inf', 'Infinity', '.', '..', '+', '=', '<<'].map((word) => [word, word] as const),
  ['0777', 511],
  ['0o777', 511],
  ['0O777', 511],
  ['-0777', -511],
  ['0o7_7', 63],
  ['08', 8],
  ['0089', 89],
  ['1_000', 1000],
  ['_1000', '_1000'],
  ['1__000_', 1000],
  ['0x1F', 31],
  ['0X1_f', 31],
  ['-0x1F', -31],
  ['0b101', 5],
  ['-0B101', -5],
  ['0b12', '0b12'],
  ['0x', '0x'],
  ['+5', 5],
  ['+-5', '+-5'],
  ['1e3', 1000],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5', -0.5],
  ['.1_0', 0.1],
  ['._1', '._1'],
  ['1e5_0', 1e50],
  ['1e400', '1e400'],
  ['1.2.3', '1.2.3'],
  ['10.0.0.1/8', '10.0.0.1/8'],
  ['1,000', '1,000'],
  ['12:30:45', '12:30:45'],
  ['2001-12-14', '2001-12-14'],
  ['2001-12-14T21:59:43Z', '2001-12-14T21:59:43Z'],
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', 9007199254740993n],
  ['-9223372036854775808', -9223372036854775808n],
  ['18446744073709551615', 18446744073709551615n],
  ['0xFFFFFFFFFFFFFFFF', 18446744073709551615n],
  ['.inf', NOT_FINITE],
  ['-.Inf', NOT_FINITE],
  ['.NaN', NOT_FINITE],
  ['-.nan', '-.nan'],
  ['9'.repeat(50), '9'.repeat(50)],
];

test('a plain scalar means what it means in Kubernetes', () => {
  for (const [text, meaning] of MEANINGS) assert.deepEqual(plainValue(text), meaning, text);
});

test('a tag decides what a scalar is', () => {
  assert.deepEqual(taggedValue('tag:yaml.org,2002:str', '5', true), { value: '5' });
  assert.deepEqual(taggedValue('!', '5', true), { value: '5' });
  assert.deepEqual(taggedValue('tag:yaml.org,2002:int', '5', false), { value: 5 });
  assert.deepEqual(taggedValue('tag:yaml.org,2002:float', '5', true), { value: 5 });
  assert.deepEqual(taggedValue('tag:yaml.org,2002:bool', 'yes', false), { value: true });
  assert.deepEqual(taggedValue('tag:yaml.org,2002:binary', 'aGVsbG8=', true), { value: 'hello' });
  assert.deepEqual(taggedValue('tag:yaml.org,2002:timestamp', '2001-12-14', true), { value: '2001-12-14' });
  assert.equal(taggedValue('tag:yaml.org,2002:int', 'abc', true).mismatch, 'a whole number');
  assert.equal(taggedValue('!own', '5', true).unknown, true);
});
