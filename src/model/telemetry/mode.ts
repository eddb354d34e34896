import type { ProviderRef } from '#generated/config/specs.ts';

/** As which of the two a workload has traffic; gateways are clients. */
export type TrafficMode = 'CLIENT' | 'SERVER';

interface ModeSelector {
  readonly mode?: TrafficMode | 'CLIENT_AND_SERVER';
}

/** Whether a `match` is about this traffic; without one it is about all. */
export function isAbout(match: ModeSelector | undefined, mode: TrafficMode): boolean {
  return modesOf(match).includes(mode);
}

export function modesOf({ mode = 'CLIENT_AND_SERVER' }: ModeSelector = {}): readonly TrafficMode[] {
  return mode === 'CLIENT_AND_SERVER' ? ['CLIENT', 'SERVER'] : [mode];
}

export function providerNames(providers: readonly ProviderRef[] = []): readonly string[] {
  return providers.map(({ name }) => name);
}
