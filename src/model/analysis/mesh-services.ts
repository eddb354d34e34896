import type { ExtensionProvider, MeshConfig } from '#generated/config/specs.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';

/** A provider is one of many forms, most of which name a service. */
function* services(provider: ExtensionProvider): Generator<readonly [form: string, service: string]> {
  for (const [form, value] of Object.entries(provider) as readonly (readonly [string, unknown])[]) {
    const service = (value as { readonly service?: unknown } | null)?.service;
    if (typeof service === 'string' && service !== '') yield [form, service];
  }
}

/** Services of extension providers that there are not: traces and logs are lost, and what they should allow is denied. */
export const PROVIDER_SERVICES: Analyzer<MeshConfig> = {
  kinds: ['MeshConfig'],
  *findings({ spec }, facts) {
    for (const [i, provider] of (spec.extensionProviders ?? []).entries()) {
      for (const [form, written] of services(provider)) {
        const host = written.slice(written.indexOf('/') + 1);
        if (facts.ownersOf(host).length > 0) continue;
        const near = nearestName(host, facts.hostnames(facts.rootNamespace()));
        const hint = near === undefined ? 'define it by a ServiceEntry' : `did you mean "${near}"?`;
        yield placeOf(['extensionProviders', i, form, 'service']).warning(
          `there is no service "${host}", so the provider can not be reached; ${hint}`,
          'IST0101',
        );
      }
    }
  },
};
