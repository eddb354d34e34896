import type { ExtensionProvider, MeshConfig } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import type { MeshFacts } from './facts.ts';
import { listed } from './names.ts';

interface Remote {
  readonly service?: string;
  readonly port?: number;
}

/** A provider is one of many forms, most of which name a service; a sampler of traces may name another. */
function* remotes(provider: ExtensionProvider): Generator<readonly [path: readonly string[], remote: Remote]> {
  for (const [form, value] of Object.entries(provider) as readonly (readonly [string, unknown])[]) {
    if (typeof value === 'object' && value !== null) yield [[form], value];
  }
  const api = provider.opentelemetry?.dynatraceSampler?.httpService;
  if (api !== undefined) yield [['opentelemetry', 'dynatraceSampler', 'httpService'], api];
}

const UNREACHED = 'so the provider can not be reached';

function unknownHost(host: string, facts: MeshFacts): string {
  const near = nearestName(host, facts.hostnames(facts.rootNamespace()));
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : isIpAddress(host)
        ? 'an address is none: define it by a ServiceEntry'
        : 'define it by a ServiceEntry';
  return `there is no service "${host}", ${UNREACHED}; ${hint}`;
}

function* remoteFindings(at: Place, { service = '', port = 0 }: Remote, facts: MeshFacts): Generator<Finding> {
  if (service === '') return;
  const slash = service.indexOf('/');
  const host = service.slice(slash + 1);
  const owners = facts.ownersOf(host);
  const owner = slash < 0 ? (owners[0] ?? '') : service.slice(0, slash);
  let problem: string | undefined;
  if (owners.length === 0) problem = unknownHost(host, facts);
  else if (!owners.includes(owner)) {
    problem = `namespace ${owner} has no service "${host}", ${UNREACHED}; it is in ${listed(owners)}`;
  } else if (slash < 0 && owners.length > 1) {
    const names = owners.map((namespace) => `${namespace}/${host}`).join(' or ');
    problem = `several namespaces have "${host}", ${UNREACHED}: write ${names}`;
  }
  if (problem !== undefined) {
    yield at.at('service').warning(problem, 'IST0101');
    return;
  }
  const ports = facts.service(host, owner)?.ports ?? [];
  if (ports.includes(port)) return;
  yield at.at('port').warning(`"${host}" has no port ${port}, but ${listed(ports.map(String))}`, 'IST0101');
}

/** Services of extension providers that there are not: traces and logs are lost, and what they should allow is denied. */
export const PROVIDER_SERVICES: Analyzer<MeshConfig> = {
  kinds: ['MeshConfig'],
  *findings({ spec }, facts) {
    for (const [i, provider] of (spec.extensionProviders ?? []).entries()) {
      for (const [path, remote] of remotes(provider)) {
        yield* remoteFindings(placeOf(['extensionProviders', i, ...path]), remote, facts);
      }
    }
  },
};
