import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { type CaseProxy, type CorpusCase, expectedResources } from '../../parity/case-files.ts';
import type { TestAuthority } from '../../support/certificates.ts';
import type { EchoOptions } from '../../support/echo-server.ts';
import { capture, type Namespace, Network } from '../../support/network.ts';
import type { Probe } from '../../support/probe.ts';
import { Resident } from '../../support/resident.ts';
import { boundAddresses, fileModules, fileSecrets, type ServedCase } from '../acceptance.ts';
import { MachineEnvoy } from '../machine-envoy.ts';
import { deviations, type SidecarTraffic } from './expectation.ts';

/** An address of each family, for machines whose proxy has none of it: they reach everybody all the same. */
const OTHER_FAMILY = ['10.255.0.1', 'fd00:255::1'];
/** Servers that the configuration knows by name get addresses from here. */
const NAMED_NETWORK = '198.51.100.';

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Sends the requests of a sidecar through an upstream Envoy in its place. @returns a line for each that went another way */
export async function trafficFailures(
  traffic: SidecarTraffic,
  corpusCase: CorpusCase,
  served: ServedCase,
  authority: TestAuthority,
): Promise<readonly string[]> {
  const proxy = corpusCase.proxies.find(({ name }) => name === traffic.proxy);
  if (proxy === undefined) return [`${corpusCase.name} has no proxy ${traffic.proxy}`];
  using network = new Network();
  const others = OTHER_FAMILY.filter((other) => proxy.ips.every((ip) => ip.includes(':') !== other.includes(':')));
  const machine = network.machine([...proxy.ips, ...others]);
  const bound = boundAddresses(corpusCase, proxy);
  machine.addAddresses(bound.filter((address) => !proxy.ips.includes(address) && !address.startsWith('/')));
  const mode = proxy.metadata['INTERCEPTION_MODE'];
  if (mode === 'REDIRECT' || mode === 'TPROXY') capture(machine, mode);

  await using world = new Resident(network.world);
  await using workload = new Resident(machine);
  const tls = certificateOf(authority, acceptedNames(corpusCase, proxy));
  await settle(world, network.world, traffic, corpusCase, proxy, tls);
  for (const at of traffic.apps ?? []) await workload.listen({ at, tls });

  await using running = await MachineEnvoy.start({
    machine,
    proxy,
    xds: served.xds,
    opt: fileModules(corpusCase, proxy),
    ...(traffic.sds
      ? { authority, fileSecrets: fileSecrets(corpusCase, proxy), etc: { 'certs/crl.pem': authority.revocations() } }
      : {}),
  });
  await running.envoy.untilReady();
  const root = `/proc/${running.envoy.pid}/root`;
  for (const path of pipes(endpointMessages(corpusCase, proxy))) {
    // A link of the machine's root would lead out of it.
    const at = `${root}${path.replace(/^\/var\/run\//, '/run/')}`;
    mkdirSync(dirname(at), { recursive: true, mode: 0o777 });
    await workload.listen({ at, name: path });
    chmodSync(at, 0o666);
  }

  const failures: string[] = [];
  for (const { at, probe, expect } of traffic.requests) {
    const asking = at === 'world' ? world : workload;
    const to = probe.to.startsWith('/') ? `${root}${probe.to}` : probe.to;
    const answer = await asking.probe({ host: probe.to, ...probe, to }).catch((error: Error) => error);
    const found = deviations(expect, answer, probe.protocol === 'tcp');
    if (found.length > 0) failures.push(`${told(probe)}: ${found.join('; ')}`);
  }
  return failures;
}

function told({ to, host = '', path = '', protocol = 'http', tls }: Probe): string {
  return `${protocol}${tls ? `, TLS ${tls.servername ?? ''}` : ''} to ${to} ${host}${path}`;
}

/** Starts a server for each endpoint that the proxy is told of, and names for those that are known by name. */
async function settle(
  world: Resident,
  namespace: Namespace,
  { strangers = [], names = {} }: SidecarTraffic,
  corpusCase: CorpusCase,
  proxy: CaseProxy,
  tls: NonNullable<EchoOptions['tls']>,
): Promise<void> {
  const found = endpoints(endpointMessages(corpusCase, proxy)).filter(({ host }) => !proxy.ips.includes(host));
  const hosts = [...new Set(found.map(({ host }) => host))].filter((host) => !isAddress(host));
  const zone: Record<string, readonly string[]> = { ...names };
  for (const [i, host] of hosts.entries()) zone[host] ??= [`${NAMED_NETWORK}${i + 1}`];
  await world.answerNames(zone);
  const servers = new Map<string, string>(strangers.map((at) => [at, at]));
  for (const { host, port } of found) {
    for (const address of zone[host] ?? [host]) servers.set(written(address, port), written(host, port));
  }
  namespace.addAddresses([...servers.keys()].map((at) => at.replace(/:\d+$/, '').replace(/[[\]]/g, '')));
  for (const [at, name] of servers) await world.listen({ at, name, tls });
}

function certificateOf(authority: TestAuthority, names: readonly string[]): NonNullable<EchoOptions['tls']> {
  const { chain: cert, key } = authority.issue('DNS:server.test', ...names);
  return { cert, key, ca: authority.root };
}

function written(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host);
}

function endpointMessages(corpusCase: CorpusCase, proxy: CaseProxy): readonly JsonObject[] {
  return (['cds', 'eds'] as const).flatMap((type) => [...expectedResources(corpusCase, proxy, type).values()]);
}

function* objectsNamed(value: JsonValue | undefined, key: string): Generator<JsonObject> {
  if (Array.isArray(value)) for (const inner of value) yield* objectsNamed(inner, key);
  else if (value !== null && typeof value === 'object') {
    for (const [name, inner] of Object.entries(value as JsonObject)) {
      if (name === key) yield inner as JsonObject;
      else yield* objectsNamed(inner, key);
    }
  }
}

/** Addresses of endpoints, each once, loopback left out. */
function endpoints(messages: readonly JsonObject[]): readonly Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const endpoint of objectsNamed(messages as JsonValue, 'endpoint')) {
    for (const { address, portValue } of objectsNamed(endpoint, 'socketAddress')) {
      const [host, port] = [String(address), Number(portValue)];
      if (!host.startsWith('127.') && port > 0) found.set(written(host, port), { host, port });
    }
  }
  return [...found.values()];
}

function pipes(messages: readonly JsonObject[]): ReadonlySet<string> {
  const found = [...objectsNamed(messages as JsonValue, 'endpoint')].flatMap((endpoint) => [
    ...objectsNamed(endpoint, 'pipe'),
  ]);
  return new Set(found.map(({ path }) => String(path)));
}

/** Names that the proxy expects in certificates of servers, as openssl writes them. */
function acceptedNames(corpusCase: CorpusCase, proxy: CaseProxy): readonly string[] {
  const clusters = [...expectedResources(corpusCase, proxy, 'cds').values()];
  const matches = [...objectsNamed(clusters as JsonValue, 'matchSubjectAltNames')].flat() as readonly JsonObject[];
  const names = new Set(matches.flatMap(({ exact }) => (typeof exact === 'string' ? [exact] : [])));
  return [...names].map((name) => (name.startsWith('spiffe:') ? `URI:${name}` : `DNS:${name}`));
}
