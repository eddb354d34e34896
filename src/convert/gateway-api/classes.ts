import type { KubeGateway } from '#generated/config/specs.ts';
import type { Config } from '../../config/config.ts';
import type { Problem } from '../problem.ts';

/** How the Gateways of a class are served. */
export interface ServedClass {
  readonly name: string;
  /** Gateways of other places, which are known and nothing more. */
  readonly isRemote: boolean;
}

const CONTROLLER = 'istio.io/gateway-controller';
const REMOTE_CONTROLLER = 'istio.io/unmanaged-gateway';

/** Classes that exist without an object. */
const BUILT_IN: Readonly<Record<string, string>> = { istio: CONTROLLER, 'istio-remote': REMOTE_CONTROLLER };

/**
 * The class of a name; undefined where somebody else serves it.
 *
 * @param controller of the GatewayClass; undefined: there is none
 * @see istio/istio pilot/pkg/config/kube/gatewaycommon/classinfo.go
 */
export function servedClass(name: string, controller: string | undefined): ServedClass | undefined {
  const ours = isOurs(controller) ? controller : BUILT_IN[name];
  return ours === undefined ? undefined : { name, isRemote: ours === REMOTE_CONTROLLER };
}

export function isOurs(controller: string | undefined): boolean {
  return controller === CONTROLLER || controller === REMOTE_CONTROLLER;
}

/** Whether who serves it would also deploy it: then its Service has a name that follows from its own. */
export function isManaged({ addresses = [] }: KubeGateway): boolean {
  const [first, ...others] = addresses;
  return first === undefined || (others.length === 0 && first.type === 'IPAddress');
}

export function defaultName({ name, spec }: Pick<Config<KubeGateway>, 'name' | 'spec'>): string {
  return `${name}-${spec.gatewayClassName}`;
}

/** Hostnames of the services whose workloads serve a Gateway. */
export interface GatewayServices {
  readonly hosts: readonly string[];
  readonly problem?: Problem;
}

const NAME_ANNOTATION = 'gateway.istio.io/name-override';
const ACCOUNT_ANNOTATION = 'gateway.istio.io/service-account';

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `extractGatewayServices` */
export function gatewayServices(gateway: Config<KubeGateway>, domainSuffix: string): GatewayServices {
  const { spec, namespace, annotations } = gateway;
  const inNamespace = (name: string) => `${name}.${namespace}.svc.${domainSuffix}`;
  if (isManaged(spec)) return { hosts: [inNamespace(annotations[NAME_ANNOTATION] || defaultName(gateway))] };
  const addresses = [...(spec.addresses ?? []).entries()];
  const hosts = addresses
    .filter(([, { type }]) => type === 'Hostname')
    .map(([, { value = '' }]) => (value.includes('.') ? value : inNamespace(value)));
  const other = addresses.find(([, { type }]) => type !== 'Hostname');
  if (other === undefined) return { hosts };
  const [index, { value = '' }] = other;
  const message = `"${value}" is ignored: of several addresses only those of type Hostname are read`;
  return { hosts, problem: { reason: 'UnsupportedAddress', message, path: ['spec', 'addresses', index] } };
}

/** The account of the workloads; empty where that is not known. */
export function gatewayAccount(gateway: Config<KubeGateway>): string {
  return isManaged(gateway.spec) ? gateway.annotations[ACCOUNT_ANNOTATION] || defaultName(gateway) : '';
}
