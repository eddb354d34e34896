import type { EnvoyExternalAuthorizationRequestBody, ExtensionProvider } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { httpStatusName } from '../../base/http-status.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { packed } from '../../proto/message.ts';

type ExtAuthz = envoy.extensions.filters.http.ext_authz.v3.ExtAuthz;
type HttpService = envoy.extensions.filters.http.ext_authz.v3.HttpService;
type GrpcService = envoy.config.core.v3.GrpcService;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type ListStringMatcher = envoy.type.matcher.v3.ListStringMatcher;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type NetworkFilter = envoy.config.listener.v3.Filter;

/** An authorizer of mesh.yaml, and where it is. */
export interface ExternalAuthorizer {
  readonly provider: Pick<ExtensionProvider, 'envoyExtAuthzHttp' | 'envoyExtAuthzGrpc'>;
  readonly hostname: string;
  readonly cluster: string;
}

const DEFAULT_TIMEOUT = '600s';

/** Headers by name, or by a name with `*` at one end. */
function headerNames(names: readonly string[] | undefined): ListStringMatcher | undefined {
  if (names === undefined || names.length === 0) return undefined;
  const patterns = names.map((name): StringMatcher => {
    if (name.startsWith('*')) return { suffix: name.slice(1), ignoreCase: true };
    if (name.endsWith('*')) return { prefix: name.slice(0, -1), ignoreCase: true };
    return { exact: name, ignoreCase: true };
  });
  return { patterns };
}

function httpService({ provider, hostname, cluster }: ExternalAuthorizer): HttpService {
  const config = provider.envoyExtAuthzHttp ?? {};
  const added = Object.entries(config.includeAdditionalHeadersInCheck ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const response = {
    allowedUpstreamHeaders: headerNames(config.headersToUpstreamOnAllow),
    allowedClientHeaders: headerNames(config.headersToDownstreamOnDeny),
    allowedClientHeadersOnSuccess: headerNames(config.headersToDownstreamOnAllow),
  };
  const known = Object.entries(response).filter(([, names]) => names !== undefined);
  return {
    // Only the cluster decides who is asked; the URI must be there.
    serverUri: { uri: `http://${hostname}`, cluster, timeout: protoDuration(config.timeout ?? DEFAULT_TIMEOUT) },
    ...(config.pathPrefix ? { pathPrefix: config.pathPrefix } : {}),
    ...(added.length > 0
      ? { authorizationRequest: { headersToAdd: added.map(([key, value]) => ({ key, value })) } }
      : {}),
    ...(known.length > 0 ? { authorizationResponse: Object.fromEntries(known) } : {}),
  };
}

function grpcService({ provider, hostname, cluster }: ExternalAuthorizer): GrpcService {
  return {
    envoyGrpc: { clusterName: cluster, authority: hostname },
    timeout: protoDuration(provider.envoyExtAuthzGrpc?.timeout ?? DEFAULT_TIMEOUT),
  };
}

function requestBody(body: EnvoyExternalAuthorizationRequestBody | undefined): Pick<ExtAuthz, 'withRequestBody'> {
  if (body === undefined) return {};
  const { maxRequestBytes = 0, allowPartialMessage = false, packAsBytes = false } = body;
  return { withRequestBody: { maxRequestBytes, allowPartialMessage, packAsBytes } };
}

/**
 * Asks the authorizer about requests for which a filter before this one says so in its metadata.
 * @see istio/istio pilot/pkg/security/authz/builder/extauthz.go
 */
export function httpExtAuthz(authorizer: ExternalAuthorizer, filterEnabledMetadata: MetadataMatcher): HttpFilter {
  const { envoyExtAuthzHttp: http, envoyExtAuthzGrpc: grpc } = authorizer.provider;
  const settings = http ?? grpc ?? {};
  const headers = headerNames(http?.includeRequestHeadersInCheck) ?? headerNames(http?.includeHeadersInCheck);
  const statusOnError = httpStatusName(settings.statusOnError ?? '');
  return {
    name: 'envoy.filters.http.ext_authz',
    typedConfig: packed('envoy.extensions.filters.http.ext_authz.v3.ExtAuthz', {
      ...(http === undefined ? { grpcService: grpcService(authorizer) } : { httpService: httpService(authorizer) }),
      transportApiVersion: 'V3',
      filterEnabledMetadata,
      ...(settings.failOpen ? { failureModeAllow: true } : {}),
      ...(settings.clearRouteCache ? { clearRouteCache: true } : {}),
      ...(statusOnError === undefined ? {} : { statusOnError: { code: statusOnError } }),
      ...(headers === undefined ? {} : { allowedHeaders: headers }),
      ...requestBody(settings.includeRequestBodyInCheck),
    }),
  };
}

/** The same for connections, which only an authorizer can decide on that speaks gRPC. */
export function tcpExtAuthz(
  authorizer: ExternalAuthorizer,
  filterEnabledMetadata: MetadataMatcher,
): NetworkFilter | undefined {
  const { envoyExtAuthzGrpc: grpc } = authorizer.provider;
  if (grpc === undefined) return undefined;
  return {
    name: 'envoy.filters.network.ext_authz',
    typedConfig: packed('envoy.extensions.filters.network.ext_authz.v3.ExtAuthz', {
      statPrefix: 'tcp.',
      transportApiVersion: 'V3',
      filterEnabledMetadata,
      grpcService: grpcService(authorizer),
      ...(grpc.failOpen ? { failureModeAllow: true } : {}),
    }),
  };
}
