import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceProvider } from '../../../src/istiod/provider.ts';
import { ProxySessions } from '../../../src/pipeline/session.ts';
import type { Node } from '../../../src/proto/discovery.ts';
import { meshFixture } from '../../support/mesh-fixture.ts';

const PEER = { address: '127.0.0.1:1', encrypted: false, identities: [] };

const node = (metadata: Node['metadata']): Node => ({
  id: 'sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local',
  cluster: '',
  metadata,
  locality: undefined,
  userAgentName: '',
  userAgentVersion: '',
  userAgentBuildVersion: undefined,
  extensions: [],
  clientFeatures: [],
});

const WANTED: readonly (readonly [metadata: NonNullable<Node['metadata']>, revision: string, served: boolean])[] = [
  [{}, 'default', true],
  [{}, 'canary', true],
  [{ ISTIO_REVISION: 'canary' }, 'canary', true],
  [{ ISTIO_REVISION: 'canary' }, 'default', false],
  [{ LABELS: { 'istio.io/rev': 'canary' } }, 'canary', true],
  [{ LABELS: { 'istio.io/rev': 'canary' } }, 'default', false],
  [{ ISTIO_REVISION: 'default', LABELS: { 'istio.io/rev': 'canary' } }, 'default', true],
];

for (const [metadata, revision, isServed] of WANTED) {
  test(`a control plane of the revision ${revision} ${isServed ? 'serves' : 'refuses'} ${JSON.stringify(metadata)}`, () => {
    const sessions = new ProxySessions(meshFixture([]).pipeline);
    const connect = () =>
      resourceProvider(sessions, {
        revision,
        mayReadConfiguration: () => true,
        secretsOverPlaintext: false,
        checksIdentities: true,
        log: { warn: () => undefined },
      }).connect(node(metadata), PEER);
    if (isServed) assert.equal(connect().id, 'web-1.shop');
    else assert.throws(connect, { code: 'FAILED_PRECONDITION', message: /wants the revision canary/ });
    assert.equal(sessions.sessions.size, isServed ? 1 : 0);
  });
}
