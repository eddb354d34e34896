import type { ExtensionProvider, HttpHeader } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

function* headerProblems(at: Place, headers: readonly HttpHeader[] = []): Generator<Finding> {
  for (const [i, { value, envName }] of headers.entries()) {
    if (value === undefined && envName === undefined) yield at.at(i).error('is sent empty: set value or envName');
  }
}

function* logProblems(
  at: Place,
  { envoyFileAccessLog: file, envoyOtelAls: otel }: ExtensionProvider,
): Generator<Finding> {
  const format = file?.logFormat;
  if (format !== undefined && format.text === undefined && format.labels === undefined) {
    yield at.at('envoyFileAccessLog', 'logFormat').error("has neither text nor labels, so Envoy's own format is used");
  }
  for (const [label, value] of Object.entries(otel?.logFormat?.labels ?? {})) {
    if (typeof value === 'string') continue;
    yield at.at('envoyOtelAls', 'logFormat', 'labels', label).error('is no text, so it is sent empty: quote it');
  }
}

/** What a provider of logs or traces says in vain. */
export function* telemetryProviderProblems(at: Place, provider: ExtensionProvider): Generator<Finding> {
  yield* logProblems(at, provider);
  const { zipkin, opentelemetry, skywalking } = provider;
  yield* headerProblems(at.at('zipkin', 'headers'), zipkin?.headers);
  yield* headerProblems(at.at('opentelemetry', 'http', 'headers'), opentelemetry?.http?.headers);
  yield* headerProblems(at.at('opentelemetry', 'grpc', 'initialMetadata'), opentelemetry?.grpc?.initialMetadata);
  const sampler = opentelemetry?.dynatraceSampler;
  if (sampler !== undefined && sampler.httpService === undefined && opentelemetry?.http === undefined) {
    yield at
      .at('opentelemetry', 'dynatraceSampler')
      .error('knows no API to ask, so that nothing is traced: set its httpService, or http of the provider');
  }
  if (skywalking?.accessToken !== undefined) {
    yield at.at('skywalking', 'accessToken').error('is not told to proxies, nor is it by istiod: remove it');
  }
}
