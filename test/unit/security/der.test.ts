import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  childrenOf,
  contentOf,
  DerError,
  der,
  integer,
  oid,
  oidOf,
  readDer,
  sequence,
  TAG,
  time,
} from '../../../src/security/der.ts';
import { runs } from '../../support/runs.ts';

const bytes = fc.uint8Array({ maxLength: 70_000 });

test('what is written is read again, of any length', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(0x04, 0x0c, 0x80, 0xa3), bytes), { maxLength: 5 }), (parts) => {
      const written = sequence(...parts.map(([tag, content]) => der(tag, content)));
      const read = childrenOf(readDer(written));
      assert.deepEqual(
        read.map(({ tag, content }) => [tag, Buffer.from(content).toString('hex')]),
        parts.map(([tag, content]) => [tag, Buffer.from(content).toString('hex')]),
      );
    }),
    { numRuns: runs(100) },
  );
});

test('an object identifier is read as it is written', () => {
  const arc = fc.integer({ min: 0, max: 0xffffff });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 0, max: 39 }),
      fc.array(arc),
      (first, second, rest) => {
        const text = [first, second, ...rest].join('.');
        assert.equal(oidOf(readDer(oid(text))), text);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('an integer is never negative, and has no zeros before it but one that it needs', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (magnitude) => {
      const content = contentOf(readDer(integer(magnitude)), TAG.integer);
      const value = (list: Uint8Array) => list.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
      assert.equal(value(content), value(magnitude));
      assert.ok((content[0] ?? 0) < 0x80);
      assert.ok(content.length === 1 || content[0] !== 0 || (content[1] ?? 0) >= 0x80);
    }),
    { numRuns: runs(200) },
  );
});

test('a year before 2050 has two digits, a later one four', () => {
  const at = (text: string) => Buffer.from(readDer(time(Date.parse(text))).content).toString();
  assert.equal(at('2049-12-31T23:59:59.999Z'), '491231235959Z');
  assert.equal(at('2050-01-01T00:00:00Z'), '20500101000000Z');
});

test('bytes that are no value are a mistake, and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (content) => {
      try {
        childrenOf(readDer(content));
      } catch (error) {
        assert.ok(error instanceof DerError, String(error));
      }
    }),
    { numRuns: runs(1000) },
  );
  for (const wrong of [
    '',
    '30',
    '3081',
    '308000',
    '30820001aa',
    '30850000000001',
    '3080',
    '1f0100',
    '3003020101ff',
    '300102',
  ]) {
    assert.throws(() => childrenOf(readDer(Buffer.from(wrong, 'hex'))), DerError, wrong);
  }
});
