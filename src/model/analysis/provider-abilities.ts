import type { ExtensionProvider, MeshConfig, Telemetry } from '#generated/config/specs.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import type { MeshFacts } from './facts.ts';
import { listed } from './names.ts';

/** What a provider is: the field of it that says so. */
export type ProviderKind = Exclude<keyof ExtensionProvider, 'name'>;

type Block = 'tracing' | 'metrics' | 'accessLogging';

/** Kinds of providers by what they can be named for. @see istio/istio pilot/pkg/model/telemetry.go */
const ABLE: Readonly<Record<Block, readonly ProviderKind[]>> = {
  tracing: ['opentelemetry', 'zipkin', 'datadog', 'skywalking'],
  metrics: ['prometheus'],
  accessLogging: ['envoyFileAccessLog', 'envoyOtelAls', 'envoyHttpAls', 'envoyTcpAls'],
};

const DOES: Readonly<Record<Block, string>> = {
  tracing: 'takes no traces',
  metrics: 'takes no metrics',
  accessLogging: 'takes no access logs',
};

/** Whether there is a provider of this name, and whether it does what it is named for. */
function* abilityFindings(at: Place, block: Block, name: string, facts: MeshFacts): Generator<Finding> {
  const kind = facts.providerKind(name);
  if (kind === undefined) {
    const near = nearestName(name, facts.providers());
    const hint = near === undefined ? `there are ${listed(facts.providers())}` : `did you mean "${near}"?`;
    yield at.error(`extensionProviders has no "${name}"; ${hint}`, 'IST0101');
  } else if (!ABLE[block].includes(kind)) {
    yield at.warning(`"${name}" is of kind ${kind}, which ${DOES[block]}; those that do are ${listed(ABLE[block])}`);
  }
}

/** Telemetries that name a provider for what it does not do, and those that trace without one. */
export const PROVIDER_ABILITIES: Analyzer<Telemetry> = {
  kinds: ['Telemetry'],
  *findings({ spec, namespace }, facts) {
    const at = placeOf(['spec']);
    for (const block of ['tracing', 'metrics', 'accessLogging'] as const) {
      for (const [i, { providers = [] }] of (spec[block] ?? []).entries()) {
        for (const [j, { name }] of providers.entries()) {
          const isKnown = facts.providerKind(name) !== undefined;
          if (isKnown) yield* abilityFindings(at.at(block, i, 'providers', j, 'name'), block, name, facts);
        }
      }
    }
    const traces = (spec.tracing ?? []).filter(({ disableSpanReporting }) => disableSpanReporting !== true);
    if (traces.length === 0 || facts.tracesSomewhere(namespace)) return;
    yield at
      .at('tracing')
      .warning(
        'no provider takes the traces of these workloads, so that there are none: name one, or one for all in defaultProviders.tracing of mesh.yaml',
      );
  },
};

/** What those of mesh.yaml can that are used where nothing names one. */
export const DEFAULT_PROVIDERS: Analyzer<MeshConfig> = {
  kinds: ['MeshConfig'],
  *findings({ spec: { defaultProviders = {} } }, facts) {
    for (const block of ['tracing', 'metrics', 'accessLogging'] as const) {
      const names = defaultProviders[block] ?? [];
      const at = placeOf(['defaultProviders', block]);
      for (const [i, name] of names.entries()) yield* abilityFindings(at.at(i), block, name, facts);
      if (block === 'tracing' && names.length > 1) yield at.warning('only the first provider has an effect');
    }
  },
};

/** Istio's metrics where an Envoy that can not keep them is connected. */
export const METRICS_WITHOUT_FILTER: Analyzer<Telemetry> = {
  kinds: ['Telemetry'],
  *findings({ spec, namespace }, facts) {
    if ((spec.metrics ?? []).length === 0) return;
    if (!facts.hasEnvoyWithoutMetrics(namespace === facts.rootNamespace() ? '*' : namespace)) return;
    yield placeOf(['spec', 'metrics']).info(
      "connected proxies without Istio's filter for metrics keep none of these: they have Envoy's own statistics",
      'IST0133',
    );
  },
};
