import type { MeshConfig } from '#generated/config/specs.ts';
import type { JsonObject } from '../base/json.ts';
import { compareStrings } from '../base/order.ts';
import type { Config } from '../config/config.ts';
import { effectiveMesh } from '../config/mesh.ts';
import { MESH_KEY } from '../config/mesh-files.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ProxySession, ProxySessions } from '../pipeline/session.ts';
import { decodeMessage } from '../proto/decode.ts';
import { ENDPOINT_TYPE, EXTENSION_CONFIG_TYPE, messageName, NAME_TABLE_TYPE } from '../proto/type-urls.ts';
import { type Answer, json, type Route, text } from './http.ts';

export interface InspectSources {
  readonly pipeline: Pipeline;
  readonly sessions: ProxySessions;
}

const DUMPS = { edsz: ENDPOINT_TYPE, ecdsz: EXTENSION_CONFIG_TYPE, ndsz: NAME_TABLE_TYPE } as const;

/** What the mesh is made into, and what a proxy is sent of single types (istio/istio pilot/pkg/xds/debug.go). */
export function inspectRoutes({ pipeline, sessions }: InspectSources): readonly Route[] {
  return [
    {
      path: '/debug/registryz',
      doc: 'services, from all objects that define some',
      answer: () => json(services(pipeline)),
    },
    { path: '/debug/mesh', doc: 'MeshConfig in force, defaults filled in', answer: () => json(meshConfig(pipeline)) },
    {
      path: '/debug/instancesz',
      doc: 'what each connected proxy serves itself',
      answer: () =>
        json(Object.fromEntries([...sessions.sessions].map((session) => [session.id, targets(pipeline, session)]))),
    },
    ...Object.entries(DUMPS).map(([name, typeUrl]) => ({
      path: `/debug/${name}`,
      doc: `?proxyID=NAME: resources of ${messageName(typeUrl).split('.').at(-1)} of a proxy as it is sent them`,
      answer: (query: URLSearchParams) =>
        ofProxy(sessions, query.get('proxyID') ?? '', (session) => json(resources(session, typeUrl))),
    })),
  ];
}

/** An answer about the proxy that is asked for, or which ones there are. */
export function ofProxy(sessions: ProxySessions, name: string, answer: (session: ProxySession) => Answer): Answer {
  const session = sessions.named(name);
  if (session !== undefined) return answer(session);
  const known = [...sessions.sessions].map(({ id }) => id).sort();
  return text(`no proxy "${name}" is connected; write ?proxyID= one of: ${known.join(', ') || '(none)'}`, 404);
}

function services({ mesh }: Pipeline): readonly JsonObject[] {
  const keys = [...mesh.byKind.get('ServiceEntry'), ...mesh.byKind.get('Service')];
  const all = keys.flatMap((key) => mesh.servicesOfConfig.get(key));
  return [...all].sort((a, b) => compareStrings(a.id, b.id)) as unknown as readonly JsonObject[];
}

function meshConfig({ mesh }: Pipeline): JsonObject {
  const written = mesh.configs.get(MESH_KEY) as Config<MeshConfig> | undefined;
  return effectiveMesh(written, mesh.options.rootNamespace) as unknown as JsonObject;
}

function targets({ mesh }: Pipeline, { scope }: ProxySession): readonly JsonObject[] {
  return mesh.targets
    .get(scope)
    .map(({ service, ...target }) => ({ service: service.id, ...target }) as unknown as JsonObject);
}

function resources(session: ProxySession, typeUrl: string): readonly JsonObject[] {
  return [...(session.resources(typeUrl)?.values() ?? [])].map(({ bytes }) => ({
    '@type': typeUrl,
    ...decodeMessage(messageName(typeUrl), bytes),
  }));
}
