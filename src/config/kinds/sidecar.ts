import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  Sidecar,
  SidecarPort,
} from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Sidecar as schema } from '../schema/sidecar.ts';
import { ipProblem, isUnixAddress, portProblem, splitHostPort, unixAddressProblem } from './addresses.ts';
import { connectionPoolFindings } from './connection-pool.ts';
import { destinationFindings } from './destination.ts';
import { namespacedHostFindings } from './exposed-hosts.ts';
import { hostProblem, isDnsLabel, problem } from './names.ts';
import { protocolProblem, protocolTraits } from './protocols.ts';
import { reservedPortFindings } from './reserved-ports.ts';
import { workloadSelectorFindings } from './selectors.ts';
import { serverTlsFindings } from './server-tls.ts';

function* portFindings(at: Place, { name = '', protocol = '', targetPort = 0 }: SidecarPort): Generator<Finding> {
  if (name !== '' && !isDnsLabel(name)) {
    yield at.at('name').error(`"${name}" is not the name of a port: letters, digits and hyphens are`);
  }
  if (protocol !== '') yield* problem(at.at('protocol'), protocolProblem(protocol));
  if (targetPort > 0) yield at.at('targetPort').error('a Sidecar has no target port: "defaultEndpoint" says where to');
}

function defaultEndpointProblem(endpoint: string): string | undefined {
  if (isUnixAddress(endpoint)) return unixAddressProblem(endpoint);
  const parts = splitHostPort(endpoint);
  if (parts === undefined || !['', '127.0.0.1', '0.0.0.0', '::1', '::'].includes(parts.host)) {
    return `"${endpoint}" must be 127.0.0.1:port, [::1]:port, 0.0.0.0:port, [::]:port or unix://path`;
  }
  if (!/^\d+$/.test(parts.port)) return `"${parts.port}" is not a port`;
  return portProblem(Number(parts.port));
}

function* ingressTlsFindings(at: Place, listener: IstioIngressListener): Generator<Finding> {
  const { tls, port } = listener;
  if (tls === undefined) return;
  for (const name of [
    'subjectAltNames',
    'httpsRedirect',
    'credentialName',
    'credentialNames',
    'tlsCertificates',
  ] as const) {
    const value = tls[name];
    if (value !== undefined && value !== '' && value !== false) {
      yield at.at(name).error('is not supported in a Sidecar: remove it');
    }
  }
  if (tls.mode === 'ISTIO_MUTUAL' || tls.mode === 'AUTO_PASSTHROUGH') {
    yield at.at('mode').error(`${tls.mode} is not supported in a Sidecar: leave "tls" out to use the mesh's own`);
  }
  if (!protocolTraits(port.protocol).tls)
    yield at.error(`protocol ${port.protocol ?? ''} has no TLS: write HTTPS or TLS`);
  yield* serverTlsFindings(at, tls);
}

function* ingressFindings(at: Place, listener: IstioIngressListener): Generator<Finding> {
  const { port, bind = '', defaultEndpoint = '', connectionPool } = listener;
  yield* portFindings(at.at('port'), port);
  yield* problem(at.at('port', 'number'), portProblem(port.number ?? 0));
  yield* reservedPortFindings(at.at('port', 'number'), port.number, 'sidecar');
  if (bind !== '') yield* problem(at.at('bind'), ipProblem(bind));
  if (defaultEndpoint !== '') yield* problem(at.at('defaultEndpoint'), defaultEndpointProblem(defaultEndpoint));
  yield* ingressTlsFindings(at.at('tls'), listener);
  yield* connectionPoolFindings(at.at('connectionPool'), connectionPool);
  if (connectionPool?.http !== undefined && !protocolTraits(port.protocol).http) {
    yield at.at('connectionPool', 'http').warning(`has no effect on protocol ${port.protocol ?? 'TCP'}`);
  }
}

function* egressPortFindings(
  at: Place,
  { port = {}, bind = '', captureMode }: IstioEgressListener,
): Generator<Finding> {
  yield* portFindings(at.at('port'), port);
  if ((port.number ?? 0) !== 0) {
    if (bind !== '') yield* problem(at.at('bind'), ipProblem(bind));
    return;
  }
  if (!isUnixAddress(bind)) yield at.at('port').error('needs a number, or "bind" a Unix socket');
  yield* problem(at.at('bind'), unixAddressProblem(bind));
  if (captureMode === 'IPTABLES')
    yield at.at('captureMode').error('traffic to a Unix socket is not captured: write NONE');
}

/** Egress hosts that others of the same listener already take in. */
function* repeatedHosts(at: Place, hosts: readonly string[], namespace: string): Generator<Finding> {
  const byNamespace = new Map<string, Set<string>>();
  for (const [i, text] of hosts.entries()) {
    const [written = '', ...rest] = text.split('/');
    if (rest.length === 0 || written.startsWith('~')) continue;
    const owner = written === '.' ? namespace : written;
    const host = rest.join('/');
    const seen = byNamespace.get(owner) ?? new Set();
    if (seen.has(host) || seen.has('*') || (host === '*' && seen.size > 0)) {
      yield at.at(i).warning(`"${text}" overlaps with a host before it: keep the wider one`);
    }
    byNamespace.set(owner, seen.add(host));
  }
  if (byNamespace.get('*')?.has('*') && byNamespace.size > 1) {
    yield at.warning('"*/*" takes in all hosts: the others have no effect');
  }
}

function* egressFindings(at: Place, listeners: readonly IstioEgressListener[], namespace: string): Generator<Finding> {
  const bound = new Set<string>();
  for (const [i, listener] of listeners.entries()) {
    const { port, bind = '', hosts } = listener;
    const place = at.at(i);
    if (port === undefined) {
      if (i < listeners.length - 1) yield place.error('only the last listener may have no port: it takes what is left');
    } else {
      yield* egressPortFindings(place, listener);
      const key = (port.number ?? 0) === 0 ? bind : String(port.number);
      if (bound.has(key)) yield place.at('port').error(`a listener on ${key} stands before: join their hosts`);
      bound.add(key);
    }
    yield* repeatedHosts(place.at('hosts'), hosts, namespace);
    for (const [j, host] of hosts.entries()) yield* namespacedHostFindings(place.at('hosts', j), host);
  }
}

function* outboundFindings(at: Place, policy: OutboundTrafficPolicy | undefined): Generator<Finding> {
  const proxy = policy?.egressProxy;
  if (proxy === undefined) return;
  if (policy?.mode !== 'ALLOW_ANY') {
    yield at.at('egressProxy').error('works with mode ALLOW_ANY alone');
    return;
  }
  yield* problem(at.at('egressProxy', 'host'), hostProblem(proxy.host));
  if (proxy.port === undefined) yield at.at('egressProxy', 'port').error('is required');
  else yield* destinationFindings(at.at('egressProxy'), proxy);
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateSidecar` */
export const SIDECAR: KindDefinition<Sidecar> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'Sidecar',
  plural: 'sidecars',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, namespace, at }) {
    const { ingress = [], egress = [], outboundTrafficPolicy, inboundConnectionPool } = spec;
    yield* workloadSelectorFindings(at('workloadSelector'), spec.workloadSelector);
    const says = ingress.length + egress.length > 0 || (outboundTrafficPolicy ?? inboundConnectionPool) !== undefined;
    if (!says) {
      yield at().error('says nothing: set ingress, egress, outboundTrafficPolicy or inboundConnectionPool');
      return;
    }
    const numbers = new Set<number>();
    for (const [i, listener] of ingress.entries()) {
      const { number = 0 } = listener.port;
      yield* ingressFindings(at('ingress', i), listener);
      if (numbers.has(number))
        yield at('ingress', i, 'port', 'number').error(`a listener on port ${number} stands before`);
      numbers.add(number);
    }
    yield* connectionPoolFindings(at('inboundConnectionPool'), inboundConnectionPool);
    yield* egressFindings(at('egress'), egress, namespace);
    yield* outboundFindings(at('outboundTrafficPolicy'), outboundTrafficPolicy);
  },
});
