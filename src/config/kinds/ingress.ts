import type { IngressBackend, IngressPath, Ingress as IngressSpec } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { IngressClass, Ingress as schema } from '../schema/ingress.ts';
import { wildcardHostProblem } from './names.ts';

const OBJECT = { group: 'networking.k8s.io', versions: ['v1'], specField: 'spec' } as const;

function* hostFindings(at: Place, host: string): Generator<Finding> {
  const wrong = isIpAddress(host) ? `"${host}" is an address: write a host name` : wildcardHostProblem(host);
  if (wrong !== undefined) yield at.error(wrong);
  else if (host.includes('*') && !host.startsWith('*.')) yield at.error(`"${host}": a wildcard is "*." before a name`);
}

function* backendFindings(at: Place, { service, resource }: IngressBackend): Generator<Finding> {
  if (service !== undefined && resource !== undefined) yield at.at('resource').error('excludes "service": keep one');
  if (service === undefined && resource === undefined) yield at.error('needs a "service"');
  if (service === undefined) return;
  const { name, number } = service.port ?? {};
  if (name !== undefined && number !== undefined) yield at.at('service', 'port', 'name').error('excludes "number"');
  if (name === undefined && number === undefined) yield at.at('service', 'port').error('needs a "number" or a "name"');
}

const NEVER_MATCHED: readonly RegExp[] = [/\/\//, /\/\.\.?(\/|$)/, /%2f/i];

/** @see kubernetes/kubernetes pkg/apis/networking/validation/validation.go `validateHTTPIngressPath` */
function* pathFindings(at: Place, { path = '', pathType, backend }: IngressPath): Generator<Finding> {
  yield* backendFindings(at.at('backend'), backend);
  if (pathType !== 'ImplementationSpecific' && !path.startsWith('/')) {
    yield at.at('path').error(`a path of type ${pathType} must begin with "/"`);
  } else if (path !== '' && !path.startsWith('/')) {
    yield at.at('path').error('must begin with "/"');
  } else if (pathType !== 'ImplementationSpecific' && NEVER_MATCHED.some((part) => part.test(path))) {
    yield at.at('path').error(`"${path}" never matches: it must be without "//", "/./", "/../" and "%2F"`);
  }
}

export const INGRESS: KindDefinition<IngressSpec> = defineKind({
  ...OBJECT,
  scope: 'Namespaced',
  kind: 'Ingress',
  plural: 'ingresses',
  schema,
  *validate({ spec: { rules = [], tls = [], defaultBackend }, at }) {
    if (rules.length === 0 && defaultBackend === undefined)
      yield at('rules').error('an Ingress needs at least one rule');
    if (defaultBackend !== undefined) yield* backendFindings(at('defaultBackend'), defaultBackend);
    for (const [i, { host, http }] of rules.entries()) {
      if (host !== undefined && host !== '') yield* hostFindings(at('rules', i, 'host'), host);
      for (const [j, path] of (http?.paths ?? []).entries())
        yield* pathFindings(at('rules', i, 'http', 'paths', j), path);
    }
    for (const [i, { hosts = [] }] of tls.entries()) {
      for (const [j, host] of hosts.entries()) yield* hostFindings(at('tls', i, 'hosts', j), host);
    }
  },
});

export const INGRESS_CLASS: KindDefinition = defineKind({
  ...OBJECT,
  scope: 'Cluster',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  schema: IngressClass,
});

export const INGRESS_KINDS: readonly KindDefinition[] = [INGRESS, INGRESS_CLASS];
