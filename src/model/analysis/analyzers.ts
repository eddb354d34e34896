import type { Analyzer } from './analyzer.ts';
import { DESTINATION_RULE_HOST, OVERLAPPING_RULES } from './destination-rules.ts';
import { DESTINATIONS } from './destinations.ts';
import { ENVOY_PATCHES } from './envoy-filters.ts';
import { SHARED_CERTIFICATES } from './gateway-certificates.ts';
import { GATEWAY_CONFLICTS } from './gateway-conflicts.ts';
import { GATEWAY_HOSTS } from './gateway-hosts.ts';
import { GATEWAY_RULE_CONFLICTS, SIDECAR_HOST_CONFLICTS } from './host-conflicts.ts';
import { AUTHORIZATION_PROVIDER, TELEMETRY_PROVIDERS } from './providers.ts';
import { SERVICE_ENTRY_SELECTOR, WORKLOAD_SELECTORS } from './selectors.ts';
import { PORT_PROTOCOLS } from './service-protocols.ts';
import { EGRESS_HOSTS, SIDECAR_SELECTORS } from './sidecars.ts';
import { OVERLAPPING_ADDRESSES, TCP_WITHOUT_ADDRESS } from './tcp-services.ts';
import { LOG_PROVIDERS, TELEMETRY_SELECTORS } from './telemetries.ts';
import { DELEGATE_REFERENCES, GATEWAY_REFERENCES } from './virtual-service-references.ts';

/** All that is said of objects in view of others, the one list. */
export const ANALYZERS: readonly Analyzer[] = [
  DESTINATIONS,
  GATEWAY_REFERENCES,
  GATEWAY_HOSTS,
  DELEGATE_REFERENCES,
  SIDECAR_HOST_CONFLICTS,
  GATEWAY_RULE_CONFLICTS,
  GATEWAY_CONFLICTS,
  SHARED_CERTIFICATES,
  DESTINATION_RULE_HOST,
  OVERLAPPING_RULES,
  EGRESS_HOSTS,
  SIDECAR_SELECTORS,
  WORKLOAD_SELECTORS,
  SERVICE_ENTRY_SELECTOR,
  TCP_WITHOUT_ADDRESS,
  OVERLAPPING_ADDRESSES,
  PORT_PROTOCOLS,
  ENVOY_PATCHES,
  TELEMETRY_SELECTORS,
  TELEMETRY_PROVIDERS,
  LOG_PROVIDERS,
  AUTHORIZATION_PROVIDER,
];
