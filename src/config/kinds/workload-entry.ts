import type { WorkloadEntry } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { WorkloadEntry as schema } from '../schema/workload-entry.ts';
import { isUnixAddress, unixAddressProblem } from './addresses.ts';
import { hostProblem, isDnsLabel, labelFindings, problem } from './names.ts';

/** What an entry must be, by where it stands. */
export interface EntryRules {
  /** Names of the ports of the service that it is an endpoint of; undefined for an entry by itself. */
  readonly servicePorts?: ReadonlySet<string>;
  /** Whether its address may be a host name. */
  readonly mayBeHost: boolean;
  /** Whether its address may be a Unix socket. */
  readonly mayBeUnix: boolean;
}

function addressProblem(address: string, rules: EntryRules): string | undefined {
  if (rules.mayBeUnix && isUnixAddress(address)) return unixAddressProblem(address);
  if (isIpAddress(address) || (rules.mayBeHost && hostProblem(address) === undefined)) return undefined;
  return rules.mayBeHost
    ? `"${address}" is neither an IP address nor a host name`
    : `"${address}" is not an IP address, as resolution STATIC needs; with resolution DNS it may be a host name`;
}

export function* entryPortsFindings(
  at: Place,
  ports: Readonly<Record<string, number>>,
  servicePorts: ReadonlySet<string> | undefined,
): Generator<Finding> {
  for (const name of Object.keys(ports)) {
    if (servicePorts !== undefined && !servicePorts.has(name)) {
      const known = servicePorts.size === 0 ? 'has none' : `has ${[...servicePorts].join(', ')}`;
      yield at.at(name).error(`"${name}" is not a port of the service, which ${known}`);
    }
    if (!isDnsLabel(name))
      yield at.at(name).error(`"${name}" is not the name of a port: letters, digits and hyphens are`);
  }
}

/** @see istio/istio pkg/config/validation/validation.go `validateWorkloadEntry` */
export function* workloadEntryFindings(at: Place, entry: WorkloadEntry, rules: EntryRules): Generator<Finding> {
  const { address = '', network = '', ports = {} } = entry;
  if (address === '') {
    if (network === '') {
      yield at.at('address').error('is required, unless a network is given through whose gateway it is reached');
      return;
    }
    yield at.warning(`has no address: it is reached through a gateway of the network "${network}"`);
  } else {
    yield* problem(at.at('address'), addressProblem(address, rules));
  }
  const unix = rules.mayBeUnix && isUnixAddress(address);
  if (unix && entry.ports !== undefined) yield at.at('ports').error('a Unix socket has no ports: remove them');
  yield* entryPortsFindings(at.at('ports'), ports, rules.servicePorts);
  yield* labelFindings(at.at('labels'), entry.labels);
  if (unix && rules.servicePorts !== undefined && rules.servicePorts.size !== 1) {
    yield at.at('address').error('a Unix socket serves one port, so the service must have exactly one');
  }
}

export const WORKLOAD_ENTRY: KindDefinition<WorkloadEntry> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'WorkloadEntry',
  plural: 'workloadentries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* workloadEntryFindings(at(), spec, { mayBeHost: true, mayBeUnix: true });
  },
});
