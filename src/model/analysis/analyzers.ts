import { AUTHORIZERS, KEY_SETS } from './access.ts';
import type { Analyzer } from './analyzer.ts';
import { CERTIFICATE_VALIDITY, GATEWAY_CERTIFICATES } from './certificates.ts';
import { CLIENT_TLS } from './client-tls-conflicts.ts';
import { CONVERSIONS } from './conversions.ts';
import { DESTINATION_RULE_HOST, OVERLAPPING_RULES } from './destination-rules.ts';
import { DESTINATIONS } from './destinations.ts';
import { PATCH_USES } from './envoy-filter-uses.ts';
import { ENVOY_PATCHES } from './envoy-filters.ts';
import { GATEWAY_BLOCKS } from './gateway-blocks.ts';
import { SHARED_CERTIFICATES } from './gateway-certificates.ts';
import { GATEWAY_CONFLICTS } from './gateway-conflicts.ts';
import { CLAIM_ROUTES, GATEWAY_DESTINATION_PORTS } from './gateway-destinations.ts';
import { GATEWAY_HOSTS } from './gateway-hosts.ts';
import { GATEWAY_RULE_CONFLICTS, SIDECAR_HOST_CONFLICTS } from './host-conflicts.ts';
import { HOST_OWNERS } from './host-owners.ts';
import { PROVIDER_SERVICES } from './mesh-services.ts';
import { MODULES } from './modules.ts';
import { DEFAULT_PROVIDERS, METRICS_WITHOUT_FILTER, PROVIDER_ABILITIES } from './provider-abilities.ts';
import { AUTHORIZATION_PROVIDER, TELEMETRY_PROVIDERS } from './providers.ts';
import { SERVICE_ENTRY_SELECTOR, WORKLOAD_SELECTORS } from './selectors.ts';
import { GATEWAY_SERVER_NAMES } from './server-names.ts';
import { PORT_PROTOCOLS } from './service-protocols.ts';
import { SIDECAR_TRACERS } from './sidecar-tracers.ts';
import { EGRESS_HOSTS, INGRESS_TLS, SIDECAR_SELECTORS } from './sidecars.ts';
import { EMPTY_SUBSETS } from './subsets.ts';
import { OVERLAPPING_ADDRESSES, TCP_WITHOUT_ADDRESS } from './tcp-services.ts';
import { LOG_PROVIDERS, TELEMETRY_SELECTORS } from './telemetries.ts';
import { UNUSED_DELEGATES, UNUSED_GATEWAYS } from './unused.ts';
import { DELEGATE_REFERENCES, GATEWAY_REFERENCES, SHORT_HOSTS } from './virtual-service-references.ts';

/** All that is said of objects in view of others, the one list. */
export const ANALYZERS: readonly Analyzer[] = [
  CONVERSIONS,
  DESTINATIONS,
  GATEWAY_REFERENCES,
  GATEWAY_HOSTS,
  SHORT_HOSTS,
  DELEGATE_REFERENCES,
  SIDECAR_HOST_CONFLICTS,
  GATEWAY_RULE_CONFLICTS,
  GATEWAY_CONFLICTS,
  SHARED_CERTIFICATES,
  GATEWAY_CERTIFICATES,
  CERTIFICATE_VALIDITY,
  DESTINATION_RULE_HOST,
  OVERLAPPING_RULES,
  EGRESS_HOSTS,
  SIDECAR_SELECTORS,
  INGRESS_TLS,
  WORKLOAD_SELECTORS,
  SERVICE_ENTRY_SELECTOR,
  TCP_WITHOUT_ADDRESS,
  OVERLAPPING_ADDRESSES,
  PORT_PROTOCOLS,
  ENVOY_PATCHES,
  PATCH_USES,
  TELEMETRY_SELECTORS,
  TELEMETRY_PROVIDERS,
  LOG_PROVIDERS,
  PROVIDER_ABILITIES,
  SIDECAR_TRACERS,
  METRICS_WITHOUT_FILTER,
  DEFAULT_PROVIDERS,
  AUTHORIZATION_PROVIDER,
  CLIENT_TLS,
  GATEWAY_BLOCKS,
  GATEWAY_SERVER_NAMES,
  HOST_OWNERS,
  UNUSED_DELEGATES,
  UNUSED_GATEWAYS,
  PROVIDER_SERVICES,
  EMPTY_SUBSETS,
  CLAIM_ROUTES,
  GATEWAY_DESTINATION_PORTS,
  KEY_SETS,
  AUTHORIZERS,
  MODULES,
];
