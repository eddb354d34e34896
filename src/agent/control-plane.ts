import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import type { JsonObject } from '../base/json.ts';
import { ClientStream, type ClientStreamOptions } from '../xds/client-stream.ts';
import { grpcTarget } from './control-plane-address.ts';
import type { ControlPlaneSettings } from './settings.ts';

export interface ControlPlaneOptions extends Pick<ClientStreamOptions, 'typeUrls' | 'onResponse'> {
  /** Files are relative to it. */
  readonly root: string;
  readonly settings: ControlPlaneSettings;
  readonly node: JsonObject;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** A stream to istiod, which is opened again whenever it ends, with the certificates and the token that are there then. */
export function controlPlaneStream({ root, settings, log, ...options }: ControlPlaneOptions): ClientStream {
  const address = grpcTarget(settings.address);
  let before: string | undefined;
  return new ClientStream({
    ...options,
    address,
    credentials: () => channelCredentials(root, settings),
    channel: channelOptions(settings),
    headers: () => ({ ...settings.headers, ...authorization(root, settings) }),
    onState: (why) => {
      const reason = why === undefined ? undefined : plainReason(why);
      const state = reason ?? '';
      if (state === before) return;
      if (reason === undefined) log.info(`istiod at ${address} is connected`);
      else if (before === undefined || before === '')
        log.warn(`istiod at ${address} is away, and what it said last stays in force: ${reason}`);
      else log.info(`istiod at ${address} is still away: ${reason}`);
      before = state;
    },
  });
}

/** What gRPC says of a connection, without its wrapping. */
function plainReason(details: string): string {
  return details
    .replace(/^No connection established\. Last error: (?:Error: )?/, '')
    .replace(/\.? ?Resolution note: ?$/, '');
}

function channelOptions({ serverName }: ControlPlaneSettings): ChannelOptions {
  if (serverName === undefined) return {};
  return { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName };
}

/** @throws Error with a message for people when there is nothing by which istiod could be told from others */
function channelCredentials(root: string, settings: ControlPlaneSettings): ChannelCredentials {
  if (settings.plaintext) return credentials.createInsecure();
  const { rootFiles, certificateDirectory } = settings;
  const roots = rootFiles?.map((file) => read(root, file)).find((text) => text !== undefined);
  if (rootFiles !== undefined && roots === undefined) {
    throw new Error(
      `there are no roots for its certificate: put them into ${rootFiles.join(' or ')}, or write XDS_ROOT_CA=SYSTEM if it has a public one`,
    );
  }
  const chain = read(root, join(certificateDirectory, 'cert-chain.pem'));
  const key = read(root, join(certificateDirectory, 'key.pem'));
  const own = chain !== undefined && key !== undefined ? ([key, chain] as const) : ([null, null] as const);
  return credentials.createSsl(roots ?? null, ...own);
}

/** A token is a secret: it goes over TLS alone. */
function authorization(root: string, { plaintext, tokenFile }: ControlPlaneSettings): Readonly<Record<string, string>> {
  const token = plaintext ? undefined : read(root, tokenFile)?.toString('latin1').trim();
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** Undefined when there is no such file. */
function read(root: string, file: string): Buffer | undefined {
  try {
    return readFileSync(file.startsWith('/') ? file : join(root, file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`${file} can not be read: ${code === 'EACCES' ? 'permission denied' : message}`, { cause: error });
  }
}
