import type { AccessLogging } from '#generated/config/specs.ts';
import { compareStrings } from '../../base/order.ts';
import { isAbout, providerNames, type TrafficMode } from './mode.ts';

/** What is done with the log of one provider. */
export interface LoggedBy {
  readonly provider: string;
  /** It was switched off; that it was named still counts. */
  readonly disabled: boolean;
  /** A CEL expression. */
  readonly filter?: string;
}

interface Chosen {
  readonly disabled: boolean;
  readonly filter?: string;
}

export interface AccessLoggingInput {
  /** `accessLogging` of the workload's Telemetries that have any, wider ones first. */
  readonly levels: readonly (readonly AccessLogging[])[];
  /** MeshConfig `defaultProviders.accessLogging`. */
  readonly defaults: readonly string[];
  readonly mode: TrafficMode;
}

/** Providers of the narrowest level that names any; the others are out of it. */
function providersInForce({ levels, defaults, mode }: AccessLoggingInput): ReadonlySet<string> {
  const named = levels.map((level) =>
    level.filter(({ match }) => isAbout(match, mode)).flatMap(({ providers }) => providerNames(providers)),
  );
  return new Set(named.findLast((names) => names.length > 0) ?? defaults);
}

/** The last filter that is written beside a provider's name counts. Where no name is written, a filter has no effect. */
function filtersByProvider({ levels, mode }: AccessLoggingInput): ReadonlyMap<string, string | undefined> {
  const filters = new Map<string, string | undefined>();
  for (const { match, providers, filter } of levels.flat()) {
    if (!isAbout(match, mode)) continue;
    for (const name of providerNames(providers)) filters.set(name, filter?.expression);
  }
  return filters;
}

/**
 * The providers that log traffic, in order of names.
 *
 * @returns empty where nothing says, so that MeshConfig's `accessLogFile` and its fellows count
 * @see istio/istio pilot/pkg/model/telemetry.go `mergeLogs`
 */
export function accessLogging(input: AccessLoggingInput): readonly LoggedBy[] {
  const { levels, defaults, mode } = input;
  const chosen = new Map<string, Chosen>();
  if (levels.length === 0) for (const name of defaults) chosen.set(name, { disabled: false });
  const inForce = providersInForce(input);
  const filters = filtersByProvider(input);
  // Providers are inherited along the list, whatever traffic an element is about.
  let inherited = defaults;
  for (const { match, providers, disabled = false } of levels.flat()) {
    const named = providerNames(providers);
    inherited = named.length > 0 ? named : inherited;
    if (!isAbout(match, mode)) continue;
    for (const name of inherited.filter((provider) => inForce.has(provider))) {
      const filter = filters.get(name);
      chosen.set(name, disabled || filter === undefined ? { disabled } : { disabled, filter });
    }
  }
  return [...chosen]
    .map(([provider, choice]) => ({ provider, ...choice }))
    .sort((a, b) => compareStrings(a.provider, b.provider));
}
