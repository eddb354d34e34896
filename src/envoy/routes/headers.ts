import type { Headers, HeaderOperations as Operations } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { compareStrings } from '../../base/order.ts';

type HeaderValueOption = envoy.config.core.v3.HeaderValueOption;

/** Fields that a route, a weighted cluster and a virtual host have in common; those without content are absent. */
export interface HeaderChanges {
  readonly requestHeadersToAdd?: readonly HeaderValueOption[];
  readonly requestHeadersToRemove?: readonly string[];
  readonly responseHeadersToAdd?: readonly HeaderValueOption[];
  readonly responseHeadersToRemove?: readonly string[];
}

/** Pseudo-headers and `host` can't be changed by name. */
function isInternal(name: string): boolean {
  return name.startsWith(':') || name.toLowerCase() === 'host';
}

function isAuthority(name: string): boolean {
  return name.toLowerCase() === ':authority' || name.toLowerCase() === 'host';
}

function additions(operations: Operations | undefined): readonly HeaderValueOption[] {
  return [...options(operations?.set, true), ...options(operations?.add, false)];
}

function options(headers: Readonly<Record<string, string>> = {}, overwrite: boolean): readonly HeaderValueOption[] {
  return Object.entries(headers)
    .filter(([key]) => !isInternal(key))
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([key, value]) => ({
      header: { key, value },
      ...(overwrite && { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' as const }),
    }));
}

function removals(operations: Operations | undefined): readonly string[] {
  return (operations?.remove ?? []).filter((name) => !isInternal(name));
}

/** @see istio/istio pilot/pkg/networking/core/route/route.go `TranslateHeadersOperations` */
export function headerChanges(headers: Headers | undefined): HeaderChanges {
  return withoutEmpty({
    requestHeadersToAdd: additions(headers?.request),
    requestHeadersToRemove: removals(headers?.request),
    responseHeadersToAdd: additions(headers?.response),
    responseHeadersToRemove: removals(headers?.response),
  });
}

/** Changes of `first`, then those of `second`. */
export function joinedChanges(first: HeaderChanges, second: HeaderChanges): HeaderChanges {
  const join = <T>(a: readonly T[] = [], b: readonly T[] = []): readonly T[] => [...a, ...b];
  return withoutEmpty({
    requestHeadersToAdd: join(first.requestHeadersToAdd, second.requestHeadersToAdd),
    requestHeadersToRemove: join(first.requestHeadersToRemove, second.requestHeadersToRemove),
    responseHeadersToAdd: join(first.responseHeadersToAdd, second.responseHeadersToAdd),
    responseHeadersToRemove: join(first.responseHeadersToRemove, second.responseHeadersToRemove),
  });
}

function withoutEmpty(changes: Required<HeaderChanges>): HeaderChanges {
  return Object.fromEntries(Object.entries(changes).filter(([, list]) => list.length > 0));
}

/** The authority that a request is given by setting (before adding) `host` or `:authority`; empty when it is kept. */
export function authorityOf(headers: Headers | undefined): string {
  return last(headers?.request?.set) || last(headers?.request?.add);
}

function last(headers: Readonly<Record<string, string>> = {}): string {
  return Object.entries(headers).findLast(([name]) => isAuthority(name))?.[1] ?? '';
}
