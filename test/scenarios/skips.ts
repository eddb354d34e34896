import type { Check, Scenario } from './scenario.ts';

/** Kinds that need what is not there yet, with what that is. */
const NEEDED_BY_KIND: Readonly<Record<string, string>> = {
  sds: 'an agent',
  mtls_pair: 'agents',
  mtls_load: 'agents',
  registry: 'an instance registry',
  mcp_server: 'a server of MCP that forwards',
};

/** Features that the findings, metrics and states of a scenario are about and that are not there yet. */
const NEEDED_BY_FEATURE: Readonly<Record<string, string>> = {
  'instance registry': 'an instance registry',
};
const ABOUT_FEATURES: ReadonlySet<string> = new Set(['diag', 'metric', 'debug', 'status']);

/** What a check needs that can be told before the scenario runs; undefined: nothing. */
export function neededBefore(scenario: Scenario, check: Check): string | undefined {
  const byKind = NEEDED_BY_KIND[check.kind];
  if (byKind !== undefined) return byKind;
  if (!ABOUT_FEATURES.has(check.kind)) return undefined;
  return scenario.covers.map((feature) => NEEDED_BY_FEATURE[feature]).find((needed) => needed !== undefined);
}
