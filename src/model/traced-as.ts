import type { ExtensionProvider } from '#generated/config/specs.ts';
import { isJsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import type { Proxy } from './proxy.ts';
import type { ProxyScope } from './scope.ts';

/** What the tracers of the mesh want to know of a proxy. */
export interface AskedByTracers {
  /** There are any. */
  readonly any: boolean;
  readonly service: boolean;
  readonly conventional: boolean;
}

/** Tracers that name the service on their own; others leave it to who receives the spans. */
export function askedByTracers(providers: readonly ExtensionProvider[]): AskedByTracers {
  const enrichments = providers.flatMap(({ opentelemetry }) =>
    opentelemetry === undefined ? [] : [opentelemetry.serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS'],
  );
  return {
    any: providers.some((one) => one.zipkin ?? one.opentelemetry ?? one.datadog ?? one.skywalking),
    service: enrichments.includes(false) || providers.some(({ datadog }) => datadog !== undefined),
    conventional: enrichments.includes(true),
  };
}

/**
 * The service by the conventions of OpenTelemetry: what the workload says, what its labels say, what owns it, itself.
 *
 * @see istio/istio pilot/pkg/networking/core/tracing.go `otelServiceName`
 */
function conventionalName({ id, metadata }: Proxy, labels: Labels): string {
  const annotations = metadata['ANNOTATIONS'];
  const said = isJsonObject(annotations) ? annotations['resource.opentelemetry.io/service.name'] : undefined;
  const containers = metadata['APP_CONTAINERS'];
  const candidates = [
    said,
    labels['app.kubernetes.io/instance'],
    labels['app.kubernetes.io/name'],
    metadata['WORKLOAD_NAME'],
    id.includes('.') ? id.slice(0, id.indexOf('.')) : '',
    typeof containers === 'string' && !containers.includes(',') ? containers : '',
  ];
  const found = candidates.find((name) => typeof name === 'string' && name !== '');
  return typeof found === 'string' ? found : 'unknown_service';
}

/** What of the names of a proxy is a part of its scope: what no tracer asks for keeps no two apart. */
export function tracedAs(
  proxy: Proxy,
  labels: Labels,
  { any, service, conventional }: AskedByTracers,
): Pick<ProxyScope, 'tracedAs'> {
  if (!any) return {};
  return {
    tracedAs: {
      istioMinor: proxy.istioMinor,
      ...(service ? { service: proxy.serviceCluster } : {}),
      ...(conventional ? { conventional: conventionalName(proxy, labels) } : {}),
    },
  };
}
