import type { ReadinessProbe, WorkloadGroup } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { WorkloadGroup as schema } from '../schema/workload-group.ts';
import { isUnixAddress, unixAddressProblem } from './addresses.ts';
import { labelFindings, problem } from './names.ts';
import { entryPortsFindings } from './workload-entry.ts';

/** @see istio/istio pkg/config/validation/validation.go `validateReadinessProbe` */
export function* readinessProbeFindings(at: Place, probe: ReadinessProbe | undefined): Generator<Finding> {
  if (probe === undefined) return;
  const { httpGet, tcpSocket, exec } = probe;
  if ((httpGet ?? tcpSocket ?? exec ?? probe.grpc) === undefined) {
    yield at.error('says not how to probe: set httpGet, tcpSocket, exec or grpc');
  }
  if (probe.grpc !== undefined && probe.grpc.port === undefined) yield at.at('grpc', 'port').error('is required');
  const { scheme = '' } = httpGet ?? {};
  if (!['', 'HTTP', 'HTTPS'].includes(scheme)) {
    yield at.at('httpGet', 'scheme').error(`"${scheme}" must be "HTTP" or "HTTPS"`);
  }
  for (const [i, { name = '' }] of (httpGet?.httpHeaders ?? []).entries()) {
    if (!/^[-A-Za-z0-9]+$/.test(name)) {
      yield at.at('httpGet', 'httpHeaders', i, 'name').error(`"${name}" is not the name of a header`);
    }
  }
}

export const WORKLOAD_GROUP: KindDefinition<WorkloadGroup> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'WorkloadGroup',
  plural: 'workloadgroups',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec: { metadata, template, probe }, at }) {
    const { address = '', ports } = template;
    yield* labelFindings(at('metadata', 'labels'), metadata?.labels);
    yield* problem(at('template', 'address'), unixAddressProblem(address));
    if (isUnixAddress(address) && ports !== undefined) {
      yield at('template', 'ports').error('a Unix socket has no ports: remove them');
    }
    yield* entryPortsFindings(at('template', 'ports'), ports ?? {}, undefined);
    yield* readinessProbeFindings(at('probe'), probe);
  },
});
