import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitDocuments } from '../../../src/config/document.ts';

function split(text: string): (readonly [number, string])[] {
  return splitDocuments('f.yaml', Buffer.from(text)).map(({ raw }) => [raw.line, raw.text]);
}

test('documents are parted at lines of three dashes and keep their lines', () => {
  assert.deepEqual(split('a: 1\n---\nb: 2\n--- # comment\nc: 3\n'), [
    [1, 'a: 1\n'],
    [3, 'b: 2\n'],
    [5, 'c: 3\n'],
  ]);
});

test('what follows the dashes on their line begins the document', () => {
  assert.deepEqual(split('--- {a: 1}\n---\tb\n'), [
    [1, '--- {a: 1}\n'],
    [2, '---\tb\n'],
  ]);
});

test('dashes within a line, or with more behind them, part nothing', () => {
  assert.equal(split('a: ---\n----\n ---\n---x\n').length, 1);
});

test('dashes at the start of a line end a block scalar', () => {
  assert.deepEqual(split('a: |\n  x\n---\nb: 1'), [
    [1, 'a: |\n  x\n'],
    [4, 'b: 1'],
  ]);
});

test('dots end a document', () => {
  assert.deepEqual(split('a: 1\n...\nb: 2\n...\n---\nc: 3\n'), [
    [1, 'a: 1\n'],
    [3, 'b: 2\n'],
    [6, 'c: 3\n'],
  ]);
});

test('empty documents and those of comments alone are left out', () => {
  assert.deepEqual(split('---\n# only a comment\n---\n\n---\na: 1\n---\n'), [[6, 'a: 1\n']]);
  assert.deepEqual(split(''), []);
  assert.deepEqual(split('   # x\n\n'), []);
});

test('directives belong to the document behind them', () => {
  assert.deepEqual(split('%YAML 1.2\n# c\n---\na: 1\n---\nb: 2\n'), [
    [1, '%YAML 1.2\n# c\n---\na: 1\n'],
    [6, 'b: 2\n'],
  ]);
});

test('a byte order mark and Windows line ends are no part of the text', () => {
  assert.deepEqual(split('\ufeffa: 1\r\n---\r\nb: |\r\n  x\r\n'), [
    [1, 'a: 1\n'],
    [3, 'b: |\n  x\n'],
  ]);
});

test('text that is not UTF-8 is refused in its own document alone', () => {
  const bytes = Buffer.concat([Buffer.from('a: 1\n---\nb: '), Buffer.from([0xff, 0xfe]), Buffer.from('\n---\nc: 3\n')]);
  const documents = splitDocuments('f.yaml', bytes);
  assert.deepEqual(
    documents.map(({ problem }) => problem?.message),
    [undefined, 'the text is not UTF-8: save the file as UTF-8', undefined],
  );
  assert.equal(documents[1]?.problem?.offset, 3);
});

test('UTF-16 and forbidden characters are named', () => {
  const [utf16] = splitDocuments('f.yaml', Buffer.from('\ufeffa: 1', 'utf16le'));
  assert.match(utf16?.problem?.message ?? '', /UTF-16/);
  const [nul] = splitDocuments('f.yaml', Buffer.from('a: \0'));
  assert.match(nul?.problem?.message ?? '', /U\+0000/);
  assert.equal(nul?.problem?.offset, 3);
});

test('a replacement character that is meant is no error', () => {
  assert.equal(splitDocuments('f.yaml', Buffer.from('a: "\ufffd"'))[0]?.problem, undefined);
});
