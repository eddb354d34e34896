import type { ApplyTo, EnvoyConfigObjectPatch } from '#generated/config/specs.ts';
import { readWritten, type WrittenMessage } from '../../proto/written.ts';
import type { Finding, Place } from '../finding.ts';

/** What each kind of patch is a message of. */
export const PATCHED_MESSAGES: Readonly<Record<Exclude<ApplyTo, 'INVALID'>, string>> = {
  LISTENER: 'envoy.config.listener.v3.Listener',
  LISTENER_FILTER: 'envoy.config.listener.v3.ListenerFilter',
  FILTER_CHAIN: 'envoy.config.listener.v3.FilterChain',
  NETWORK_FILTER: 'envoy.config.listener.v3.Filter',
  HTTP_FILTER: 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ROUTE_CONFIGURATION: 'envoy.config.route.v3.RouteConfiguration',
  VIRTUAL_HOST: 'envoy.config.route.v3.VirtualHost',
  HTTP_ROUTE: 'envoy.config.route.v3.Route',
  CLUSTER: 'envoy.config.cluster.v3.Cluster',
  EXTENSION_CONFIG: 'envoy.config.core.v3.TypedExtensionConfig',
  BOOTSTRAP: 'envoy.config.bootstrap.v3.Bootstrap',
};

const NOTHING: WrittenMessage = { problems: [], packed: [] };

/** The value of a patch as a message; without one where the patch has none, or it does not fit. */
export function patchValue({ applyTo = 'INVALID', patch }: EnvoyConfigObjectPatch): WrittenMessage {
  if (patch?.value === undefined || applyTo === 'INVALID') return NOTHING;
  return readWritten(PATCHED_MESSAGES[applyTo], patch.value);
}

/** Messages of an Envoy that went before v3: none has been read for years. */
const BEFORE_V3 = /\.v2(?:alpha\d?|\.|$)|^envoy\.config\.filter\./;

/**
 * What is wrong with the value of a patch. A patch whose value is no such message is left out, and no other with it.
 *
 * @see istio/istio pkg/config/xds/xds.go `BuildXDSObjectFromStruct`
 */
export function* valueFindings(at: Place, patch: EnvoyConfigObjectPatch): Generator<Finding> {
  for (const { kind, path, message, nearest } of patchValue(patch).problems) {
    const place = at.at('patch', 'value', ...path);
    if (kind === 'unknown-field') yield place.warning(message, 'VM0001');
    else if (kind === 'unknown-type' && nearest === undefined && !BEFORE_V3.test(message)) {
      yield place.warning(`${message}: it goes as it is written, to proxies that say that they know it`);
    } else {
      const old = kind === 'unknown-type' && BEFORE_V3.test(message) ? ' (its version 2; write the one of v3)' : '';
      yield { ...place.error(`${message}${old}; this patch is left out`, 'VM0003'), inPart: true };
    }
  }
}
