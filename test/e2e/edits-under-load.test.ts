import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { envoyBootstrap } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest, Load, type LoadResult } from '../support/http-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

/** Seconds of load around each edit; E2E=all is the long run. */
const SECONDS = process.env['E2E'] === 'all' ? 30 : 6;
const RPS = 200;
const HOST = 'web.shop.internal';
const CONF = 'etc/istio/conf/shop';

/** One mesh: a service with two versions, an upstream Envoy before it that captures nothing. */
class Mesh {
  readonly dir: WorkDir;
  readonly istiod: IstiodProcess;
  readonly envoy: EnvoyProcess;
  readonly backends: readonly HttpBackend[];
  readonly port: number;

  private constructor(parts: Pick<Mesh, 'dir' | 'istiod' | 'envoy' | 'backends' | 'port'>) {
    this.dir = parts.dir;
    this.istiod = parts.istiod;
    this.envoy = parts.envoy;
    this.backends = parts.backends;
    this.port = parts.port;
  }

  static async start(version?: string): Promise<Mesh> {
    const dir = new WorkDir('load');
    const backends = await Promise.all(['v1', 'v2', 'spare'].map((name) => HttpBackend.start(name)));
    const [port = 0] = await freePorts(1);
    for (const [file, text] of Object.entries(files(port, backends))) dir.write(`${CONF}/${file}`, text);
    const istiod = await IstiodProcess.start({ root: dir.path });
    const metadata = { INTERCEPTION_MODE: 'NONE' };
    const node = nodeJson({ id: 'client-1.shop', namespace: 'shop', metadata });
    const bootstrap = envoyBootstrap({ xds: istiod.addresses.grpc, node });
    const envoy = await EnvoyProcess.start({ bootstrap, dir, ...(version ? { version } : {}) });
    await envoy.untilReady();
    return new Mesh({ dir, istiod, envoy, backends, port });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Load from a little before `edit` until its outcome and the rest of the time are over. */
  async under(edit: () => Promise<void>): Promise<LoadResult> {
    await waitFor(async () => (await httpRequest(this.url, { host: HOST })).status === 200, { what: 'a first answer' });
    const load = new Load({ url: this.url, host: HOST, rps: RPS });
    const started = performance.now();
    await waitFor(() => performance.now() - started > SECONDS * 250, {
      what: 'load before the edit',
      withinMs: 60_000,
    });
    await edit();
    await waitFor(() => performance.now() - started > SECONDS * 1000, {
      what: 'load after the edit',
      withinMs: 60_000,
    });
    return load.stop();
  }

  async stop(): Promise<void> {
    await this.envoy[Symbol.asyncDispose]();
    await this.istiod.stop();
    await Promise.all(this.backends.map((backend) => backend.stop()));
    this.dir.remove('.');
  }
}

function files(port: number, [v1, v2]: readonly HttpBackend[]): Readonly<Record<string, string>> {
  return {
    'se.yaml': serviceEntry(port, [
      ['v1', v1?.port ?? 0],
      ['v2', v2?.port ?? 0],
    ]),
    'dr.yaml': destinationRule(['v1', 'v2']),
    'vs.yaml': virtualService([['v1', 100]]),
  };
}

function serviceEntry(port: number, endpoints: readonly (readonly [string, number])[]): string {
  const lines = endpoints.map(
    ([version, own]) => `  - {address: 127.0.0.1, ports: {http: ${own}}, labels: {version: ${version}}}`,
  );
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  endpoints:
${lines.join('\n')}
`;
}

function destinationRule(versions: readonly string[]): string {
  const subsets = versions.map((version) => `  - {name: ${version}, labels: {version: ${version.slice(0, 2)}}}`);
  return `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web}
spec:
  host: ${HOST}
  subsets:
${subsets.join('\n')}
`;
}

function virtualService(weights: readonly (readonly [string, number])[]): string {
  const routes = weights.map(
    ([subset, weight]) => `    - {destination: {host: ${HOST}, subset: ${subset}}, weight: ${weight}}`,
  );
  return `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [${HOST}]
  http:
  - route:
${routes.join('\n')}
`;
}

for (const version of ['1.40.0', '1.36.4']) {
  describe(`edits under ${RPS} requests/s, Envoy ${version}`, () => {
    let mesh: Mesh;
    before(async () => {
      mesh = await Mesh.start(version);
    });
    after(() => mesh.stop());
    const answers = (name: string) =>
      waitFor(async () => (await httpRequest(mesh.url, { host: HOST })).body === name, {
        what: `an answer of ${name}`,
      });

    test('a shifted weight fails no request and takes effect', async () => {
      const { failures, bodies, requests } = await mesh.under(async () => {
        mesh.dir.write(`${CONF}/vs.yaml`, virtualService([['v2', 100]]));
        await answers('v2');
      });
      assert.deepEqual(failures, []);
      assert.ok((bodies.get('v1') ?? 0) > 0 && (bodies.get('v2') ?? 0) > 0, JSON.stringify([...bodies]));
      assert.ok(requests >= RPS * SECONDS * 0.8, `${requests} requests`);
    });

    test('a subset that is made and used in one moment, the route first, fails no request', async () => {
      const { failures, bodies } = await mesh.under(async () => {
        mesh.dir.write(`${CONF}/vs.yaml`, virtualService([['v1-new', 100]]));
        mesh.dir.write(`${CONF}/dr.yaml`, destinationRule(['v1-new', 'v2']));
        await answers('v1');
      });
      assert.deepEqual(failures, []);
      assert.ok((bodies.get('v2') ?? 0) > 0 && (bodies.get('v1') ?? 0) > 0, JSON.stringify([...bodies]));
    });

    test('an endpoint that is replaced by another fails no request', async () => {
      const { failures, bodies } = await mesh.under(async () => {
        const spare = mesh.backends[2]?.port ?? 0;
        mesh.dir.write(`${CONF}/se.yaml`, serviceEntry(mesh.port, [['v1', spare]]));
        await answers('spare');
      });
      assert.deepEqual(failures, []);
      assert.ok((bodies.get('v1') ?? 0) > 0 && (bodies.get('spare') ?? 0) > 0, JSON.stringify([...bodies]));
    });

    test('a restart of istiod fails no request, and edits count again after it', async () => {
      const { failures } = await mesh.under(async () => {
        await mesh.istiod.restart();
        const [v1] = mesh.backends;
        mesh.dir.write(`${CONF}/se.yaml`, serviceEntry(mesh.port, [['v1', v1?.port ?? 0]]));
        await answers('v1');
      });
      assert.deepEqual(failures, []);
      assert.equal(await mesh.envoy.rejected(), 0);
    });
  });
}
