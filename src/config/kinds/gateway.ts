import type { Gateway, Port, Server } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Gateway as schema } from '../schema/gateway.ts';
import { ipProblem, isUnixAddress, portProblem, unixAddressProblem } from './addresses.ts';
import { gatewayHostFindings } from './exposed-hosts.ts';
import { isDnsLabel, problem } from './names.ts';
import { protocolProblem, protocolTraits } from './protocols.ts';
import { reservedPortFindings } from './reserved-ports.ts';
import { serverTlsFindings } from './server-tls.ts';

function* portFindings(at: Place, port: Port, bind: string): Generator<Finding> {
  yield* problem(at.at('protocol'), protocolProblem(port.protocol));
  if (port.number > 0 || !isUnixAddress(bind)) yield* problem(at.at('number'), portProblem(port.number));
  if ((port.targetPort ?? 0) > 0) yield at.at('targetPort').error('a gateway has no target port: remove it');
  if (port.name === '') yield at.at('name').error('the port needs a name');
}

function* bindFindings(at: Place, bind: string, port: Port): Generator<Finding> {
  if (bind === '') return;
  yield* problem(at, isUnixAddress(bind) ? unixAddressProblem(bind) : ipProblem(bind));
  if (isUnixAddress(bind) && port.number !== 0) yield at.error('a Unix socket has no port: write "number: 0"');
}

/** Whether TLS settings of a plain HTTP server do nothing but redirect. */
function onlyRedirects({ tls = {} }: Server): boolean {
  const passes = tls.mode === undefined || tls.mode === 'PASSTHROUGH' || tls.mode === 'AUTO_PASSTHROUGH';
  return passes && ![tls.caCertificates, tls.privateKey, tls.serverCertificate].some(Boolean);
}

function* tlsForProtocol(at: Place, server: Server): Generator<Finding> {
  const { protocol } = server.port;
  const { tls, http } = protocolTraits(protocol);
  if (tls && server.tls === undefined) {
    yield at.error(`protocol ${protocol} needs "tls": write a mode, with certificates if it ends TLS`);
  } else if (!tls && server.tls !== undefined && !(http && onlyRedirects(server))) {
    yield at.at('tls').error(`protocol ${protocol} has no TLS: remove it, or write protocol HTTPS or TLS`);
  }
}

/** @see istio/istio pkg/config/validation/validation.go `validateServer` */
function* serverFindings(at: Place, server: Server): Generator<Finding> {
  const { port, bind = '' } = server;
  for (const [i, host] of server.hosts.entries()) yield* gatewayHostFindings(at.at('hosts', i), host);
  const ofPort = [...portFindings(at.at('port'), port, bind)];
  yield* ofPort;
  yield* reservedPortFindings(at.at('port', 'number'), port.number, 'gateway');
  yield* bindFindings(at.at('bind'), bind, port);
  yield* serverTlsFindings(at.at('tls'), server.tls);
  if (ofPort.length === 0) yield* tlsForProtocol(at, server);
  if (!protocolTraits(port.protocol).http && server.tls?.httpsRedirect) {
    yield at.at('tls', 'httpsRedirect').warning('only HTTP can be redirected: put it on the server of the HTTP port');
  }
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateGateway` */
export const GATEWAY: KindDefinition<Gateway> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'Gateway',
  plural: 'gateways',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec: { servers = [] }, name, at, atMetadata }) {
    if (!isDnsLabel(name)) yield atMetadata('name').error(`"${name}" is not a name of a gateway: it can have no dots`);
    if (servers.length === 0) yield at('servers').error('a gateway needs at least one server');
    const names = new Set<string>();
    for (const [i, server] of servers.entries()) {
      const place = at('servers', i);
      yield* serverFindings(place, server);
      if (names.has(server.port.name)) {
        yield place.at('port', 'name').error(`a port "${server.port.name}" stands before: give each its own name`);
      }
      names.add(server.port.name);
    }
  },
});
