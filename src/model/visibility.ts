import type { ExportTo } from './service.ts';

/** Where an object of `namespace` is visible: everywhere, or in the listed namespaces alone (none of them: nowhere). */
export type Visibility = 'public' | readonly string[];

/**
 * `*` makes it public whatever else is listed; `~` hides it; `.` is its own namespace.
 * @see istio/istio pilot/pkg/model/push_context.go `initServiceRegistry`
 */
export function visibilityOf(exportTo: ExportTo | undefined, fallback: ExportTo, namespace: string): Visibility {
  const effective = exportTo !== undefined && exportTo.length > 0 ? exportTo : fallback;
  if (effective.includes('*')) return 'public';
  if (effective.includes('~')) return [];
  return [...new Set(effective.map((item) => (item === '.' ? namespace : item)))];
}

export function isVisible(visibility: Visibility, clientNamespace: string): boolean {
  return visibility === 'public' || visibility.includes(clientNamespace);
}

/** Whether there may be a namespace that sees both. */
export function areSeenTogether(a: Visibility, b: Visibility): boolean {
  if (a === 'public') return b.length > 0;
  return b === 'public' ? a.length > 0 : a.some((namespace) => b.includes(namespace));
}
