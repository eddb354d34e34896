import type { Diagnostic } from '../base/diagnostic.ts';
import type { JsonObject } from '../base/json.ts';
import { compareStrings } from '../base/order.ts';
import type { Config } from '../config/config.ts';
import { holdsKeys } from '../config/kinds/secret.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ProxySession, ProxySessions } from '../pipeline/session.ts';
import { decodeMessage } from '../proto/decode.ts';
import { SECRET_TYPE } from '../proto/type-urls.ts';
import type { StreamStatus, TypeStatus } from '../xds/events.ts';
import { type Answer, json, type Route } from './http.ts';
import { ofProxy } from './inspect.ts';

export interface DebugSources {
  readonly pipeline: Pipeline;
  readonly sessions: ProxySessions;
  streams(): readonly StreamStatus[];
  diagnostics(): readonly Diagnostic[];
}

/** /debug as istiod names it (istio/istio pilot/pkg/xds/debug.go), and the findings. */
export function debugRoutes(sources: DebugSources): readonly Route[] {
  return [
    { path: '/debug/configz', doc: 'configuration in force', answer: () => json(configs(sources.pipeline)) },
    { path: '/debug/endpointz', doc: 'services and their endpoints', answer: () => json(endpoints(sources.pipeline)) },
    { path: '/debug/syncz', doc: 'what each proxy was sent and has acknowledged', answer: () => json(sync(sources)) },
    {
      path: '/debug/config_dump',
      doc: '?proxyID=NAME: the resources of a proxy as it is sent them',
      answer: (query) => ofProxy(sources.sessions, query.get('proxyID') ?? '', configDump),
    },
    diagnosticsRoute(() => sources.diagnostics()),
    { path: '/debug/scopez', doc: 'scopes, and the proxies that share each', answer: () => json(scopes(sources)) },
  ];
}

export function diagnosticsRoute(diagnostics: () => readonly Diagnostic[]): Route {
  return {
    path: '/debug/diagnosticsz',
    doc: 'findings about the configuration, each with its place',
    answer: () => json(diagnostics()),
  };
}

/** Kinds of which some are made of Ingresses and objects of the Gateway API. */
const MADE_KINDS = ['Gateway', 'VirtualService', 'DestinationRule'] as const;

function configs({ mesh }: Pipeline): readonly JsonObject[] {
  const made = MADE_KINDS.flatMap((kind) => mesh.keysOf(kind));
  return [...new Set([...mesh.configs.keys(), ...made])]
    .flatMap((key) => mesh.configs.get(key) ?? mesh.config(key) ?? [])
    .filter(({ kind }) => !holdsKeys(kind))
    .map(asObject);
}

function asObject({ group, version, kind, namespace, name, labels, annotations, spec, location, source }: Config) {
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...(namespace ? { namespace } : {}), labels, annotations },
    spec: spec as JsonObject,
    source: `${location.file}:${location.line}`,
    from: source,
  };
}

function endpoints({ mesh }: Pipeline): readonly JsonObject[] {
  const keys = [...mesh.byKind.get('ServiceEntry'), ...mesh.byKind.get('Service')];
  const services = keys.flatMap((key) => mesh.servicesOfConfig.get(key));
  const ids = [...new Set(services.map((s) => `${s.namespace}/${s.hostname}`))].sort(compareStrings);
  return ids.map((id) => ({ service: id, endpoints: mesh.endpoints.get(id) as unknown as readonly JsonObject[] }));
}

const FIELDS: Readonly<Record<string, string>> = {
  'type.googleapis.com/envoy.config.cluster.v3.Cluster': 'cluster',
  'type.googleapis.com/envoy.config.listener.v3.Listener': 'listener',
  'type.googleapis.com/envoy.config.route.v3.RouteConfiguration': 'route',
  'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment': 'endpoint',
  'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig': 'extension_config',
};

function sync({ streams }: DebugSources): readonly JsonObject[] {
  return streams().map((stream) => ({
    proxy: stream.proxy,
    proxy_type: stream.node.id.split('~')[0] ?? '',
    cluster_id: String(stream.node.metadata?.['CLUSTER_ID'] ?? ''),
    istio_version: String(stream.node.metadata?.['ISTIO_VERSION'] ?? ''),
    peer: stream.peer.address,
    variant: stream.variant,
    since: new Date(stream.since).toISOString(),
    ...Object.fromEntries(stream.types.flatMap(syncFields)),
  }));
}

function syncFields(type: TypeStatus): readonly (readonly [string, JsonObject | string])[] {
  const name = FIELDS[type.typeUrl] ?? type.typeUrl;
  const { sent, acked, nack, state, wildcard, subscribed, withheld } = type;
  return [
    [`${name}_sent`, sent?.nonce ?? ''],
    [`${name}_acked`, acked?.nonce ?? ''],
    [
      `${name}_status`,
      {
        state,
        wildcard,
        subscribed,
        withheld,
        ...(nack ? { refused: nack.message, refusedAt: new Date(nack.at).toISOString() } : {}),
      },
    ],
  ];
}

const DUMP = 'type.googleapis.com/envoy.admin.v3.';

function configDump(session: ProxySession): Answer {
  const of = (typeUrl: string, field: string) =>
    resources(session, typeUrl).map(({ version, resource }) => ({ versionInfo: version, [field]: resource }));
  const [cluster, listener, route, endpoint] = Object.keys(FIELDS);
  return json({
    configs: [
      { '@type': `${DUMP}ClustersConfigDump`, dynamicActiveClusters: of(cluster ?? '', 'cluster') },
      {
        '@type': `${DUMP}ListenersConfigDump`,
        dynamicListeners: of(listener ?? '', 'listener').map((activeState) => ({ activeState })),
      },
      { '@type': `${DUMP}RoutesConfigDump`, dynamicRouteConfigs: of(route ?? '', 'routeConfig') },
      { '@type': `${DUMP}EndpointsConfigDump`, dynamicEndpointConfigs: of(endpoint ?? '', 'endpointConfig') },
      { '@type': `${DUMP}SecretsConfigDump`, dynamicActiveSecrets: secrets(session) },
    ],
  });
}

function resources(session: ProxySession, typeUrl: string): readonly { version: string; resource: JsonObject }[] {
  const set = session.resources(typeUrl);
  const fullName = typeUrl.slice(typeUrl.indexOf('/') + 1);
  return [...(set?.values() ?? [])].map(({ version, bytes }) => ({
    version,
    resource: { '@type': typeUrl, ...decodeMessage(fullName, bytes) },
  }));
}

const REDACTED = Buffer.from('[redacted]').toString('base64');

/** Secrets without their keys. */
function secrets(session: ProxySession): readonly JsonObject[] {
  return resources(session, SECRET_TYPE).map(({ version, resource }) => {
    const name = String(resource['name']);
    const { tlsCertificate } = resource;
    if (tlsCertificate === undefined) return { name, versionInfo: version, secret: resource };
    const shown = { ...(tlsCertificate as JsonObject), privateKey: { inlineBytes: REDACTED } };
    return { name, versionInfo: version, secret: { ...resource, tlsCertificate: shown } };
  });
}

function scopes({ sessions }: DebugSources): readonly JsonObject[] {
  const byKey = Map.groupBy(sessions.sessions, ({ scope }) => scope.key);
  return [...byKey]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([, members]) => ({
      proxies: members.map(({ id }) => id).sort(),
      scope: members[0]?.scope as unknown as JsonObject,
    }));
}
