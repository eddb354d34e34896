/**
 * Makes V8's code cache of a program, of what is compiled once istiod has read the sample configuration and served it to a client:
 * `writeCodeCache(program, file, flags)`. Run by itself it is the istiod that is looked at.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const SETTINGS = `
listen: {grpc: '127.0.0.1:0', grpcTls: '127.0.0.1:0', http: '127.0.0.1:0', monitoring: '127.0.0.1:0'}
log: {level: error}
`;
const WITHIN_MS = 60_000;

/**
 * @param {string} program what the executable runs (build.mjs)
 * @param {string} file is written
 * @param {readonly string[]} flags Node's: a cache is good for the flags that it was made with
 */
export async function writeCodeCache(program, file, flags) {
  const root = mkdtempSync(join(tmpdir(), 'code-cache-'));
  const args = [...flags, fileURLToPath(import.meta.url), resolve(program), resolve(file)];
  mkdirSync(join(root, 'etc'));
  cpSync('etc/istio', join(root, 'etc/istio'), { recursive: true });
  writeFileSync(join(root, 'etc/istio/istiod.yaml'), SETTINGS);
  rmSync(file, { force: true });
  const istiod = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(istiod, 'exit');
  try {
    const listen = join(root, 'var/lib/istio/run/listen.json');
    await until(() => existsSync(listen), istiod);
    await askEverything(JSON.parse(readFileSync(listen, 'utf8')));
    istiod.kill('SIGUSR2');
    await until(() => existsSync(file), istiod);
  } finally {
    istiod.kill();
    await ended;
    rmSync(root, { recursive: true });
  }
}

async function until(holds, { exitCode }) {
  for (const end = Date.now() + WITHIN_MS; !holds(); await delay(20)) {
    if (exitCode !== null || Date.now() > end) throw new Error('the istiod whose code cache is made does not answer');
  }
}

/** As a sidecar, and as who looks at /metrics. */
async function askEverything({ grpc, monitoring }) {
  const { Client, credentials } = await import('@grpc/grpc-js');
  const { encodeDeltaDiscoveryRequest } = await import('../src/proto/discovery.ts');
  const { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE } = await import('../src/proto/type-urls.ts');
  const { AGGREGATED_SERVICE } = await import('../src/xds/services.ts');
  const client = new Client(grpc, credentials.createInsecure());
  const same = (bytes) => bytes;
  const stream = client.makeBidiStreamRequest(`/${AGGREGATED_SERVICE.name}/${AGGREGATED_SERVICE.delta}`, same, same);
  const node = { id: 'sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local', metadata: { NAMESPACE: 'shop' } };
  const asked = [
    [CLUSTER_TYPE, []],
    [ENDPOINT_TYPE, ['outbound|9080||web.shop.internal']],
    [LISTENER_TYPE, []],
  ];
  for (const [typeUrl, resourceNamesSubscribe] of asked) {
    stream.write(Buffer.from(encodeDeltaDiscoveryRequest({ node, typeUrl, resourceNamesSubscribe })));
    await once(stream, 'data');
  }
  stream.on('error', () => {});
  stream.cancel();
  client.close();
  await (await fetch(`http://${monitoring}/metrics`)).text();
}

function run(program, file) {
  const script = new Script(readFileSync(program, 'latin1'), { filename: 'istiod.cjs' });
  process.once('SIGUSR2', () => writeFileSync(file, script.createCachedData()));
  process.argv.splice(2);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(import.meta.url), module);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv[2], process.argv[3]);
