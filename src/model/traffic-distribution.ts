import type { Labels } from '../base/labels.ts';

const ANNOTATION = 'networking.istio.io/traffic-distribution';
const VALUES: Readonly<Record<string, string>> = {
  preferclose: 'PreferSameZone',
  prefersamezone: 'PreferSameZone',
  prefersamenode: 'PreferSameNode',
};

/** From the Service's field, its annotation, or its namespace's; absent: any endpoint. @see istio/istio pilot/pkg/model/service.go */
export function trafficDistribution(field: string | undefined, own: Labels, namespace: Labels): string | undefined {
  if (field === 'PreferClose' || field === 'PreferSameZone') return 'PreferSameZone';
  if (field === 'PreferSameNode') return 'PreferSameNode';
  const text = own[ANNOTATION] || namespace[ANNOTATION];
  return text ? VALUES[text.toLowerCase()] : undefined;
}
