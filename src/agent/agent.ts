import { join } from 'node:path';
import { formatAddress } from '../base/host-port.ts';
import type { JsonObject } from '../base/json.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { NAME_TABLE_TYPE } from '../proto/type-urls.ts';
import { machineCertificates } from './certificates/machine-certificates.ts';
import { TrustBundle } from './certificates/trust-bundle.ts';
import { grpcTarget } from './control-plane-address.ts';
import { DnsProxy } from './dns/dns-proxy.ts';
import { machineResolvConf } from './dns/resolv-conf.ts';
import { envoySettings, statusPort } from './envoy/envoy-settings.ts';
import { Sidecar } from './envoy/sidecar.ts';
import { type Identity, identity, type Machine } from './identity.ts';
import { agentMetrics } from './metrics.ts';
import { NameTableFile } from './name-table-file.ts';
import { MeshNames } from './names.ts';
import type { AgentSettings, DnsSettings } from './settings.ts';
import { listenForStatus } from './status-server.ts';
import type { Upstream } from './xds/live-stream.ts';

/** What the agent keeps is below it, relative to the working directory. */
export const AGENT_STATE = 'var/lib/istio/agent';

/** How long those wait who start after the agent, while istiod is away. Milliseconds. */
const PATIENCE = 2000;

export interface AgentOptions {
  readonly root: string;
  readonly settings: AgentSettings;
  readonly machine: Machine;
  /** Ends the agent as SIGTERM does. */
  quit(): void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

export interface Agent {
  /** By what is served: `host:port`. */
  readonly listening: Readonly<Record<string, string>>;
  /** Resolves when it knows the names of the mesh, or has waited long enough for an istiod that is away. */
  readonly ready: Promise<void>;
  /** Rejects with a StartError when it can not go on. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** @throws StartError when it can not start */
export async function startAgent({ root, settings, machine, quit, log }: AgentOptions): Promise<Agent> {
  const { env, proxyConfig, controlPlane } = settings;
  const envoy = envoySettings(root, env, proxyConfig);
  if (envoy === undefined && settings.dns === undefined) {
    throw new StartError(
      EXIT.config,
      'there is nothing to do: there is no Envoy, and ISTIO_META_DNS_CAPTURE is not true',
    );
  }
  const own = identity(settings, machine);
  const directory = join(root, AGENT_STATE);
  const certificates = machineCertificates({ root, settings, directory, log });
  const { connection } = certificates;
  const upstream: Upstream = {
    target: grpcTarget(controlPlane.address),
    channelOptions: connection.channelOptions,
    credentials: () => connection.channelCredentials(),
    headers: () => ({ ...controlPlane.headers, ...connection.authorization() }),
  };
  const hasCertificate = certificates.isPossible;
  const node = envoy === undefined ? own.node : withAgent(own.node, hasCertificate);
  const dns = settings.dns && (await startDns(root, settings.dns, own, log));
  const names =
    dns && new MeshNames({ dns, file: new NameTableFile({ directory, log }, own.namespace), upstream, node, log });
  const trust = new TrustBundle({ directory, log });
  let isLive = false;
  const sidecar =
    envoy &&
    new Sidecar({
      root,
      state: AGENT_STATE,
      settings: envoy,
      proxyConfig,
      node,
      certificates,
      upstream,
      trust,
      own: new Map(names === undefined ? [] : [[NAME_TABLE_TYPE, (resources) => names.take(resources)]]),
      onLive: (is) => {
        isLive = is;
        if (is) names?.stop();
        else names?.askLater();
      },
      log,
    });
  const status = await listenForStatus({
    listen: { host: '0.0.0.0', port: statusPort(proxyConfig) },
    notReady: async () =>
      (await sidecar?.notReady()) ??
      (dns !== undefined && dns.size === undefined ? 'the names of the mesh are not known yet' : undefined),
    metrics: async () => {
      const { current } = certificates;
      const ours = agentMetrics({ certificate: current, restarts: sidecar?.restarts, names: dns?.size, isLive });
      return `${(await sidecar?.metrics()) ?? ''}${ours}`;
    },
    quit,
  }).catch(async (error: unknown) => {
    await dns?.close();
    throw error;
  });
  const begin = async (): Promise<void> => {
    if (sidecar === undefined) return;
    if (hasCertificate) await certificates.first;
    else log.warn(NO_CERTIFICATE);
    await sidecar.start();
  };
  if (sidecar !== undefined || hasCertificate) certificates.start();
  if (sidecar === undefined) names?.ask();
  else names?.askLater();
  const patience = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE).unref());
  return {
    listening: {
      ...Object.fromEntries(
        (dns?.addresses ?? []).map((address, i) => [i === 0 ? 'dns' : `dns${i + 1}`, formatAddress(address)]),
      ),
      status: formatAddress(status.address),
    },
    ready: Promise.race([names?.known, patience]),
    failed: begin().then(() => new Promise<never>(() => {})),
    async stop() {
      names?.stop();
      await sidecar?.stop();
      await Promise.all([dns?.close(), names?.flush(), trust.flush(), status.close(), certificates.stop()]);
    },
  };
}

const NO_CERTIFICATE =
  'this workload has no certificate, and nothing to ask for one by, so that there is no mutual TLS: put a token into var/run/secrets/tokens/istio-token, or certificates into etc/certs, and start the agent again';

function startDns(
  root: string,
  settings: DnsSettings,
  { namespace, domain }: Identity,
  log: AgentOptions['log'],
): Promise<DnsProxy> {
  return DnsProxy.start({ ...settings, place: { namespace, domain }, resolvConf: machineResolvConf(root), log });
}

/** `AGENT` says that there are secrets for who asks for them; without, istiod sends what needs none. */
function withAgent(node: JsonObject, hasCertificate: boolean): JsonObject {
  const { metadata } = node;
  return { ...node, metadata: { ...(metadata as JsonObject), ...(hasCertificate ? { AGENT: 'true' } : {}) } };
}
