import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { type CaseProxy, type CorpusCase, expectedResources } from '../../parity/case-files.ts';
import type { Certificate, TestAuthority } from '../../support/certificates.ts';
import { object, objects } from '../../support/json-fields.ts';
import { GATEWAY } from '../../support/network.ts';
import type { Probe } from '../../support/probe.ts';
import { secretsOf } from '../../support/references.ts';
import { isRefused } from './connection-rules.ts';
import type { Request } from './expectation.ts';

function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => object(inner)[key], value);
}

/** A name that a wildcard covers. */
function nameFor(pattern: string): string {
  return pattern === '*' ? 'anything.test' : pattern.replace(/^\*/, 'any').replace(/\*$/, 'test');
}

/** Of one filter chain of a listener. */
interface Chain {
  readonly listener: JsonObject;
  readonly chain: JsonObject;
}

/**
 * One request for each filter chain of a router's listeners: to where it listens, with the server name, the protocols and the
 * certificate that its conditions ask for, and to a host and a path that its routes know. One whose secret does not exist, behind
 * which nobody is, or whose policies refuse the connection, is not answered.
 *
 * @param sds the node has an SDS server: without one there is no TLS with the workload's certificate or with files
 */
export function gatewayRequests(
  corpusCase: CorpusCase,
  proxy: CaseProxy,
  authority: TestAuthority,
  sds: boolean,
): readonly Request[] {
  const listeners = [...expectedResources(corpusCase, proxy, 'lds').values()];
  const routes = expectedResources(corpusCase, proxy, 'rds');
  const secrets = expectedResources(corpusCase, proxy, 'sds');
  const chains = listeners.flatMap((listener) =>
    objects(listener['filterChains']).map((chain): Chain => ({ listener, chain })),
  );
  return chains
    .filter(({ chain }) => (sds || !needsAgent(chain)) && !leadsBack(chain, corpusCase, proxy))
    .map((one) => {
      const probe = probeOf(one, proxy, routes, authority);
      const lacks = secretsOf(one.chain).some((name) => !secrets.has(name));
      const isClosed =
        lacks || endpointsBehind(one.chain, corpusCase, proxy)?.length === 0 || isRefused(one.chain, GATEWAY);
      const expect = isClosed ? { closed: true as const } : { answered: true as const };
      // Only its own addresses lead to the machine.
      const isOutside = proxy.ips.includes(probe.to.replace(/:\d+$/, '').replace(/[[\]]/g, ''));
      return { at: isOutside ? 'world' : 'machine', probe, expect };
    });
}

/** Addresses of what a chain passes connections to; undefined where it routes requests. */
function endpointsBehind(chain: JsonObject, corpusCase: CorpusCase, proxy: CaseProxy): readonly string[] | undefined {
  const filter = objects(chain['filters'])
    .map(({ typedConfig }) => object(typedConfig))
    .find((config) => String(config['@type']).endsWith('.TcpProxy'));
  if (filter === undefined) return undefined;
  const weighted = objects(at(filter, 'weightedClusters', 'clusters')).map(({ name }) => name);
  const clusters = expectedResources(corpusCase, proxy, 'cds');
  const assignments = expectedResources(corpusCase, proxy, 'eds');
  return [filter['cluster'], ...weighted].flatMap((cluster) => {
    const name = String(cluster);
    const assignment = assignments.get(name) ?? object(clusters.get(name)?.['loadAssignment']);
    return objects(assignment['endpoints'])
      .flatMap(({ lbEndpoints }) => objects(lbEndpoints))
      .map((one) => String(at(one, 'endpoint', 'address', 'socketAddress', 'address')));
  });
}

/** Whether connections only lead to the router itself, maybe to the same chain again. */
function leadsBack(chain: JsonObject, corpusCase: CorpusCase, proxy: CaseProxy): boolean {
  const addresses = endpointsBehind(chain, corpusCase, proxy) ?? [];
  return addresses.length > 0 && addresses.every((address) => proxy.ips.includes(address));
}

function needsAgent({ transportSocket }: JsonObject): boolean {
  return /"(default|ROOTCA|file-cert:[^"]*|file-root:[^"]*)"/.test(JSON.stringify(transportSocket ?? {}));
}

function probeOf(
  { listener, chain }: Chain,
  proxy: CaseProxy,
  routes: ReadonlyMap<string, JsonObject>,
  authority: TestAuthority,
): Probe {
  const [pattern] = texts(at(chain, 'filterChainMatch', 'serverNames'));
  const servername = pattern === undefined ? undefined : nameFor(pattern);
  const manager = objects(chain['filters'])
    .map(({ typedConfig }) => object(typedConfig))
    .find((config) => String(config['@type']).endsWith('.HttpConnectionManager'));
  const ends = chain['transportSocket'] !== undefined;
  const isTls = ends || servername !== undefined;
  // Whatever is behind a chain that passes TLS on, speaks HTTP within it.
  const isHttp = manager !== undefined || (isTls && !ends);
  const known = manager && routes.get(String(at(manager, 'rds', 'routeConfigName')));
  return {
    to: placeOf(listener, proxy),
    ...(expectsProxyProtocol(listener) ? { proxyProtocol: true } : {}),
    ...(isHttp ? asked(known, servername) : { protocol: 'tcp' }),
    ...(isTls ? { tls: tlsOf(chain, servername, authority) } : {}),
  };
}

function expectsProxyProtocol({ listenerFilters }: JsonObject): boolean {
  return objects(listenerFilters).some(({ name }) => name === 'envoy.filters.listener.proxy_protocol');
}

function placeOf(listener: JsonObject, { ips }: CaseProxy): string {
  const pipe = at(listener, 'address', 'pipe', 'path');
  if (typeof pipe === 'string') return pipe;
  const { address, portValue } = object(at(listener, 'address', 'socketAddress'));
  const isAll = address === '0.0.0.0' || address === '::';
  const host = isAll ? (ips.find((ip) => ip.includes(':') === (address === '::')) ?? '') : String(address);
  return host.includes(':') ? `[${host}]:${portValue}` : `${host}:${portValue}`;
}

/** A host and a path of the routes: those of the server name when they know it. */
function asked(routes: JsonObject | undefined, servername: string | undefined): Pick<Probe, 'host' | 'path'> {
  const hosts = objects(routes?.['virtualHosts']);
  const has = (host: JsonObject) => texts(host['domains']).some((domain) => nameFor(domain) === servername);
  const host = hosts.find(has) ?? hosts[0];
  const domain = servername ?? nameFor(texts(host?.['domains'])[0] ?? '*');
  const match = object(objects(host?.['routes'])[0]?.['match']);
  const path = match['path'] ?? match['prefix'] ?? match['pathSeparatedPrefix'];
  return { host: domain, path: typeof path === 'string' ? path : '/' };
}

function tlsOf(chain: JsonObject, servername: string | undefined, authority: TestAuthority): NonNullable<Probe['tls']> {
  const context = object(at(chain, 'transportSocket', 'typedConfig'));
  const alpn = texts(at(chain, 'filterChainMatch', 'applicationProtocols'));
  const shown = clientOf(object(context['commonTlsContext']), authority);
  return {
    ...(servername === undefined ? {} : { servername }),
    ...(alpn.length === 0 ? {} : { alpn }),
    ...(context['requireClientCertificate'] === true ? { cert: shown.chain, key: shown.key } : {}),
  };
}

/** A certificate with a name that the server expects of its clients. */
function clientOf(context: JsonObject, authority: TestAuthority): Certificate {
  const conditions = at(context, 'combinedValidationContext', 'defaultValidationContext', 'matchSubjectAltNames');
  const [exact] = objects(conditions).flatMap((matcher) =>
    typeof matcher['exact'] === 'string' ? matcher['exact'] : [],
  );
  const name = exact ?? 'spiffe://cluster.local/ns/default/sa/client';
  return authority.issue(name.startsWith('spiffe:') ? `URI:${name}` : `DNS:${name}`);
}
