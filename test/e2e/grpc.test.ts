import { type TestContext, test } from 'node:test';
import { TestAuthority } from '../support/certificates.ts';
import { freePorts } from '../support/free-port.ts';
import { GrpcBackend } from '../support/grpc-backend.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { calls, type GrpcLibrary, LIBRARIES, startGrpc, without } from './grpc/library.ts';

const HOST = 'greeter.shop.internal';
const TARGET = `xds:///${HOST}:7070`;
const TIMEOUT_MS = 300_000;

const skip = without('go') || without('python3');

/** @param servers version and port of each */
const services = (servers: readonly (readonly [version: string, port: number])[]): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: greeter}
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 7070, name: grpc, protocol: GRPC}]
  endpoints:
${servers.map(([version, port]) => `  - {address: 127.0.0.1, ports: {grpc: ${port}}, labels: {version: ${version}}}`).join('\n')}
`;

const SUBSETS = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: greeter}
spec:
  host: ${HOST}
  subsets:
  - {name: v1, labels: {version: v1}}
  - {name: v2, labels: {version: v2}}
`;

/** Requests with the header go to v2, of the others this share of a hundred. */
const routes = (share: number): string => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: greeter}
spec:
  hosts: [${HOST}]
  http:
  - match: [{headers: {x-canary: {exact: "1"}}}]
    route: [{destination: {host: ${HOST}, subset: v2}}]
  - route:
    - {destination: {host: ${HOST}, subset: v1}, weight: ${100 - share}}
    - {destination: {host: ${HOST}, subset: v2}, weight: ${share}}
`;

const names = (replies: readonly string[]): readonly string[] => [...new Set(replies)].sort();

async function clientFollows(t: TestContext, library: GrpcLibrary): Promise<void> {
  using one = await GrpcBackend.start('one');
  using two = await GrpcBackend.start('two');
  using three = await GrpcBackend.start('three');
  using dir = new WorkDir('grpc');
  const write = (file: string, text: string): void => dir.write(`etc/istio/conf/shop/${file}.yaml`, text);
  write('services', services([['v1', one.port], ['v2', two.port]])); // biome-ignore format: pairs
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const node = { name: 'client-1', labels: { app: 'client' }, xds: istiod.addresses.grpc };
  await using client = startGrpc(dir, [...library.command(), 'client', TARGET], node);
  const untilAnswered = (what: string, expected: readonly string[], headers = {}): Promise<unknown> =>
    waitFor(async () => names(await calls(client, 40, headers)).join() === expected.join(), {
      what,
      withinMs: 60_000,
    });

  await untilAnswered('calls to both endpoints', ['one', 'two']);
  write('routes', `${SUBSETS}---${routes(0)}`);
  await untilAnswered('calls to the subset of all weight', ['one']);
  await untilAnswered('calls with the header to the other subset', ['two'], { 'x-canary': '1' });
  write('routes', `${SUBSETS}---${routes(50)}`);
  await untilAnswered('calls to both subsets by weight', ['one', 'two']);
  write('routes', `${SUBSETS}---${routes(0)}`);
  await untilAnswered('calls to the subset of all weight, again', ['one']);

  const times: number[] = [];
  for (const [port, name] of [
    [three.port, 'three'],
    [one.port, 'one'],
    [three.port, 'three'],
  ] as const) {
    // biome-ignore format: pairs
    const since = performance.now();
    write('services', services([['v1', port], ['v2', two.port]])); // biome-ignore format: pairs
    await waitFor(async () => (await calls(client, 1))[0] === name, { what: 'a call to the new endpoint', everyMs: 1 });
    times.push(performance.now() - since);
  }
  const shown = times.map((ms) => `${ms.toFixed(0)} ms`).join(', ');
  t.diagnostic(`${library.name}: an endpoint that moved is called after ${shown}`);
}

for (const library of LIBRARIES) {
  test(
    `a client of ${library.name} balances, follows routes and follows endpoints`,
    { skip, timeout: TIMEOUT_MS },
    (t) => clientFollows(t, library),
  );
}

const SERVER_OBJECTS = (port: number, tls: string): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: greeter}
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 7070, name: grpc, protocol: GRPC, targetPort: ${port}}]
  workloadSelector: {labels: {app: greeter}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: greeter-1}
spec: {address: 127.0.0.1, labels: {app: greeter}, serviceAccount: greeter}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: greeter}
spec: {host: ${HOST}, trafficPolicy: {tls: {mode: ${tls}}}}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: greeter}
spec: {selector: {matchLabels: {app: greeter}}, mtls: {mode: STRICT}}
`;

const only = (account: string): string => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: greeter}
spec:
  selector: {matchLabels: {app: greeter}}
  rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/${account}]}}]}]
`;

async function speakMutualTls(library: GrpcLibrary): Promise<void> {
  const [port = 0] = await freePorts(1);
  using dir = new WorkDir('grpc-tls');
  using files = new WorkDir('grpc-ca');
  const authority = new TestAuthority(files.path);
  const identity = (account: string) => ({
    ...authority.issue(`URI:spiffe://cluster.local/ns/shop/sa/${account}`),
    root: authority.root,
  });
  const write = (file: string, text: string): void => dir.write(`etc/istio/conf/shop/${file}.yaml`, text);
  write('services', SERVER_OBJECTS(port, 'ISTIO_MUTUAL'));
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const xds = istiod.addresses.grpc;
  const command = library.command();
  const server = { name: 'greeter-1', labels: { app: 'greeter' }, xds, identity: identity('greeter') };
  await using greeter = startGrpc(dir, [...command, 'server', 'secured', `127.0.0.1:${port}`], server);
  await waitFor(async () => (await greeter.next<{ readonly serving: boolean }>()).serving, { what: 'a server' });
  const client = (name: string) =>
    startGrpc(dir, [...command, 'client', TARGET], {
      name,
      labels: { app: name },
      xds,
      identity: identity(name),
    });
  await using front = client('front');
  await using other = client('other');
  const untilAnswered = (who: typeof front, what: string, reply: string): Promise<unknown> =>
    waitFor(async () => (await calls(who, 1))[0] === reply, { what, withinMs: 60_000 });

  await untilAnswered(front, 'a call over mutual TLS', 'secured');
  write('policy', only('front'));
  await untilAnswered(other, 'a refusal of who is not allowed', '!PermissionDenied');
  await untilAnswered(front, 'a call by who is allowed', 'secured');
  write('policy', only('other'));
  await untilAnswered(other, 'a call by who is allowed now', 'secured');
  write('services', SERVER_OBJECTS(port, 'DISABLE'));
  // Each time a client of its own: Go's keeps a connection that was made before the rule came.
  const isRefused = async (): Promise<boolean> => {
    await using plain = client('plain');
    return /^!(Unavailable|DeadlineExceeded)$/.test((await calls(plain, 1))[0] ?? '');
  };
  await waitFor(isRefused, { what: 'a refusal of plaintext', withinMs: 60_000 });
}

for (const library of LIBRARIES.filter(({ serves }) => serves)) {
  test(
    `a client and a server of ${library.name} speak mutual TLS with certificates of files, under a policy`,
    {
      skip,
      timeout: TIMEOUT_MS,
    },
    () => speakMutualTls(library),
  );
}
