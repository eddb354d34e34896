/**
 * Makes V8's code cache of a bundle, of what is compiled once istiod has read the sample configuration and served it to a client:
 * `writeCodeCache(bundle, file)`. Run by itself it is the istiod that is looked at.
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
import { zstdCompressSync } from 'node:zlib';

const SETTINGS = `
listen: {grpc: '127.0.0.1:0', grpcTls: '127.0.0.1:0', http: '127.0.0.1:0', monitoring: '127.0.0.1:0'}
log: {level: error}
`;
const WITHIN_MS = 60_000;
const TYPES = ['cluster.v3.Cluster', 'endpoint.v3.ClusterLoadAssignment', 'listener.v3.Listener'];

/**
 * @param {string} bundle the CommonJS file
 * @param {string} file is written
 * @param {readonly string[]} flags Node's: a cache is good for the flags that it was made with
 */
export async function writeCodeCache(bundle, file, flags) {
  const root = mkdtempSync(join(tmpdir(), 'code-cache-'));
  const args = [...flags, fileURLToPath(import.meta.url), resolve(bundle), resolve(file)];
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
  const client = new Client(grpc, credentials.createInsecure());
  const same = (bytes) => bytes;
  const path = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
  const stream = client.makeBidiStreamRequest(path, same, same);
  const node = { id: 'sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local', metadata: { NAMESPACE: 'shop' } };
  for (const type of TYPES) {
    const typeUrl = `type.googleapis.com/envoy.config.${type}`;
    const resourceNamesSubscribe = type.startsWith('endpoint') ? ['outbound|9080||web.shop.internal'] : [];
    stream.write(Buffer.from(encodeDeltaDiscoveryRequest({ node, typeUrl, resourceNamesSubscribe })));
    await once(stream, 'data');
  }
  stream.on('error', () => {});
  stream.cancel();
  client.close();
  await (await fetch(`http://${monitoring}/metrics`)).text();
}

function run(bundle, file) {
  const source = readFileSync(bundle, 'latin1');
  // As in build/loader.cjs: a cache is good for the very text that it was made of.
  const script = new Script(`(function(exports,require,module){${source}\n})`, { filename: 'istiod.cjs' });
  process.once('SIGUSR2', () => writeFileSync(file, zstdCompressSync(script.createCachedData())));
  process.argv.splice(2);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(import.meta.url), module);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv[2], process.argv[3]);
