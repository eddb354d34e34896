import type { ParentReference } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

function isSameParent(a: ParentReference, b: ParentReference): boolean {
  return a.group === b.group && a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;
}

/** Several references to one parent should name different parts of it. An API server refuses the route, here it is taken. */
export function* parentFindings(at: Place, parents: readonly ParentReference[] = []): Generator<Finding> {
  for (const [i, parent] of parents.entries()) {
    const others = parents.slice(0, i).filter((other) => isSameParent(other, parent));
    const says = ({ sectionName, port }: ParentReference) => `${sectionName !== undefined} ${port !== undefined}`;
    if (others.some((other) => says(other) !== says(parent))) {
      const fields = 'either all references to it have "sectionName", or none, and so with "port"';
      yield at.at(i).warning(`"${parent.name}" stands before in another form: ${fields}`);
    } else if (others.some((other) => other.sectionName === parent.sectionName && other.port === parent.port)) {
      yield at.at(i).warning(`this part of "${parent.name}" stands before: remove one of the references`);
    }
  }
}

/** The second of two things with the same name. */
export function* uniqueNames(
  at: Place,
  items: readonly { readonly name?: string }[] | undefined,
  what: string,
): Generator<Finding> {
  const seen = new Set<string>();
  for (const [i, { name }] of (items ?? []).entries()) {
    if (name === undefined) continue;
    if (seen.has(name)) yield at.at(i, 'name').error(`a ${what} "${name}" stands before: give each its own name`);
    seen.add(name);
  }
}

interface Reference {
  readonly group?: string;
  readonly kind?: string;
  readonly port?: number;
}

/** Of a Service it must be said which port. */
export function* portOfService(at: Place, { group, kind, port }: Reference): Generator<Finding> {
  if (group === '' && kind === 'Service' && port === undefined) yield at.error('a Service needs a "port"');
}
