import type { Destination } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { subsetNameProblem } from './destination-rule.ts';
import { problem, wildcardHostProblem } from './names.ts';

/** @see istio/istio pkg/config/validation/validation.go `validateDestination` */
export function* destinationFindings(at: Place, destination: Destination | undefined): Generator<Finding> {
  if (destination === undefined) return;
  const { host, subset = '' } = destination;
  if (host === '*') yield at.at('host').error('"*" is no destination: name a service');
  else yield* problem(at.at('host'), wildcardHostProblem(host));
  if (subset !== '') yield* problem(at.at('subset'), subsetNameProblem(subset));
}
