import type { ExtensionProvider } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { portProblem } from './addresses.ts';
import { namespacedHostFindings } from './exposed-hosts.ts';
import { hostProblem, problem } from './names.ts';

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

/** Status codes that Envoy can answer with. @see envoyproxy/envoy api/envoy/type/v3/http_status.proto */
function isAnswer(status: string): boolean {
  return /^\d{3}$/.test(status) && Number(status) >= 200 && Number(status) <= 511;
}

function* providerProblems(at: Place, provider: ExtensionProvider): Generator<Finding> {
  for (const name of WITH_SERVICE) {
    const settings = provider[name];
    if (settings === undefined) continue;
    yield* serviceFindings(at.at(name, 'service'), settings.service ?? '');
    yield* problem(at.at(name, 'port'), portProblem(settings.port ?? 0));
  }
  for (const name of ['envoyExtAuthzHttp', 'envoyExtAuthzGrpc'] as const) {
    const { statusOnError = '' } = provider[name] ?? {};
    if (statusOnError !== '' && !isAnswer(statusOnError)) {
      yield at.at(name, 'statusOnError').error(`"${statusOnError}" is not an HTTP status`);
    }
  }
  const { pathPrefix = '' } = provider.envoyExtAuthzHttp ?? {};
  if (pathPrefix !== '' && !pathPrefix.startsWith('/')) {
    yield at.at('envoyExtAuthzHttp', 'pathPrefix').error(`"${pathPrefix}" must begin with "/"`);
  }
  if (provider.lightstep !== undefined && (provider.lightstep.accessToken ?? '') === '') {
    yield at.at('lightstep', 'accessToken').error('is required');
  }
  if (provider.opentelemetry?.grpc !== undefined && provider.opentelemetry.http !== undefined) {
    yield at.at('opentelemetry', 'grpc').error('only one of grpc and http may be set');
  }
  if (Object.keys(provider).every((name) => name === 'name'))
    yield at.error('says not what it is: set one of its fields');
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
