import type { ClientTLSSettings, DestinationRule } from '#generated/config/specs.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import { isTls, parseProtocol } from '../protocol.ts';
import { fullHostname } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { ServerSide } from './facts.ts';
import { listed } from './names.ts';

/** A policy's TLS, and the ports that it is for; undefined: all that no policy of their own is for. */
interface PlacedTls {
  readonly at: Place;
  readonly tls: ClientTLSSettings;
  readonly port?: number;
}

function* placedTls({ trafficPolicy, subsets = [] }: DestinationRule): Generator<PlacedTls> {
  const at = placeOf(['spec']);
  const policies = [
    { at: at.at('trafficPolicy'), policy: trafficPolicy },
    ...subsets.map((subset, i) => ({ at: at.at('subsets', i, 'trafficPolicy'), policy: subset.trafficPolicy })),
  ];
  for (const { at: place, policy } of policies) {
    if (policy?.tls !== undefined) yield { at: place.at('tls', 'mode'), tls: policy.tls };
    for (const [i, { port, tls }] of (policy?.portLevelSettings ?? []).entries()) {
      if (tls === undefined || port?.number === undefined) continue;
      yield { at: place.at('portLevelSettings', i, 'tls', 'mode'), tls, port: port.number };
    }
  }
}

function* mutualTlsFindings({ at, tls }: PlacedTls, host: string, server: ServerSide): Generator<Finding> {
  const { mode = 'DISABLE' } = tls;
  if (!server.inMesh || server.mode === undefined) return;
  const where = `the PeerAuthentication for namespace ${server.namespace}`;
  if (server.mode === 'STRICT' && mode !== 'ISTIO_MUTUAL') {
    const sent = mode === 'DISABLE' ? 'sends plaintext' : 'speaks TLS of its own';
    yield at.warning(
      `${where} asks for mutual TLS, and this rule ${sent} to "${host}": sidecars there refuse it; write ISTIO_MUTUAL, or leave tls out`,
      'VM0207',
    );
  } else if (server.mode === 'DISABLE' && mode === 'ISTIO_MUTUAL') {
    yield at.warning(
      `${where} switches mutual TLS off, and this rule speaks it to "${host}": sidecars there do not understand it; leave tls out`,
      'VM0207',
    );
  }
}

/** TLS around what clients encrypt themselves, where no rule sends requests there, which are encrypted for the first time. */
function* doubleTlsFindings({ at, tls, port }: PlacedTls, settled: ReadonlySet<number>, server: ServerSide) {
  const { mode = 'DISABLE' } = tls;
  if (mode !== 'SIMPLE' && mode !== 'MUTUAL') return;
  const encrypted = server.ports
    .filter(({ protocol }) => isTls(parseProtocol(protocol)))
    .map(({ number }) => number)
    .filter((number) => (port === undefined ? !settled.has(number) : number === port));
  if (encrypted.length === 0) return;
  const ports = `port${encrypted.length === 1 ? '' : 's'} ${listed(encrypted.map(String))}`;
  yield at.warning(
    `what clients send to ${ports} is encrypted by them already, by its protocol, and would be once more: give the port protocol HTTP or TCP if the proxy is to encrypt, or set tls by portLevelSettings`,
    'VM0208',
  );
}

/** TLS of clients that servers do not take. */
export const CLIENT_TLS: Analyzer<DestinationRule> = {
  kinds: ['DestinationRule'],
  *findings({ spec, namespace }, facts) {
    const placed = [...placedTls(spec)];
    if (placed.length === 0) return;
    const host = fullHostname(spec.host, namespace, facts.domainSuffix);
    const server = facts.serverSide(host, namespace);
    if (server === undefined) return;
    const settled = new Set(placed.flatMap(({ port }) => port ?? []));
    for (const one of placed) {
      yield* mutualTlsFindings(one, host, server);
      if (!facts.isSentRequests(host)) yield* doubleTlsFindings(one, settled, server);
    }
  },
};
