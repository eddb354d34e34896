import type { PeerAuthentication } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { PeerAuthentication as schema } from '../schema/peer-authentication.ts';
import { portProblem } from './addresses.ts';
import { problem } from './names.ts';
import { policySelectorFindings } from './selectors.ts';

/** @see istio/istio pkg/config/validation/validation.go `ValidatePeerAuthentication` */
export const PEER_AUTHENTICATION: KindDefinition<PeerAuthentication> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'PeerAuthentication',
  plural: 'peerauthentications',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec: { selector, portLevelMtls }, at }) {
    yield* policySelectorFindings(at('selector'), selector);
    if (portLevelMtls === undefined) return;
    if (selector?.matchLabels === undefined) {
      yield at('portLevelMtls').error('ports can be set for selected workloads alone: add a selector');
    }
    for (const port of Object.keys(portLevelMtls)) {
      yield* problem(at('portLevelMtls', port), portProblem(Number(port)));
    }
  },
});
