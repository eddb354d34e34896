/** A condition of a status, without the times that an API server adds. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export function holds(type: string, message: string, reason: string = type): Condition {
  return { type, status: 'True', reason, message };
}

export function fails(type: string, reason: string, message: string): Condition {
  return { type, status: 'False', reason, message };
}

/** Holds unless there is a problem. */
export function unless(
  type: string,
  problem: { readonly reason: string; readonly message: string } | undefined,
  message: string,
): Condition {
  return problem === undefined ? holds(type, message) : fails(type, problem.reason, problem.message);
}
