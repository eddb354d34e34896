import type { Graph } from '../../derive/graph.ts';
import type { Configuration } from '../configuration.ts';
import type { MeshOptions } from '../options.ts';
import type { Services } from '../services.ts';
import { type ConvertedBackendTlsPolicies, deriveConvertedBackendTls } from './backend-tls.ts';
import { deriveConversionFacts } from './facts.ts';
import { type ConvertedGateways, deriveConvertedGateways } from './gateways.ts';
import { type ConvertedIngresses, deriveConvertedIngresses } from './ingresses.ts';
import { withMade } from './made-objects.ts';
import { type ConvertedRoutes, deriveConvertedRoutes } from './routes.ts';

/** What Kubernetes' kinds are made into, and why not more. */
export interface Conversions {
  readonly gateways: ConvertedGateways;
  readonly routes: ConvertedRoutes;
  readonly backendTls: ConvertedBackendTlsPolicies;
  readonly ingresses: ConvertedIngresses;
}

/** Nothing is converted before it is asked for, each object on its own. */
export function deriveConversions(
  graph: Graph,
  written: Configuration,
  services: Services,
  { domainSuffix, ingressNamespace }: MeshOptions,
): { readonly conversions: Conversions; readonly configuration: Configuration } {
  const facts = deriveConversionFacts(graph, written, services, domainSuffix);
  const gateways = deriveConvertedGateways(graph, written, facts);
  const routes = deriveConvertedRoutes(graph, written, gateways, facts);
  const backendTls = deriveConvertedBackendTls(graph, written, facts);
  const ingresses = deriveConvertedIngresses(graph, written, facts, ingressNamespace);
  return {
    conversions: { gateways, routes, backendTls, ingresses },
    configuration: withMade(graph, written, [gateways, routes, backendTls, ingresses]),
  };
}
