import { bounded, type Enum, enumeration, int32, kubeObject, list, type Message, one, string } from './schema.ts';

export const IngressPortRef: Message = kubeObject('IngressPortRef', 'A port of a Service: its name or its number.', {
  name: one(string, 'Name.'),
  number: one(bounded(int32, { min: 1, max: 65535 }), 'Number.'),
});

export const IngressServiceRef: Message = kubeObject('IngressServiceRef', "A Service of the Ingress's namespace.", {
  name: one(string, 'Its name.', { required: true }),
  port: one(IngressPortRef, 'Its port.'),
});

export const IngressResource: Message = kubeObject('IngressResource', 'Another object that serves requests.', {
  apiGroup: one(string, 'API group.'),
  kind: one(string, 'Kind.'),
  name: one(string, 'Name.'),
});

export const IngressBackend: Message = kubeObject('IngressBackend', 'Where requests go.', {
  service: one(IngressServiceRef, 'A Service.'),
  resource: one(IngressResource, 'Another object; there is none here.'),
});

export const IngressPathType: Enum = enumeration('IngressPathType', 'How a path is compared.', [
  'Exact',
  'Prefix',
  'ImplementationSpecific',
]);

export const IngressPath: Message = kubeObject('IngressPath', 'Requests by their path.', {
  path: one(string, 'The path; `.*` or `/*` at its end makes it a prefix where the type leaves that open.'),
  pathType: one(IngressPathType, 'How it is compared; a prefix counts whole segments.', { required: true }),
  backend: one(IngressBackend, 'Where they go.', { required: true }),
});

export const IngressPaths: Message = kubeObject('IngressPaths', 'Paths of a host.', {
  paths: list(IngressPath, 'The paths; the longest one decides.', { required: true }),
});

export const IngressRule: Message = kubeObject('IngressRule', 'Requests to a host.', {
  host: one(string, 'The host, `*.` for all of one label below another. Default: all.'),
  http: one(IngressPaths, 'Its paths.'),
});

export const IngressTls: Message = kubeObject('IngressTls', 'Hosts that are served with a certificate.', {
  hosts: list(string, 'The hosts. Default: all.'),
  secretName: one(string, "Secret with certificate and key, in the gateway's namespace."),
});

export const Ingress: Message = kubeObject('Ingress', 'Hosts and paths that a gateway leads to Services.', {
  ingressClassName: one(string, 'An IngressClass, which says who serves it.'),
  defaultBackend: one(IngressBackend, 'For all other requests. Has no effect here.'),
  tls: list(IngressTls, 'Hosts with certificates.'),
  rules: list(IngressRule, 'Hosts.'),
});

export const IngressClassParameters: Message = kubeObject('IngressClassParameters', 'Parameters of a class.', {
  kind: one(string, 'Kind.'),
  name: one(string, 'Name.'),
});

export const IngressClass: Message = kubeObject('IngressClass', 'Who serves Ingresses of a class.', {
  controller: one(string, 'Who: `istio.io/ingress-controller` for this mesh.'),
  parameters: one(IngressClassParameters, 'Has no effect here.'),
});
