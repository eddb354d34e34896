import type { ServiceEntry, ServiceEntryResolution, ServicePort } from '#generated/config/specs.ts';
import { isWildcardHost } from '../../base/host.ts';
import type { Labels } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { ServiceEntry as schema } from '../schema/service-entry.ts';
import { subnetProblem } from './addresses.ts';
import { hostProblem, isDnsLabel, isPartialWildcard, problem, wildcardHostProblem } from './names.ts';
import { protocolProblem, protocolTraits } from './protocols.ts';
import { exportToFindings, workloadSelectorFindings } from './selectors.ts';
import { workloadEntryFindings } from './workload-entry.ts';

const USE_WAYPOINT = 'istio.io/use-waypoint';
const ALLOCATES_ADDRESS = 'networking.istio.io/enable-autoallocate-ip';

function* hostsFindings(at: Place, { hosts, resolution = 'NONE' }: ServiceEntry): Generator<Finding> {
  for (const [i, host] of hosts.entries()) {
    const wrong =
      host === '*' ? 'a service can not have every host: name it, or a domain as "*.example.com"' : undefined;
    yield* problem(at.at(i), wrong ?? wildcardHostProblem(host));
    if (resolution !== 'DYNAMIC_DNS' && isPartialWildcard(host)) {
      yield at.at(i).warning(`the wildcard of "${host}" stands for a part of a label, which only DYNAMIC_DNS resolves`);
    }
  }
}

function* addressesFindings(at: Place, { addresses = [], resolution = 'NONE' }: ServiceEntry): Generator<Finding> {
  for (const [i, address] of addresses.entries()) {
    yield* problem(at.at(i), subnetProblem(address));
    if (address.includes('/') && resolution !== 'NONE' && resolution !== 'STATIC') {
      yield at.at(i).error(`a block of addresses works with resolution NONE and STATIC, not with ${resolution}`);
    }
  }
}

/** A TCP port is told from others by addresses; these services are given none either. */
function* unaddressedFindings(at: Place, spec: ServiceEntry, labels: Labels): Generator<Finding> {
  const { addresses, resolution = 'NONE', ports = [] } = spec;
  const optsOut = labels[ALLOCATES_ADDRESS]?.toLowerCase() === 'false';
  if (addresses !== undefined || (resolution !== 'NONE' && !optsOut)) return;
  const i = ports.findIndex(({ protocol = '' }) => protocol === '' || protocol === 'TCP');
  if (i < 0) return;
  const why = optsOut ? `the label ${ALLOCATES_ADDRESS} says so` : 'its resolution is NONE';
  yield at.at('ports', i).warning(`a TCP port needs addresses, and none are given to it, as ${why}: write them`);
}

function* portFindings(at: Place, { name, protocol = '' }: ServicePort): Generator<Finding> {
  if (!isDnsLabel(name))
    yield at.at('name').error(`"${name}" is not the name of a port: letters, digits and hyphens are`);
  if (protocol !== '') yield* problem(at.at('protocol'), protocolProblem(protocol));
}

function* portsFindings(at: Place, spec: ServiceEntry): Generator<Finding> {
  const ports = spec.ports ?? [];
  for (const [i, port] of ports.entries()) {
    const place = at.at(i);
    yield* portFindings(place, port);
    const before = ports.slice(0, i);
    if (before.some(({ name }) => name === port.name)) {
      yield place.at('name').error(`a port "${port.name}" stands before: give each its own name`);
    }
    if (before.some(({ number }) => number === port.number)) {
      yield place.at('number').error(`a port ${port.number} stands before: each number may stand once`);
    }
  }
}

function* staticFindings(at: Place, spec: ServiceEntry, servicePorts: ReadonlySet<string>): Generator<Finding> {
  for (const [i, endpoint] of (spec.endpoints ?? []).entries()) {
    const rules = { servicePorts, mayBeHost: false, mayBeUnix: true };
    yield* workloadEntryFindings(at.at('endpoints', i), endpoint, rules);
  }
}

function* dnsFindings(at: Place, spec: ServiceEntry, servicePorts: ReadonlySet<string>): Generator<Finding> {
  const { hosts, endpoints = [], resolution } = spec;
  if (endpoints.length === 0) {
    const i = hosts.findIndex((host) => hostProblem(host) !== undefined);
    const host = hosts[i];
    if (host !== undefined && wildcardHostProblem(host) === undefined) {
      yield at
        .at('hosts', i)
        .error(`"${host}" can not be looked up by ${resolution}: name a host, add endpoints, or write resolution NONE`);
    }
  }
  if (resolution === 'DNS_ROUND_ROBIN' && endpoints.length > 1) {
    yield at.at('endpoints', 1).error('DNS_ROUND_ROBIN resolves one name: keep one endpoint');
  }
  for (const [i, endpoint] of endpoints.entries()) {
    const rules = { servicePorts, mayBeHost: true, mayBeUnix: false };
    yield* workloadEntryFindings(at.at('endpoints', i), endpoint, rules);
    if ((endpoint.address ?? '') === '' && endpoint.network !== undefined) {
      yield at.at('endpoints', i).error(`${resolution} needs an address to resolve: with a network alone write STATIC`);
    }
  }
  const tcp = (spec.ports ?? []).findIndex(({ protocol }) => protocolTraits(protocol).tcp);
  if (spec.addresses !== undefined && tcp >= 0 && hosts.length > 1) {
    yield at
      .at('ports', tcp)
      .warning('a TCP port with addresses can not tell the hosts apart: give each its own object');
  }
}

function* dynamicDnsFindings(at: Place, spec: ServiceEntry, labels: Labels): Generator<Finding> {
  for (const [i, host] of spec.hosts.entries()) {
    if (!isWildcardHost(host)) yield at.at('hosts', i).error(`"${host}" needs no DYNAMIC_DNS: write resolution DNS`);
  }
  for (const name of ['addresses', 'endpoints'] as const) {
    if (spec[name] !== undefined) yield at.at(name).error('DYNAMIC_DNS takes the address from the host: remove them');
  }
  for (const [i, { protocol }] of (spec.ports ?? []).entries()) {
    if (protocolTraits(protocol).dynamic) continue;
    yield at.at('ports', i, 'protocol').error('DYNAMIC_DNS works with HTTP, HTTP2, GRPC and TLS');
  }
  const waypoint = labels[USE_WAYPOINT] ?? '';
  if (spec.location === 'MESH_INTERNAL' && waypoint !== '' && !/^none$/i.test(waypoint)) {
    yield at.at('location').error('MESH_INTERNAL does not work with DYNAMIC_DNS and a waypoint');
  }
}

function* resolutionFindings(
  at: Place,
  spec: ServiceEntry,
  resolution: ServiceEntryResolution,
  labels: Labels,
): Generator<Finding> {
  const servicePorts = new Set((spec.ports ?? []).map(({ name }) => name));
  switch (resolution) {
    case 'NONE':
      if (spec.endpoints !== undefined)
        yield at.at('endpoints').error('resolution NONE has no endpoints: write STATIC');
      if (spec.workloadSelector !== undefined) {
        yield at.at('workloadSelector').warning('resolution NONE has no endpoints: write STATIC');
      }
      return;
    case 'STATIC':
      return yield* staticFindings(at, spec, servicePorts);
    case 'DNS':
    case 'DNS_ROUND_ROBIN':
      return yield* dnsFindings(at, spec, servicePorts);
    case 'DYNAMIC_DNS':
      return yield* dynamicDnsFindings(at, spec, labels);
  }
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateServiceEntry` */
export const SERVICE_ENTRY: KindDefinition<ServiceEntry> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'ServiceEntry',
  plural: 'serviceentries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, namespace, labels, at }) {
    const { resolution = 'NONE', hosts, ports = [] } = spec;
    yield* workloadSelectorFindings(at('workloadSelector'), spec.workloadSelector);
    if (spec.workloadSelector !== undefined && spec.endpoints !== undefined) {
      yield at('endpoints').error('only one of workloadSelector and endpoints may be set');
    }
    yield* hostsFindings(at('hosts'), spec);
    yield* addressesFindings(at('addresses'), spec);
    yield* portsFindings(at('ports'), spec);
    yield* unaddressedFindings(at(), spec, labels);
    yield* resolutionFindings(at(), spec, resolution, labels);
    if (resolution !== 'NONE' && hosts.length > 1) {
      const i = ports.findIndex(({ protocol }) => !protocolTraits(protocol).http && !protocolTraits(protocol).tls);
      if (i >= 0) {
        yield at('ports', i).error(
          'several hosts need HTTP or TLS ports, which tell them apart: give each its own object',
        );
      }
    }
    yield* exportToFindings(at('exportTo'), spec.exportTo, namespace, true);
  },
});
