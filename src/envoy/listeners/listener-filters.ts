import type { envoy } from '#generated/proto/types.ts';
import { packed } from '../../proto/message.ts';
import { TLS_TRANSPORT } from './chain-match.ts';

type ListenerFilter = envoy.config.listener.v3.ListenerFilter;
type Predicate = envoy.config.listener.v3.ListenerFilterChainMatchPredicate;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** Finds out whether a connection is TLS, and for which server and protocols. A client's hello seldom needs more at first. */
export const TLS_INSPECTOR: ListenerFilter = {
  name: 'envoy.filters.listener.tls_inspector',
  typedConfig: packed('envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector', {
    initialReadBufferSize: 512,
  }),
};

/** Finds out whether a plaintext connection is HTTP. It waits for the client to speak. */
export const HTTP_INSPECTOR: ListenerFilter = {
  name: 'envoy.filters.listener.http_inspector',
  typedConfig: packed('envoy.extensions.filters.listener.http_inspector.v3.HttpInspector', {}),
};

/** Finds where a redirected connection was meant to go. */
export const ORIGINAL_DESTINATION: ListenerFilter = {
  name: 'envoy.filters.listener.original_dst',
  typedConfig: packed('envoy.extensions.filters.listener.original_dst.v3.OriginalDst', {}),
};

/** Keeps the caller's address towards the workload; the mark is what the capture rules of the machine look for. */
export const ORIGINAL_SOURCE: ListenerFilter = {
  name: 'envoy.filters.listener.original_src',
  typedConfig: packed('envoy.extensions.filters.listener.original_src.v3.OriginalSrc', { mark: 1337 }),
};

/** Takes the PROXY protocol's header off, in which a load balancer says who the client is. */
export const PROXY_PROTOCOL: ListenerFilter = {
  name: 'envoy.filters.listener.proxy_protocol',
  typedConfig: packed('envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol', {}),
};

/** Which inspectors a port's filter chains need. Port 0 stands for all that have no chain of their own. */
interface Inspected {
  readonly tls: boolean;
  readonly http: boolean;
}

function inspectedPorts(chains: readonly FilterChain[]): ReadonlyMap<number, Inspected> {
  const ports = new Map<number, Inspected>();
  for (const { filterChainMatch } of chains) {
    const port = filterChainMatch?.destinationPort ?? 0;
    const known = ports.get(port);
    const protocols = filterChainMatch?.applicationProtocols ?? [];
    ports.set(port, {
      tls: known?.tls === true || filterChainMatch?.transportProtocol === TLS_TRANSPORT,
      http: known?.http === true || protocols.includes('http/1.1') || protocols.includes('h2c'),
    });
  }
  return ports;
}

function anyOfPorts(ports: readonly number[]): Predicate {
  const rules = ports.map((port): Predicate => ({ destinationPortRange: { start: port, end: port + 1 } }));
  const [only] = rules;
  return only !== undefined && rules.length === 1 ? only : { orMatch: { rules } };
}

/** The filter, but not on these ports. */
function disabledOn(filter: ListenerFilter, ports: readonly number[]): ListenerFilter {
  return ports.length === 0 ? filter : { ...filter, filterDisabled: anyOfPorts(ports) };
}

/** The filter, on these ports alone. */
function enabledOn(filter: ListenerFilter, ports: readonly number[]): ListenerFilter {
  return ports.length === 0 ? filter : { ...filter, filterDisabled: { notMatch: anyOfPorts(ports) } };
}

function portsWith(ports: ReadonlyMap<number, Inspected>, test: (inspected: Inspected) => boolean): readonly number[] {
  return [...ports]
    .filter(([, inspected]) => test(inspected))
    .map(([port]) => port)
    .sort((a, b) => a - b);
}

/**
 * The inspectors that an inbound listener's chains need, TLS first, each only where some chain asks for it: a port that is
 * known to be TCP must not wait for its client to speak.
 *
 * @see istio/istio pilot/pkg/networking/core/listener_inbound.go `populateListenerFilters`
 */
export function inspectors(chains: readonly FilterChain[]): readonly ListenerFilter[] {
  const ports = inspectedPorts(chains);
  const withTls = portsWith(ports, ({ tls }) => tls);
  const withoutTls = portsWith(ports, ({ tls }) => !tls).filter((port) => port !== 0);
  const withHttp = portsWith(ports, ({ http }) => http);
  const tls =
    withTls.length === 0
      ? []
      : [withTls.includes(0) ? disabledOn(TLS_INSPECTOR, withoutTls) : enabledOn(TLS_INSPECTOR, withTls)];
  const http =
    withHttp.length === 0
      ? []
      : [
          disabledOn(
            HTTP_INSPECTOR,
            portsWith(ports, (port) => !port.http),
          ),
        ];
  return [...tls, ...http];
}
