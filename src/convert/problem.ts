import type { Path } from '../config/finding.ts';

/** Why something that an object asks for is not done. A status condition and a finding say the same. */
export interface Problem {
  /** As the Gateway API calls it: `BackendNotFound`, `RefNotPermitted`, … */
  readonly reason: string;
  readonly message: string;
  /** From the root of the object's document. */
  readonly path: Path;
}
