import type { ExtensionProvider } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { httpStatusName } from '../../base/http-status.ts';
import { type Finding, type Place, placeOf } from '../finding.ts';
import { portProblem } from './addresses.ts';
import { namespacedHostFindings } from './exposed-hosts.ts';
import { hostProblem, problem } from './names.ts';
import { telemetryProviderProblems } from './telemetry-provider.ts';

/** Providers that talk to a service of the mesh. */
const WITH_SERVICE = [
  'envoyExtAuthzHttp',
  'envoyExtAuthzGrpc',
  'zipkin',
  'lightstep',
  'datadog',
  'opencensus',
  'skywalking',
  'opentelemetry',
  'envoyHttpAls',
  'envoyTcpAls',
  'envoyOtelAls',
] as const;

function* serviceFindings(at: Place, service: string): Generator<Finding> {
  if (service === '') yield at.error('a provider needs the host of its service');
  else if (service.includes('/')) yield* namespacedHostFindings(at, service);
  else if (!isIpAddress(service)) yield* problem(at, hostProblem(service));
}

/** Names stand in the names of rules, by which Envoy is told whom to ask. @see istio/istio extauthz.go `validateProviderName` */
function authorizerNameProblem(name: string): string | undefined {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)
    ? undefined
    : `"${name}" can not be the name of an authorizer: use lower case letters, digits and inner hyphens, at most 63`;
}

/** Lists of headers of an authorizer, which may have `*` at one end. */
const HEADER_LISTS = [
  'includeRequestHeadersInCheck',
  'includeHeadersInCheck',
  'headersToUpstreamOnAllow',
  'headersToDownstreamOnDeny',
  'headersToDownstreamOnAllow',
] as const;

function* authorizerProblems(at: Place, provider: ExtensionProvider): Generator<Finding> {
  const { envoyExtAuthzHttp: http, envoyExtAuthzGrpc: grpc, name = '' } = provider;
  if (http === undefined && grpc === undefined) return;
  if (name !== '') yield* problem(at.at('name'), authorizerNameProblem(name));
  for (const field of ['envoyExtAuthzHttp', 'envoyExtAuthzGrpc'] as const) {
    const { statusOnError = '' } = provider[field] ?? {};
    if (statusOnError !== '' && httpStatusName(statusOnError) === undefined) {
      yield at.at(field, 'statusOnError').error(`"${statusOnError}" is not an HTTP status that Envoy answers with`);
    }
    const body = provider[field]?.includeRequestBodyInCheck;
    if (body !== undefined && (body.maxRequestBytes ?? 0) === 0) {
      const place = at.at(field, 'includeRequestBodyInCheck', 'maxRequestBytes');
      yield place.error('must be above 0: say how many bytes of a body the authorizer gets');
    }
  }
  const { pathPrefix = '' } = http ?? {};
  if (pathPrefix !== '' && !pathPrefix.startsWith('/')) {
    yield at.at('envoyExtAuthzHttp', 'pathPrefix').error(`"${pathPrefix}" must begin with "/"`);
  }
  for (const list of HEADER_LISTS) {
    for (const [i, header] of (http?.[list] ?? []).entries()) {
      if (header === '*') yield at.at('envoyExtAuthzHttp', list, i).error('"*" alone is not supported: name headers');
    }
  }
}

function* providerProblems(at: Place, provider: ExtensionProvider): Generator<Finding> {
  for (const name of WITH_SERVICE) {
    const settings = provider[name];
    if (settings === undefined) continue;
    yield* serviceFindings(at.at(name, 'service'), settings.service ?? '');
    yield* problem(at.at(name, 'port'), portProblem(settings.port ?? 0));
  }
  yield* authorizerProblems(at, provider);
  if (provider.lightstep !== undefined && (provider.lightstep.accessToken ?? '') === '') {
    yield at.at('lightstep', 'accessToken').error('is required');
  }
  if (provider.opentelemetry?.grpc !== undefined && provider.opentelemetry.http !== undefined) {
    yield at.at('opentelemetry', 'grpc').error('only one of grpc and http may be set');
  }
  yield* telemetryProviderProblems(at, provider);
  if (Object.keys(provider).every((name) => name === 'name'))
    yield at.error('says not what it is: set one of its fields');
}

/** Whether the provider can be used as it is written. */
export function isUsableProvider(provider: ExtensionProvider): boolean {
  return providerProblems(placeOf([]), provider).next().done === true;
}

/**
 * Providers of mesh.yaml. They are warnings alone: a provider that nothing uses does no harm.
 *
 * @see istio/istio pkg/config/validation/agent/extensionprovider.go
 */
export function* extensionProvidersFindings(at: Place, providers: readonly ExtensionProvider[]): Generator<Finding> {
  const names = new Set<string>();
  for (const [i, provider] of providers.entries()) {
    const { name = '' } = provider;
    if (name === '') yield at.at(i).warning('a provider needs a name, by which others refer to it');
    else if (names.has(name))
      yield at.at(i, 'name').warning(`a provider "${name}" stands before: give each its own name`);
    names.add(name);
    for (const { path, message } of providerProblems(at.at(i), provider)) {
      yield at.at(...path.slice(at.path.length)).warning(message);
    }
  }
}
