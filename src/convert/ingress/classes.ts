import type { Ingress, MeshConfig } from '#generated/config/specs.ts';
import type { Config } from '../../config/config.ts';

const CONTROLLER = 'istio.io/ingress-controller';
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** What MeshConfig says of Ingresses. */
export type IngressSettings = Pick<MeshConfig, 'ingressControllerMode' | 'ingressClass'>;

/**
 * Whether an Ingress is for this mesh: by its annotation, else by its IngressClass; one of no known class is in mode DEFAULT.
 *
 * @param controller of an IngressClass by name; undefined: there is none
 * @see istio/istio pilot/pkg/config/kube/ingress/virtualservices.go `shouldProcessIngressWithClass`
 */
export function isServed(
  { annotations, spec }: Pick<Config<Ingress>, 'annotations' | 'spec'>,
  { ingressControllerMode: mode, ingressClass }: IngressSettings,
  controller: (className: string) => string | undefined,
): boolean {
  if (mode === 'OFF') return false;
  const annotated = annotations[CLASS_ANNOTATION];
  if (annotated !== undefined) return annotated === ingressClass;
  const found = spec.ingressClassName === undefined ? undefined : controller(spec.ingressClassName);
  return found === undefined ? mode === 'DEFAULT' : found === CONTROLLER;
}
