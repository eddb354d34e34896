import type { Analyzer } from './analyzer.ts';
import { DESTINATION_RULE_HOST, OVERLAPPING_RULES } from './destination-rules.ts';
import { DESTINATIONS } from './destinations.ts';
import { GATEWAY_CONFLICTS } from './gateway-conflicts.ts';
import { GATEWAY_RULE_CONFLICTS, SIDECAR_HOST_CONFLICTS } from './host-conflicts.ts';
import { POLICY_SELECTORS, SERVICE_ENTRY_SELECTOR } from './selectors.ts';
import { EGRESS_HOSTS, SIDECAR_SELECTORS } from './sidecars.ts';
import { OVERLAPPING_ADDRESSES, TCP_WITHOUT_ADDRESS } from './tcp-services.ts';
import { DELEGATE_REFERENCES, GATEWAY_REFERENCES } from './virtual-service-references.ts';

/** All that is said of objects in view of others, the one list. */
export const ANALYZERS: readonly Analyzer[] = [
  DESTINATIONS,
  GATEWAY_REFERENCES,
  DELEGATE_REFERENCES,
  SIDECAR_HOST_CONFLICTS,
  GATEWAY_RULE_CONFLICTS,
  GATEWAY_CONFLICTS,
  DESTINATION_RULE_HOST,
  OVERLAPPING_RULES,
  EGRESS_HOSTS,
  SIDECAR_SELECTORS,
  POLICY_SELECTORS,
  SERVICE_ENTRY_SELECTOR,
  TCP_WITHOUT_ADDRESS,
  OVERLAPPING_ADDRESSES,
];
