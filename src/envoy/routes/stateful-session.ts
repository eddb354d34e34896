import type { envoy } from '#generated/proto/types.ts';
import type { Service } from '../../model/service.ts';
import { packed } from '../../proto/message.ts';

const STATEFUL_SESSION_FILTER = 'envoy.filters.http.stateful_session';

export type PersistentSession = NonNullable<Service['persistentSession']>;

/**
 * How a client stays with one endpoint of a service, by a cookie or else a header that names it.
 * @see istio/istio pilot/pkg/networking/util/util.go `MaybeBuildStatefulSessionFilterConfig`
 */
export function statefulSession({
  cookie,
  cookiePath,
  header,
}: PersistentSession): envoy.extensions.filters.http.stateful_session.v3.StatefulSession | undefined {
  if (cookie) {
    return {
      sessionState: {
        name: 'envoy.http.stateful_session.cookie',
        typedConfig: {
          '@type': 'type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState',
          cookie: { name: cookie, path: cookiePath ?? '/' },
        },
      },
    };
  }
  if (header) {
    return {
      sessionState: {
        name: 'envoy.http.stateful_session.header',
        typedConfig: {
          '@type': 'type.googleapis.com/envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState',
          name: header,
        },
      },
    };
  }
  return undefined;
}

/** The filter itself with the session of one service, for a client that has one list of filters for each; undefined without. */
export function sessionFilter(
  session: PersistentSession | undefined,
): envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter | undefined {
  const config = session && statefulSession(session);
  return (
    config && {
      name: STATEFUL_SESSION_FILTER,
      typedConfig: packed('envoy.extensions.filters.http.stateful_session.v3.StatefulSession', config),
    }
  );
}

/** The per-filter configuration of a virtual host or a route; undefined without a session. */
export function sessionFilterConfig(
  session: PersistentSession | undefined,
): { readonly [STATEFUL_SESSION_FILTER]: { readonly '@type': string; readonly [key: string]: unknown } } | undefined {
  const config = session && statefulSession(session);
  if (config === undefined) return undefined;
  return {
    [STATEFUL_SESSION_FILTER]: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute',
      statefulSession: config,
    },
  };
}
