/** Why fields have no effect here: `"field" has no effect here: …`. */

/** Of what the agent and Envoy's bootstrap are made of. */
export const FOR_AGENT = 'it is for who starts Envoy: set it in the bootstrap, or in the metadata of the node';

export const WITHOUT_AMBIENT = 'there are no waypoints and no ztunnel, but sidecars and gateways';

export const NOT_IN_ISTIO = 'Istio makes nothing of it either';

export const BY_KUBERNETES = 'it is for clusters of Kubernetes';

export const FOR_REGISTRATION = 'workloads do not register themselves: write a WorkloadEntry';
