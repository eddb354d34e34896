import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { Load } from '../support/http-client.ts';
import { waitFor } from '../support/wait.ts';
import { ALL } from './conditions.ts';
import { LocalMesh } from './local-mesh.ts';

const RPS = 200;
const LOAD_MS = ALL ? 30_000 : 8_000;
const HOST = 'web.shop.internal';

interface Backend {
  readonly port: number;
  readonly version: string;
}

const service = (port: number, backends: readonly Backend[]): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  endpoints:
${backends.map(({ port: at, version }) => `  - {address: 127.0.0.1, ports: {http: ${at}}, labels: {version: ${version}}}`).join('\n')}
`;

/** @param subsets versions by name of the subset */
const subsetsOf = (subsets: Readonly<Record<string, string>>): string => `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web}
spec:
  host: ${HOST}
  subsets:
${Object.entries(subsets)
  .map(([name, version]) => `  - {name: ${name}, labels: {version: ${version}}}`)
  .join('\n')}
`;

/** @param weights by name of the subset */
const route = (weights: Readonly<Record<string, number>>): string => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [${HOST}]
  http:
  - route:
${Object.entries(weights)
  .map(([subset, weight]) => `    - {destination: {host: ${HOST}, subset: ${subset}}, weight: ${weight}}`)
  .join('\n')}
`;

interface Running {
  readonly mesh: LocalMesh;
  /** The port of the service. */
  readonly port: number;
  /** Resolves when requests reach these of the backends, each of them, and no others. */
  reached(...backends: readonly HttpBackend[]): Promise<void>;
}

/** Two versions of a service, requests at a steady rate to it, and edits again and again until the time is over. */
async function underLoad(
  backends: readonly HttpBackend[],
  files: (port: number) => Readonly<Record<string, string>>,
  edit: (running: Running, round: number) => Promise<void>,
  version?: string,
): Promise<void> {
  const [port = 0] = await freePorts(1);
  await using mesh = await LocalMesh.start({ files: files(port), ...(version ? { version } : {}) });
  const reached = async (...wanted: readonly HttpBackend[]): Promise<void> => {
    let before = backends.map(({ requests }) => requests.length);
    // As many requests as make it sure that one with a weight would have been among them.
    const window = 20;
    await waitFor(
      () => {
        const now = backends.map(({ requests }) => requests.length);
        if (now.reduce((sum, count) => sum + count) - before.reduce((sum, count) => sum + count) < window) return false;
        const asked = backends.filter((_backend, i) => (now[i] ?? 0) > (before[i] ?? 0));
        before = now;
        return asked.length === wanted.length && asked.every((backend) => wanted.includes(backend));
      },
      { what: `requests that reach ${wanted.map(({ name }) => name).join(', ')} alone` },
    );
  };
  const load = new Load({ url: `http://127.0.0.1:${port}/`, host: HOST, rps: RPS });
  const end = performance.now() + LOAD_MS;
  let rounds = 0;
  try {
    for (; performance.now() < end; rounds++) await edit({ mesh, port, reached }, rounds);
  } finally {
    const { requests, failures } = await load.stop();
    const failed = new Set(failures);
    const seconds = LOAD_MS / 1000;
    assert.deepEqual([...failed], [], `${failures.length} of ${requests} requests failed in ${rounds} rounds`);
    assert.ok(requests >= RPS * seconds * 0.9, `${requests} requests in ${seconds} s`);
  }
  assert.ok(rounds > 1);
  assert.equal(await mesh.envoy.rejected(), 0);
}

async function backendsOf(stack: AsyncDisposableStack, ...names: readonly string[]): Promise<readonly HttpBackend[]> {
  const backends = await Promise.all(names.map((name) => HttpBackend.start(name)));
  for (const backend of backends) stack.defer(() => backend.stop());
  return backends;
}

function loadTest(name: string, run: (stack: AsyncDisposableStack) => Promise<void>): void {
  test(`no request fails while ${name}`, { timeout: LOAD_MS + 60_000 }, async () => {
    await using stack = new AsyncDisposableStack();
    await run(stack);
  });
}

const versions = (backends: readonly HttpBackend[]): readonly Backend[] =>
  backends.map(({ port, name }) => ({ port, version: name }));

async function weightShift(stack: AsyncDisposableStack, envoyVersion?: string): Promise<void> {
  const backends = await backendsOf(stack, 'v1', 'v2');
  const [v1, v2] = backends as [HttpBackend, HttpBackend];
  await underLoad(
    backends,
    (port) => ({
      'shop/web.yaml': service(port, versions(backends)),
      'shop/subsets.yaml': subsetsOf({ v1: 'v1', v2: 'v2' }),
      'shop/route.yaml': route({ v1: 100 }),
    }),
    async ({ mesh, reached }, round) => {
      const [from, to] = round % 2 === 0 ? ['v1', 'v2'] : ['v2', 'v1'];
      mesh.write('shop/route.yaml', route({ [from as string]: 50, [to as string]: 50 }));
      await reached(v1, v2);
      mesh.write('shop/route.yaml', route({ [to as string]: 100 }));
      await reached(to === 'v1' ? v1 : v2);
    },
    envoyVersion,
  );
}

loadTest('weights shift', (stack) => weightShift(stack));

if (ALL) loadTest('weights shift, with Envoy 1.36', (stack) => weightShift(stack, '1.36.4'));

loadTest('a route moves to a subset that is added in the same moment, and the old one goes', async (stack) => {
  const backends = await backendsOf(stack, 'v1', 'v2');
  const [v1, v2] = backends as [HttpBackend, HttpBackend];
  const rules = (round: number): string => {
    const [subset, version] = [`round-${round}`, round % 2 === 0 ? 'v1' : 'v2'];
    return `${route({ [subset]: 100 })}---${subsetsOf({ [subset]: version })}`;
  };
  await underLoad(
    backends,
    (port) => ({ 'shop/web.yaml': service(port, versions(backends)), 'shop/rules.yaml': rules(0) }),
    async ({ mesh, reached }, round) => {
      mesh.write('shop/rules.yaml', rules(round + 1));
      await reached(round % 2 === 0 ? v2 : v1);
    },
  );
});

loadTest('a route moves to a subset that another file adds just before', async (stack) => {
  const backends = await backendsOf(stack, 'v1', 'v2');
  const [v1, v2] = backends as [HttpBackend, HttpBackend];
  const subset = (round: number): string => `round-${round}`;
  const subsets = (round: number): string => subsetsOf({ [subset(round)]: round % 2 === 0 ? 'v1' : 'v2' });
  await underLoad(
    backends,
    (port) => ({
      'shop/web.yaml': service(port, versions(backends)),
      'shop/subsets.yaml': subsets(0),
      'shop/route.yaml': route({ [subset(0)]: 100 }),
    }),
    async ({ mesh, reached }, round) => {
      mesh.write('shop/subsets.yaml', subsets(round + 1));
      mesh.write('shop/route.yaml', route({ [subset(round + 1)]: 100 }));
      await reached(round % 2 === 0 ? v2 : v1);
    },
  );
});

loadTest('an endpoint is replaced by another one', async (stack) => {
  const backends = await backendsOf(stack, 'old', 'new');
  const [old, replacement] = backends as [HttpBackend, HttpBackend];
  const at = (port: number, backend: HttpBackend): string => service(port, [{ port: backend.port, version: 'v1' }]);
  await underLoad(
    backends,
    (port) => ({ 'shop/web.yaml': at(port, old) }),
    async ({ mesh, port, reached }, round) => {
      const next = round % 2 === 0 ? replacement : old;
      mesh.write('shop/web.yaml', at(port, next));
      await reached(next);
    },
  );
});

loadTest('the control plane stops and starts', async (stack) => {
  const backends = await backendsOf(stack, 'v1', 'v2');
  const [v1, v2] = backends as [HttpBackend, HttpBackend];
  await underLoad(
    backends,
    (port) => ({ 'shop/web.yaml': service(port, [{ port: v1.port, version: 'v1' }]) }),
    async ({ mesh, port, reached }, round) => {
      const next = round % 2 === 0 ? v2 : v1;
      await mesh.istiod.stop(round % 3 === 2 ? 'SIGKILL' : 'SIGTERM');
      // What changes while it is away is served when it is back.
      mesh.write('shop/web.yaml', service(port, [{ port: next.port, version: 'v1' }]));
      await mesh.istiod.start();
      await reached(next);
    },
  );
});
