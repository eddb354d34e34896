import { chmodSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import type { Variant } from '../../src/xds/events.ts';
import { type CaseProxy, type CorpusCase, expectedResources, isRouter, isSidecar } from '../parity/case-files.ts';
import type { TestAuthority } from '../support/certificates.ts';
import type { EnvoyProcess } from '../support/envoy-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { type Namespace, Network } from '../support/network.ts';
import { Resident } from '../support/resident.ts';
import { headerModule } from '../support/wasm-module.ts';
import { WorkDir } from '../support/work-dir.ts';
import { replaceCertificates } from './case-secrets.ts';
import { MachineEnvoy, openToProxies } from './machine-envoy.ts';

/** What an upstream Envoy made of its configuration. */
export interface Acceptance {
  readonly proxy: string;
  readonly sds: boolean;
  readonly clusters: number;
  readonly listeners: number;
  /** What was refused or still warms after ten seconds, in Envoy's and istiod's words. Empty: all was taken. */
  readonly problems: readonly string[];
}

/** Longest time until its workers run and nothing warms, in milliseconds. */
const WITHIN_MS = 10_000;

/** A control plane that serves a case to Envoys on any machine: over a socket, which namespaces do not part. */
export class ServedCase {
  readonly istiod: IstiodProcess;
  readonly dir: WorkDir;

  private constructor(istiod: IstiodProcess, dir: WorkDir) {
    this.istiod = istiod;
    this.dir = dir;
  }

  /** @param authority whose certificates are put into the case's Secrets, so that its clients are believed */
  static async start(
    corpusCase: Pick<CorpusCase, 'directory' | 'env'>,
    authority?: TestAuthority,
  ): Promise<ServedCase> {
    const dir = WorkDir.copyOf(corpusCase.directory, 'case');
    if (authority !== undefined) replaceCertificates(dir, authority);
    openToProxies(dir);
    const listen = { grpcUnix: dir.at('xds.sock') };
    try {
      const istiod = await IstiodProcess.start({ root: dir.path, env: corpusCase.env, listen });
      chmodSync(dir.at('xds.sock'), 0o666);
      return new ServedCase(istiod, dir);
    } catch (error) {
      dir[Symbol.dispose]();
      throw error;
    }
  }

  get xds(): string {
    return this.dir.at('xds.sock');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.istiod.stop();
    this.dir[Symbol.dispose]();
  }
}

/** Addresses that the listeners of a proxy bind, beside those of all and of loopback. */
export function boundAddresses(corpusCase: CorpusCase, proxy: CaseProxy): readonly string[] {
  const listeners = [...expectedResources(corpusCase, proxy, 'lds').values()];
  const addresses = listeners.flatMap((listener) => {
    if (listener['bindToPort'] === false) return [];
    const more = (listener['additionalAddresses'] ?? []) as readonly JsonObject[];
    return [listener, ...more].map((holder) => at(holder, 'address', 'socketAddress', 'address'));
  });
  return addresses.filter((address) => typeof address === 'string' && !/^(0\.0\.0\.0|::)$/.test(address)) as string[];
}

/** Names of files that the agent of a proxy is asked for. */
export function fileSecrets(corpusCase: CorpusCase, proxy: CaseProxy): ReadonlySet<string> {
  const resources = (['cds', 'lds'] as const).flatMap((type) => [
    ...expectedResources(corpusCase, proxy, type).values(),
  ]);
  return new Set(JSON.stringify(resources).match(/(?<=")file-(cert|root):[^"]*(?=")/g));
}

/** A module for each file under `/opt` that a proxy is to run one from. */
export function fileModules(corpusCase: CorpusCase, proxy: CaseProxy): Readonly<Record<string, Uint8Array>> {
  const configs = [...expectedResources(corpusCase, proxy, 'ecds').values()];
  const files = JSON.stringify(configs).match(/(?<="filename":"\/opt\/)[^"/]*(?=")/g) ?? [];
  return Object.fromEntries(files.map((file) => [file, headerModule('x-module', file)]));
}

function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => (inner as JsonObject | undefined)?.[key], value);
}

/** Puts each sidecar and router of a case before an upstream Envoy, without an SDS server and with one. */
export async function acceptances(
  corpusCase: CorpusCase,
  authority: TestAuthority,
  variant: Variant = 'delta',
): Promise<readonly Acceptance[]> {
  await using served = await ServedCase.start(corpusCase, authority);
  const results: Acceptance[] = [];
  for (const proxy of corpusCase.proxies.filter((one) => isSidecar(one) || isRouter(one))) {
    const bound = boundAddresses(corpusCase, proxy).filter((address) => !proxy.ips.includes(address));
    const both = [undefined, authority].map(async (given) => {
      using network = new Network();
      await using world = new Resident(network.world);
      await world.answerNames({ '*': ['203.0.113.1', '2001:db8::1'] });
      const machine = network.machine(proxy.ips);
      machine.addAddresses(bound);
      return await acceptance({ corpusCase, served, machine, proxy, authority: given, variant });
    });
    results.push(...(await Promise.all(both)));
  }
  return results;
}

interface AcceptanceInput {
  readonly corpusCase: CorpusCase;
  readonly served: ServedCase;
  readonly machine: Namespace;
  readonly proxy: CaseProxy;
  /** Undefined: without an SDS server. */
  readonly authority: TestAuthority | undefined;
  readonly variant: Variant;
}

async function acceptance(input: AcceptanceInput): Promise<Acceptance> {
  const { corpusCase, served, machine, proxy, authority, variant } = input;
  const before = served.istiod.log.length;
  await using running = await MachineEnvoy.start({
    machine,
    proxy,
    xds: served.xds,
    variant,
    opt: fileModules(corpusCase, proxy),
    ...(authority
      ? { authority, fileSecrets: fileSecrets(corpusCase, proxy), etc: { 'certs/crl.pem': authority.revocations() } }
      : {}),
  });
  const { envoy } = running;
  const late = await envoy.untilReady(WITHIN_MS).then(
    () => [],
    () => unready(envoy),
  );
  const stats = await envoy.stats();
  return {
    proxy: proxy.name,
    sds: authority !== undefined,
    clusters: stats.get('cluster_manager.active_clusters') ?? 0,
    listeners: stats.get('listener_manager.total_listeners_active') ?? 0,
    problems: [...(await refusals(envoy)), ...nacks(served.istiod.log.slice(before)), ...(await late)],
  };
}

async function unready(envoy: EnvoyProcess): Promise<readonly string[]> {
  const stats = await envoy.stats();
  const named = ['cluster_manager.warming_clusters', 'listener_manager.total_listeners_warming'];
  const state = [...named, 'listener_manager.workers_started'].map((name) => `${name} ${stats.get(name) ?? 0}`);
  const { configs } = await envoy.configDump();
  const warming = configs.flatMap((config) => [
    ...((config['dynamic_warming_clusters'] ?? []) as readonly JsonObject[]).map((one) => at(one, 'cluster', 'name')),
    ...((config['dynamic_listeners'] ?? []) as readonly JsonObject[])
      .filter((one) => one['warming_state'] !== undefined)
      .map((one) => one['name']),
  ]);
  return [`not ready after ${WITHIN_MS} ms: ${state.join(', ')}; warming: ${warming.join(', ')}`];
}

/** Lines of Envoy's log about what it refused, and the count when there are none. */
async function refusals(envoy: EnvoyProcess): Promise<readonly string[]> {
  const rejected = await envoy.rejected();
  if (rejected === 0) return [];
  const lines = envoy.log.split('\n').filter((line) => /rejected:|Error adding\/updating/.test(line));
  return [`${rejected} updates refused`, ...new Set(lines.map((line) => line.replace(/^\[[^\]]*\]/, '')))];
}

function nacks(log: string): readonly string[] {
  return log.split('\n').filter((line) => /refused|NACK/i.test(line));
}
