import type { Labels } from '../../base/labels.ts';
import { type Finding, placeOf } from '../finding.ts';

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Labels;
}

const DRY_RUN = 'istio.io/dry-run';

/** Annotations by which istiod marks what it made itself, or is told to refuse. */
const REFUSED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'internal.istio.io/webhook-always-reject': 'asks for the object to be refused',
  'internal.istio.io/parents': 'is set by the control plane alone: remove it',
  'internal.istio.io/parent-namespace': 'is set by the control plane alone: remove it',
};

/** What Go's strconv.ParseBool reads. */
const BOOLEANS: ReadonlySet<string> = new Set('1 t T TRUE true True 0 f F FALSE false False'.split(' '));

/**
 * Annotations that decide whether an object of Istio's API is taken.
 *
 * @param spec normalised; undefined when it could not be read
 * @see istio/istio pkg/config/validation/validation.go `validateMetadata`
 */
export function* metadataFindings(
  kind: string,
  spec: object | undefined,
  { annotations }: Metadata,
): Generator<Finding> {
  const at = placeOf(['metadata', 'annotations']).at;
  for (const [name, why] of Object.entries(REFUSED_ANNOTATIONS)) {
    if (Object.hasOwn(annotations, name)) yield at(name).error(`the annotation ${name} ${why}`);
  }
  const dryRun = annotations[DRY_RUN];
  if (dryRun === undefined) return;
  if (kind !== 'AuthorizationPolicy') {
    yield at(DRY_RUN).error(`only an AuthorizationPolicy can have the annotation ${DRY_RUN}: remove it`);
    return;
  }
  const { action = 'ALLOW' } = (spec ?? {}) as { readonly action?: string };
  if (action !== 'ALLOW' && action !== 'DENY') {
    yield at(DRY_RUN).error(`${DRY_RUN} works with the actions ALLOW and DENY, not with ${action}`);
  } else if (!BOOLEANS.has(dryRun)) {
    yield at(DRY_RUN).error(`"${dryRun}" must be "true" or "false"`);
  }
}
