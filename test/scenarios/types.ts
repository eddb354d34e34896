import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  ROUTE_TYPE,
} from '../../src/proto/type-urls.ts';

/** Type URLs by the short names that scenarios use. */
export const TYPE_URLS: Readonly<Record<string, string>> = {
  CDS: CLUSTER_TYPE,
  EDS: ENDPOINT_TYPE,
  LDS: LISTENER_TYPE,
  RDS: ROUTE_TYPE,
  ECDS: EXTENSION_CONFIG_TYPE,
};

/** @throws Error when there is no such short name */
export function typeUrlOf(short: string | undefined): string {
  const url = TYPE_URLS[short ?? ''];
  if (url === undefined) throw new Error(`"${short}" is no resource type: ${Object.keys(TYPE_URLS).join(', ')} are`);
  return url;
}
