import { DEFAULT_LISTENER_SWITCHES, type ListenerSwitches } from '../envoy/listeners/switches.ts';
import type { AddressAllocation } from '../model/vip.ts';
import type { JwksFetchMode } from './key-sets.ts';

/** What does not change while the process runs. Istio's environment variables of the same meaning are named. */
export interface MeshOptions {
  /** The root namespace where mesh.yaml names none. */
  readonly rootNamespace: string;
  /** Suffix of Kubernetes services' names; `PILOT_…`'s `--domain`. */
  readonly domainSuffix: string;
  /** `CLUSTER_ID`: of all that is read from files. */
  readonly clusterId: string;
  /** `ISTIO_DUAL_STACK`. */
  readonly dualStack: boolean;
  /** `PILOT_PERSISTENT_SESSION_LABEL`. */
  readonly persistentSessionLabel: string;
  /** `PILOT_PERSISTENT_SESSION_HEADER_LABEL`. */
  readonly persistentSessionHeaderLabel: string;
  /** `PILOT_ENABLE_IP_AUTOALLOCATE`. */
  readonly addressAllocation: AddressAllocation;
  /** `K8S_INGRESS_NS`: the namespace of the gateway that serves Ingresses. */
  readonly ingressNamespace: string;
  /** `PILOT_JWT_ENABLE_REMOTE_JWKS`. */
  readonly jwksFetchMode: JwksFetchMode;
  /** `ISTIO_MULTIROOT_MESH`: agents are told of all roots of the mesh. */
  readonly multiRootMesh: boolean;
  readonly listeners: ListenerSwitches;
  /** A variable of the environment that mesh.yaml names as the value of a header; empty where it is not set. */
  readonly variable: (name: string) => string;
}

export const DEFAULT_MESH_OPTIONS: MeshOptions = {
  rootNamespace: 'istio-system',
  domainSuffix: 'cluster.local',
  clusterId: 'Kubernetes',
  dualStack: false,
  persistentSessionLabel: 'istio.io/persistent-session',
  persistentSessionHeaderLabel: 'istio.io/persistent-session-header',
  addressAllocation: 'status-first',
  ingressNamespace: 'istio-system',
  jwksFetchMode: 'istiod',
  multiRootMesh: false,
  listeners: DEFAULT_LISTENER_SWITCHES,
  variable: () => '',
};
