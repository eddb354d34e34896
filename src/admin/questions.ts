import { Buffer } from 'node:buffer';
import type { envoy } from '#generated/proto/types.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import { encodeMessage, packedBytes } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import {
  CLUSTER_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  ROUTE_TYPE,
  typeUrl as typeUrlOf,
} from '../proto/type-urls.ts';
import { typesOfClient } from '../xds/client-status.ts';
import type { StreamStatus } from '../xds/events.ts';
import { ConnectError } from '../xds/provider.ts';
import type { Question, Questions } from '../xds/questions.ts';
import { type Access, accessOf, visibleTo } from './access.ts';
import type { Answer, Route } from './http.ts';

export interface QuestionSources {
  readonly sessions: ProxySessions;
  /** Below /debug/. */
  readonly routes: readonly Route[];
  streams(): readonly StreamStatus[];
  rootNamespace(): string;
}

type Answers = (question: Question, access: Access, sources: QuestionSources) => Promise<readonly EncodedResource[]>;

/**
 * What istioctl asks over xDS, with `--xds-address` or without, and what older ones asked.
 * @see istio/istio pilot/pkg/xds/debuggen.go, pilot/pkg/xds/statusgen.go
 */
const ANSWERS: ReadonlyMap<string, Answers> = new Map<string, Answers>([
  ['istio.io/debug', debugPage],
  ['istio.io/debug/syncz', async (_question, access, sources) => clients(access, sources).map(clientStatus)],
  ['istio.io/debug/config_dump', async ({ names }, access, sources) => configDump(names, access, sources)],
  ['istio.io/connections', async (_question, access, sources) => clients(access, sources).map(connection)],
]);

export function debugQuestions(sources: QuestionSources): Questions {
  return {
    has: (typeUrl) => ANSWERS.has(typeUrl),
    answer: (question) => {
      const access = accessOf(question.peer, sources.rootNamespace());
      return ANSWERS.get(question.typeUrl)?.(question, access, sources) ?? [];
    },
  };
}

/** Pages about one proxy alone, so that its namespace's callers may read them, too. */
const OF_ONE_PROXY: ReadonlySet<string> = new Set(['config_dump', 'ndsz', 'edsz']);

/** The page of that name: `syncz`, `config_dump?proxyID=web-1.shop`. */
async function debugPage({ names, typeUrl }: Question, access: Access, sources: QuestionSources) {
  const [name = ''] = names;
  if (names.length !== 1) throw new ConnectError('INVALID_ARGUMENT', 'exactly one page is to be asked for');
  const url = URL.parse(`http://localhost/debug/${name}`);
  const page = url?.pathname.slice('/debug/'.length) ?? '';
  const query = url?.searchParams ?? new URLSearchParams();
  if (access !== undefined) {
    const proxy = sources.sessions.named(query.get('proxyID') ?? '')?.proxy;
    if (!OF_ONE_PROXY.has(page) || proxy?.namespace !== access) {
      throw new ConnectError('PERMISSION_DENIED', `callers of the namespace ${access} may not read ${name}`);
    }
  }
  const route = sources.routes.find(({ path }) => path === url?.pathname);
  const { body } = route === undefined ? notFound(page, sources.routes) : await route.answer(query);
  return [{ name, version: '', bytes: Buffer.from(body), typeUrl }];
}

/** istioctl takes `list`, and shows what there is when it reads the words of a page that is not there. */
function notFound(page: string, routes: readonly Route[]): Answer {
  const names = routes.map(({ path }) => path.slice('/debug/'.length)).sort();
  return { body: page === 'list' ? `${JSON.stringify(names)}\n` : '404 page not found\n' };
}

function clients(access: Access, { streams, sessions }: QuestionSources): readonly StreamStatus[] {
  return streams().filter(visibleTo(access, sessions));
}

const CLIENT_CONFIG = 'envoy.service.status.v3.ClientConfig';
const NODE = 'envoy.config.core.v3.Node';
const SHOWN = ['CLUSTER_ID', 'NAMESPACE', 'ISTIO_VERSION'];

function clientStatus(stream: StreamStatus): EncodedResource {
  const { proxy: id, node } = stream;
  const metadata = Object.fromEntries(
    SHOWN.flatMap((name) => (node.metadata?.[name] === undefined ? [] : [[name, node.metadata[name]]])),
  );
  const config = typesOfClient(stream, { id, metadata });
  return { name: id, version: '', typeUrl: typeUrlOf(CLIENT_CONFIG), bytes: encodeMessage(CLIENT_CONFIG, config) };
}

function connection({ node: { id, cluster, metadata } }: StreamStatus): EncodedResource {
  const node: envoy.config.core.v3.Node = { id, cluster, ...(metadata && { metadata }) };
  return { name: id, version: '', typeUrl: typeUrlOf(NODE), bytes: encodeMessage(NODE, node) };
}

/** What a proxy is sent, in the form of an Envoy's own dump. Secrets are not in it. */
function configDump(
  names: readonly string[],
  access: Access,
  { sessions }: QuestionSources,
): readonly EncodedResource[] {
  const session = names.length === 1 ? sessions.named(names[0] ?? '') : undefined;
  if (session === undefined || (access !== undefined && session.proxy.namespace !== access)) return [];
  const of = (type: string) =>
    [...(session.resources(type)?.values() ?? [])].map(({ name, version, bytes }) => ({
      name,
      versionInfo: version,
      any: packedBytes(type, bytes),
    }));
  const dump = (name: `${string}ConfigDump`, message: object): EncodedResource => {
    const type = `envoy.admin.v3.${name}`;
    return { name, version: '', typeUrl: typeUrlOf(type), bytes: encodeMessage(type, message) };
  };
  return [
    dump('BootstrapConfigDump', {}),
    dump('ClustersConfigDump', {
      dynamicActiveClusters: of(CLUSTER_TYPE).map(({ versionInfo, any }) => ({ versionInfo, cluster: any })),
    }),
    dump('ListenersConfigDump', {
      dynamicListeners: of(LISTENER_TYPE).map(({ name, versionInfo, any }) => ({
        name,
        activeState: { versionInfo, listener: any },
      })),
    }),
    dump('ScopedRoutesConfigDump', {}),
    dump('RoutesConfigDump', {
      dynamicRouteConfigs: of(ROUTE_TYPE).map(({ versionInfo, any }) => ({ versionInfo, routeConfig: any })),
    }),
    dump('SecretsConfigDump', {}),
    dump('EcdsConfigDump', {
      ecdsFilters: of(EXTENSION_CONFIG_TYPE).map(({ versionInfo, any }) => ({ versionInfo, ecdsFilter: any })),
    }),
  ];
}
