import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Graph } from '../../../src/derive/graph.ts';
import type { ProxyScope } from '../../../src/model/scope.ts';
import { ScopeMembers } from '../../../src/pipeline/scope-members.ts';

test('after any moves each scope that has proxies is known with the first of them', () => {
  const all = ['a', 'b', 'c'].map((key) => ({ key }) as ProxyScope);
  const move = fc.record({ id: fc.constantFrom('p', 'q', 'r', 's'), to: fc.constantFrom(undefined, ...all) });
  fc.assert(
    fc.property(fc.array(fc.array(move, { maxLength: 3 }), { maxLength: 40 }), (batches) => {
      const graph = new Graph();
      const scopeOf = graph.input<string, ProxyScope>('scope');
      const scopes = graph.collection<'', string, ProxyScope>('scopes', {
        items: () => scopeOf.keys(),
        value: (id) => scopeOf.get(id),
      });
      const members = new ScopeMembers(graph.watch(scopes, '').value);
      const now = new Map<string, ProxyScope>();
      for (const batch of batches) {
        graph.batch(() => {
          for (const { id, to } of batch) {
            scopeOf.set(id, to);
            if (to === undefined) now.delete(id);
            else now.set(id, to);
          }
        });
        const expected = all.flatMap((scope) => {
          const [first] = [...now].flatMap(([id, own]) => (own === scope ? [id] : [])).sort();
          return first === undefined ? [] : [[scope.key, first]];
        });
        assert.deepEqual([...members.firsts()].map(([scope, first]) => [scope.key, first]).sort(), expected);
      }
    }),
  );
});
