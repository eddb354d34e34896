import { formatLocation } from '../base/diagnostic.ts';
import type { JsonObject } from '../base/json.ts';
import { resourceName } from '../config/parse.ts';
import { STATUS_KINDS } from '../pipeline/conversions/status.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { json, type Route, text } from './http.ts';

/** What Kubernetes would show as the status of Ingresses and objects of the Gateway API. */
export function gatewaysRoute(pipeline: Pipeline): Route {
  return {
    path: '/debug/gatewayz',
    doc: 'status of Gateways, routes and Ingresses; ?resource=Kind/namespace/name of one',
    answer: (query) => {
      const wanted = query.get('resource');
      const all = statuses(pipeline).filter(({ resource }) => wanted === null || resource === wanted);
      if (wanted === null) return json(all);
      const [only] = all;
      return only === undefined ? text(`nothing is known of the status of "${wanted}"`, 404) : json(only);
    },
  };
}

function statuses({ mesh, statuses: all }: Pipeline): readonly JsonObject[] {
  return STATUS_KINDS.flatMap((kind) =>
    [...all.get(kind).entries()].flatMap(([key, status]) => {
      const config = mesh.config(key);
      if (config === undefined) return [];
      const resource = resourceName(config.kind, config.namespace, config.name);
      return [{ resource, source: formatLocation(config.location), status }];
    }),
  );
}
