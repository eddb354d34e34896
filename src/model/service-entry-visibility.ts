import type { ServiceEntryVisibility, ServiceEntryVisibilityVisibility } from '#generated/config/specs.ts';
import type { Labels } from '../base/labels.ts';
import { matchesSelector } from '../config/label-selector.ts';
import type { ExportTo } from './service.ts';
import { isVisible, visibilityOf } from './visibility.ts';

/**
 * How far the ServiceEntries of a namespace may be seen by sidecars and gateways: by the first policy of which every rule
 * matches. Unset where nothing is narrowed.
 *
 * @param labels those of the namespace
 * @see istio/istio pilot/pkg/model/serviceentry_visibility.go `VisibilityFor`
 */
export function widestVisibility(
  { applyToSidecars, defaultVisibility, policies = [] }: ServiceEntryVisibility,
  labels: Labels,
): ServiceEntryVisibilityVisibility | undefined {
  if (applyToSidecars !== true) return undefined;
  const policy = policies.find(({ matchingRules = [] }) =>
    matchingRules.every(({ namespaceSelector }) => namespaceSelector && matchesSelector(namespaceSelector, labels)),
  );
  return policy === undefined ? defaultVisibility : policy.visibility;
}

/**
 * What of `exportTo` is left. Nothing becomes visible that was not.
 * @see istio/istio pilot/pkg/model/push_context.go `serviceExportTo`
 */
export function narrowedExport(
  exportTo: ExportTo | undefined,
  fallback: ExportTo,
  namespace: string,
  widest: ServiceEntryVisibilityVisibility | undefined,
): ExportTo | undefined {
  if (widest === 'NONE') return ['~'];
  if (widest !== 'NAMESPACE') return exportTo;
  return isVisible(visibilityOf(exportTo, fallback, namespace), namespace) ? ['.'] : ['~'];
}
