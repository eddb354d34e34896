import type { JsonObject } from '../base/json.ts';
import { ClientStream, type ClientStreamOptions } from '../xds/client-stream.ts';
import type { Upstream } from './xds/live-stream.ts';

export interface ControlPlaneOptions extends Pick<ClientStreamOptions, 'typeUrls' | 'onResponse'> {
  readonly upstream: Upstream;
  readonly node: JsonObject;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** A stream of the agent's own to istiod, which is opened again whenever it ends. */
export function controlPlaneStream({ upstream, log, ...options }: ControlPlaneOptions): ClientStream {
  const { target } = upstream;
  let before: string | undefined;
  return new ClientStream({
    ...options,
    address: target,
    credentials: () => upstream.credentials(),
    channel: upstream.channelOptions,
    headers: () => upstream.headers(),
    onState: (why) => {
      const reason = why === undefined ? undefined : plainReason(why);
      const state = reason ?? '';
      if (state === before) return;
      if (reason === undefined) log.info(`istiod at ${target} is connected`);
      else if (before === undefined || before === '')
        log.warn(`istiod at ${target} is away, and what it said last stays in force: ${reason}`);
      else log.info(`istiod at ${target} is still away: ${reason}`);
      before = state;
    },
  });
}

/** What gRPC says of a connection, without its wrapping. */
export function plainReason(details: string): string {
  return details
    .replace(/^No connection established\. Last error: (?:Error: )?/, '')
    .replace(/\.? ?Resolution note: ?$/, '');
}
