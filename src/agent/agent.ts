import { join } from 'node:path';
import { formatAddress } from '../base/host-port.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { decodeMessage } from '../proto/decode.ts';
import type { DiscoveryResponse } from '../proto/discovery.ts';
import { messageName, NAME_TABLE_TYPE } from '../proto/type-urls.ts';
import { controlPlaneStream } from './control-plane.ts';
import { DnsProxy } from './dns/dns-proxy.ts';
import { ResolvConfFile } from './dns/resolv-conf.ts';
import { identity, type Machine } from './identity.ts';
import { NameTableFile } from './name-table-file.ts';
import type { AgentSettings } from './settings.ts';

/** What the agent keeps is below it, relative to the working directory. */
export const AGENT_STATE = 'var/lib/istio/agent';

/** How long those wait who start after the agent, while istiod is away. Milliseconds. */
const PATIENCE = 2000;

export interface AgentOptions {
  readonly root: string;
  readonly settings: AgentSettings;
  readonly machine: Machine;
  readonly log: { info(message: string): void; warn(message: string): void };
}

export interface Agent {
  /** Resolves when it knows the names of the mesh, or has waited long enough for an istiod that is away. */
  readonly ready: Promise<void>;
  /** By what is served: `host:port`. */
  readonly listening: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** @throws StartError when it can not start */
export async function startAgent({ root, settings, machine, log }: AgentOptions): Promise<Agent> {
  if (settings.dns === undefined) {
    const message = 'there is nothing to do: write ISTIO_META_DNS_CAPTURE=true into var/lib/istio/envoy/sidecar.env';
    throw new StartError(EXIT.config, message);
  }
  const { namespace, domain, node } = identity(settings, machine);
  const resolvConf = new ResolvConfFile([
    join(root, 'var/lib/istio/resolv.conf'),
    join(root, 'etc/resolv.conf'),
    '/etc/resolv.conf',
  ]);
  const dns = await DnsProxy.start({ ...settings.dns, place: { namespace, domain }, resolvConf, log });
  const file = new NameTableFile({ directory: join(root, AGENT_STATE), log }, namespace);
  const known = Promise.withResolvers<void>();
  const kept = file.load();
  if (kept !== undefined) {
    dns.take(kept);
    known.resolve();
    log.info(`${dns.size} names of the mesh are known from before, until istiod says more`);
  }
  const stream = controlPlaneStream({
    root,
    settings: settings.controlPlane,
    node,
    log,
    typeUrls: [NAME_TABLE_TYPE],
    onResponse: (response) => {
      const table = tableIn(response);
      if (typeof table === 'string') return table;
      if (table === undefined) return undefined;
      dns.take(table);
      file.save(table);
      known.resolve();
      return undefined;
    },
  });
  setTimeout(known.resolve, PATIENCE).unref();
  return {
    ready: known.promise,
    listening: Object.fromEntries(
      dns.addresses.map((address, i) => [i === 0 ? 'dns' : `dns${i + 1}`, formatAddress(address)]),
    ),
    async stop() {
      stream.stop();
      await Promise.all([dns.close(), file.flush()]);
    },
  };
}

/** @returns the table, why there is none, or undefined when the response says nothing */
function tableIn({ typeUrl, resources }: DiscoveryResponse): ReturnType<typeof decodeMessage> | string | undefined {
  if (typeUrl !== NAME_TABLE_TYPE) return `nobody asked for ${typeUrl}`;
  const [first] = resources;
  if (first === undefined) return undefined;
  try {
    return decodeMessage(messageName(NAME_TABLE_TYPE), first.value);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
