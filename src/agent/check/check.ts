import { join } from 'node:path';
import { type Client, Metadata, status } from '@grpc/grpc-js';
import type { Environment } from '../../process/environment.ts';
import { AGENT_STATE } from '../agent.ts';
import { captureSettings } from '../capture/capture-settings.ts';
import { Capture, type Run, runProgram } from '../capture/iptables.ts';
import type { Certificates } from '../certificates/certificates.ts';
import { machineCertificates } from '../certificates/machine-certificates.ts';
import type { Connection } from '../connection.ts';
import { plainReason } from '../control-plane.ts';
import { grpcTarget } from '../control-plane-address.ts';
import { machineResolvConf } from '../dns/resolv-conf.ts';
import { askEnvoy } from '../envoy/admin.ts';
import { envoySettings, statusPort } from '../envoy/envoy-settings.ts';
import { type AgentSettings, isTrue, readAgentSettings } from '../settings.ts';
import { upstreamClient } from '../xds/live-stream.ts';

/** One thing that a machine needs. */
interface Result {
  /** `missing`: the machine does not work as it should until somebody does what the text says. */
  readonly state: 'ok' | 'missing' | 'note';
  readonly text: string;
}

/** Exit code when something is missing. */
export const MISSING = 2;

/** `istio-agent check`: what this machine has and what it lacks, a line each. @returns the exit code */
export async function check(
  root: string,
  env: Environment,
  out: { write(text: string): unknown },
  run: Run = runProgram,
): Promise<number> {
  const { settings, errors, warnings } = readAgentSettings(root, env);
  const results: Result[] = [
    ...errors.map((text): Result => ({ state: 'missing', text })),
    ...warnings.map((text): Result => ({ state: 'note', text })),
  ];
  if (settings !== undefined) results.push(...(await checked(root, settings, run)));
  for (const { state, text } of results) out.write(`${state.padEnd(8)} ${text}\n`);
  const missing = results.filter(({ state }) => state === 'missing').length;
  out.write(
    missing === 0 ? 'nothing is missing\n' : `${missing} ${missing === 1 ? 'thing is' : 'things are'} missing\n`,
  );
  return missing === 0 ? 0 : MISSING;
}

async function checked(root: string, settings: AgentSettings, run: Run): Promise<readonly Result[]> {
  const { env, controlPlane } = settings;
  const quiet = { info: () => undefined, warn: () => undefined };
  const certificates = machineCertificates({ root, settings, directory: join(root, AGENT_STATE), log: quiet });
  return [
    controlPlane.standalone === undefined
      ? await connection(certificates.connection, grpcTarget(controlPlane.address))
      : { state: 'note', text: 'the agent is the control plane itself, with configSources of mesh.yaml' },
    certificate(certificates),
    envoy(root, settings),
    ...dns(root, settings),
    capture(root, env, run),
    await agent(settings),
  ];
}

/** No service has it: that this is said shows that istiod, or something else that speaks gRPC, is there. */
const NO_METHOD = '/istio.agent.v1.None/None';

function connection(own: Connection, target: string): Promise<Result> {
  return new Promise((resolve) => {
    let client: Client | undefined;
    const end = (state: Result['state'], text: string): void => {
      client?.close();
      resolve({ state, text });
    };
    try {
      const credentials = (): ReturnType<Connection['channelCredentials']> => own.channelCredentials();
      client = upstreamClient({ target, credentials, channelOptions: own.channelOptions, headers: () => ({}) });
    } catch (error) {
      end('missing', `istiod at ${target} can not be asked: ${(error as Error).message}`);
      return;
    }
    const bytes = (value: Buffer): Buffer => value;
    const deadline = Date.now() + 5000;
    client.makeUnaryRequest(NO_METHOD, bytes, bytes, Buffer.alloc(0), new Metadata(), { deadline }, (error) => {
      const { code = status.OK, details = '' } = error ?? {};
      const isAway = code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED;
      if (!isAway) end('ok', `istiod at ${target} answers`);
      else
        end(
          'missing',
          `istiod at ${target} does not answer: ${plainReason(details)}; look whether it runs, whether the address (ISTIO_ADDRESS) is right, and whether a firewall lets it through`,
        );
    });
  });
}

function certificate(certificates: Certificates): Result {
  const { current, isPossible, connection: own } = certificates;
  if (current !== undefined) {
    const until = new Date(current.until).toISOString();
    if (current.until > Date.now()) return { state: 'ok', text: `the workload has a certificate until ${until}` };
    return {
      state: isPossible && own.token() !== undefined ? 'note' : 'missing',
      text: `the certificate of the workload ended at ${until}: put a token into var/run/secrets/tokens/istio-token`,
    };
  }
  if (!isPossible) {
    return {
      state: 'missing',
      text: 'there is nothing to get a certificate by, so that there is no mutual TLS: put a token into var/run/secrets/tokens/istio-token, or cert-chain.pem, key.pem and root-cert.pem into etc/certs',
    };
  }
  const by = own.token() === undefined ? 'files of etc/certs' : 'the token of var/run/secrets/tokens/istio-token';
  return { state: 'ok', text: `there is something to get a certificate by: ${by}` };
}

function envoy(root: string, { env, proxyConfig }: AgentSettings): Result {
  try {
    const found = envoySettings(root, env, proxyConfig);
    return found === undefined
      ? { state: 'note', text: 'the agent goes without an Envoy, as DISABLE_ENVOY is true' }
      : { state: 'ok', text: `Envoy is ${found.path}` };
  } catch (error) {
    return { state: 'missing', text: (error as Error).message };
  }
}

function dns(root: string, { env, dns: settings }: AgentSettings): readonly Result[] {
  if (settings === undefined) {
    if (isTrue(env['DISABLE_ENVOY'])) return [];
    const text =
      'names of the mesh are not known to this machine: write ISTIO_META_DNS_CAPTURE=true into var/lib/istio/envoy/sidecar.env if programs are to use them';
    return [{ state: 'note', text }];
  }
  if (settings.upstream.length > 0) return [{ state: 'ok', text: 'other names are asked for at DNS_UPSTREAM' }];
  const { servers } = machineResolvConf(root).content;
  return servers.length > 0
    ? [{ state: 'ok', text: `other names are asked for at ${servers.map(({ host }) => host).join(', ')}` }]
    : [
        {
          state: 'missing',
          text: 'there is no name server for names outside of the mesh: write nameserver lines into etc/resolv.conf, or DNS_UPSTREAM',
        },
      ];
}

function capture(root: string, env: Environment, run: Run): Result {
  if (isTrue(env['ISTIO_CUSTOM_IP_TABLES']))
    return { state: 'note', text: 'somebody else sees to the capture of traffic (ISTIO_CUSTOM_IP_TABLES)' };
  const settings = captureSettings(root, env);
  if (env['ISTIO_META_INTERCEPTION_MODE'] === 'NONE' && settings.dns === undefined)
    return { state: 'note', text: 'no traffic is captured, as ISTIO_META_INTERCEPTION_MODE is NONE' };
  try {
    const [first, ...others] = new Capture(settings, run).differences();
    if (first === undefined) return { state: 'ok', text: 'traffic is captured as it should be' };
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return {
      state: 'missing',
      text: `traffic is not captured as it should be: run istio-agent iptables apply as root; ${first}${more}`,
    };
  } catch (error) {
    return { state: 'missing', text: `whether traffic is captured can not be seen: ${(error as Error).message}` };
  }
}

async function agent({ proxyConfig }: AgentSettings): Promise<Result> {
  const port = statusPort(proxyConfig);
  try {
    const { status: code, body } = await askEnvoy(port, 'GET', '/healthz/ready');
    if (code === 200) return { state: 'ok', text: 'the agent runs, and the workload is ready' };
    return { state: 'missing', text: `the agent runs, but the workload is not ready: ${body.trim()}` };
  } catch {
    return { state: 'note', text: `no agent answers on port ${port}: start it (systemctl start istio-agent)` };
  }
}
