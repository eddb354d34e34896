import type { AuthorizationPolicy, Telemetry } from '#generated/config/specs.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import type { MeshFacts } from './facts.ts';
import { listed } from './names.ts';

function* unknownProvider(at: Place, name: string, facts: MeshFacts): Generator<Finding> {
  if (facts.providerKind(name) !== undefined) return;
  const known = facts.providers();
  const near = nearestName(name, known);
  const hint = near === undefined ? `it has ${listed(known)}` : `did you mean "${near}"?`;
  yield at.error(`extensionProviders of mesh.yaml has no "${name}"; ${hint}`, 'IST0101');
}

/** Providers that mesh.yaml does not have. */
export const TELEMETRY_PROVIDERS: Analyzer<Telemetry> = {
  kinds: ['Telemetry'],
  *findings({ spec }, facts) {
    for (const block of ['tracing', 'metrics', 'accessLogging'] as const) {
      for (const [i, { providers = [] }] of (spec[block] ?? []).entries()) {
        for (const [j, { name }] of providers.entries()) {
          yield* unknownProvider(placeOf(['spec', block, i, 'providers', j, 'name']), name, facts);
        }
      }
    }
  },
};

/** Without its provider the policy can not be asked, and all requests that it is about are denied. */
export const AUTHORIZATION_PROVIDER: Analyzer<AuthorizationPolicy> = {
  kinds: ['AuthorizationPolicy'],
  *findings({ spec }, facts) {
    if (spec.action !== 'CUSTOM' || spec.provider === undefined) return;
    yield* unknownProvider(placeOf(['spec', 'provider', 'name']), spec.provider.name ?? '', facts);
  },
};
