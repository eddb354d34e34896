import type { DestinationRule, RequestAuthentication, ServiceEntry, VirtualService } from '#generated/config/specs.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { ParsedFile } from '../config/parsed.ts';
import { destinations } from '../model/analysis/destinations.ts';
import { fullHostname, resolveVirtualService } from '../model/virtual-service.ts';
import type { Mesh } from '../pipeline/mesh.ts';
import type { FileState } from './patient-sink.ts';

/**
 * Whether an object is gone from a file and not to be found in the others that changed. It may be on its way from one file to
 * another: two files that exchange their names are three renames.
 */
export function hasVanished(changes: readonly FileState[], before: ReadonlyMap<string, ParsedFile>): boolean {
  const keysOf = (parsed: ParsedFile | undefined): readonly (ConfigKey | undefined)[] => [
    ...(parsed?.configs ?? []).map(({ key }) => key),
    ...(parsed?.refused ?? []).map(({ key }) => key),
  ];
  const last = new Map(changes.map(({ file, parsed }) => [file, parsed]));
  const present = new Set([...last.values()].flatMap(keysOf));
  return [...last].some(([file]) => keysOf(before.get(file)).some((key) => key !== undefined && !present.has(key)));
}

/** A host and one of its subsets. */
type Subset = string;

function subsetsOf({ spec, namespace }: Config<DestinationRule>, suffix: string): readonly Subset[] {
  const host = fullHostname(spec.host, namespace, suffix);
  return (spec.subsets ?? []).map(({ name }) => `${host}|${name}`);
}

/** Subsets that a VirtualService sends traffic to. */
function wantedSubsets(config: Config<VirtualService>, suffix: string): readonly Subset[] {
  const { spec } = resolveVirtualService(config, suffix);
  return [...destinations(spec)].flatMap(([, { host, subset }]) => (subset ? [`${host}|${subset}`] : []));
}

function ofKind<Spec>(changes: readonly FileState[], kind: string): readonly Config<Spec>[] {
  return changes
    .flatMap(({ parsed }) => (parsed?.configs ?? []) as readonly Config<Spec>[])
    .filter((c) => c.kind === kind);
}

/**
 * Whether changes leave a route without the subset or the service that it leads to: a VirtualService that names a new one, or a
 * DestinationRule that loses one which is in use. Only changes of such objects look further than themselves.
 */
export function isIncomplete(changes: readonly FileState[], mesh: Mesh): boolean {
  const suffix = mesh.options.domainSuffix;
  const routes = ofKind<VirtualService>(changes, 'VirtualService');
  const rules = ofKind<DestinationRule>(changes, 'DestinationRule');
  if (routes.length + rules.length === 0) return false;
  const changedRules = new Set(rules.map(({ key }) => key));
  const before = rules.flatMap(({ key }) => mesh.config<DestinationRule>(key) ?? []);
  const here = new Set(rules.flatMap((rule) => subsetsOf(rule, suffix)));
  const isThere = (subset: Subset): boolean =>
    here.has(subset) ||
    mesh
      .ofKind<DestinationRule>('DestinationRule')
      .some((rule) => !changedRules.has(rule.key) && subsetsOf(rule, suffix).includes(subset));

  const wanted = routes.flatMap((route) => wantedSubsets(route, suffix));
  if (wanted.some((subset) => !isThere(subset))) return true;
  const newHosts = new Set(ofKind<ServiceEntry>(changes, 'ServiceEntry').flatMap(({ spec }) => spec.hosts ?? []));
  const hosts = routes.flatMap((route) =>
    [...destinations(resolveVirtualService(route, suffix).spec)].map(([, d]) => d.host),
  );
  if (hosts.some((host) => !newHosts.has(host) && mesh.servicesOfHost.get(host).length === 0)) return true;

  const lost = before.flatMap((rule) => subsetsOf(rule, suffix)).filter((subset) => !isThere(subset));
  if (lost.length === 0) return false;
  const changedRoutes = new Set(routes.map(({ key }) => key));
  return mesh
    .ofKind<VirtualService>('VirtualService')
    .some((route) => !changedRoutes.has(route.key) && wantedSubsets(route, suffix).some((s) => lost.includes(s)));
}

/** Those that say where the keys of tokens are. */
export function tokenPolicies(changes: readonly FileState[]): readonly RequestAuthentication[] {
  return ofKind<RequestAuthentication>(changes, 'RequestAuthentication').map(({ spec }) => spec);
}
