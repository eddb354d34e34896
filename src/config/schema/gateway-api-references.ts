import {
  bounded,
  crdObject,
  type Enum,
  enumeration,
  type Field,
  int32,
  list,
  type Message,
  map,
  one,
  type Scalar,
  string,
} from './schema.ts';

/** Labels of a DNS name in lower case, with dots between them. */
export const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

export const GROUP: Scalar = bounded(string, { maxLength: 253, pattern: `^$|^${SUBDOMAIN}$` });
export const KIND: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$',
});
export const OBJECT_NAME: Scalar = bounded(string, { minLength: 1, maxLength: 253 });
export const NAMESPACE: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
});
export const SECTION: Scalar = bounded(string, { minLength: 1, maxLength: 253, pattern: `^${SUBDOMAIN}$` });
export const PORT_NUMBER: Scalar = bounded(int32, { min: 1, max: 65535 });
/** A host name, or a wildcard of whole labels. */
export const HOSTNAME: Scalar = bounded(string, { minLength: 1, maxLength: 253, pattern: `^(\\*\\.)?${SUBDOMAIN}$` });
export const PRECISE_HOSTNAME: Scalar = bounded(string, { minLength: 1, maxLength: 253, pattern: `^${SUBDOMAIN}$` });
/** A duration as GEP-2257 writes it: `1h30m`, `250ms`. */
export const GATEWAY_DURATION: Scalar = bounded(string, { pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' });

export const DefaultScope: Enum = enumeration('DefaultScope', 'Which default Gateways are meant.', ['All', 'None']);

export const ParentReference: Message = crdObject('ParentReference', 'What a route is attached to.', {
  group: one(GROUP, 'API group; empty for a Service.', { default: 'gateway.networking.k8s.io' }),
  kind: one(KIND, '`Gateway`, `ListenerSet`, `Service` or `ServiceEntry`.', { default: 'Gateway' }),
  namespace: one(NAMESPACE, "Its namespace. Default: the route's own."),
  name: one(OBJECT_NAME, 'Its name.', { required: true }),
  sectionName: one(SECTION, 'One listener of a Gateway. Default: all.'),
  port: one(PORT_NUMBER, 'Listeners of this port, or a port of the Service. Default: all.'),
});

/** Of a `BackendRef`, and of references to one thing without a weight. */
export const BACKEND_FIELDS: Readonly<Record<'group' | 'kind' | 'name' | 'namespace' | 'port', Field>> = {
  group: one(GROUP, 'API group; empty for a Service, `networking.istio.io` for a `Hostname`.', { default: '' }),
  kind: one(KIND, '`Service`, or `Hostname` for a host of the mesh.', { default: 'Service' }),
  name: one(OBJECT_NAME, 'Its name.', { required: true }),
  namespace: one(NAMESPACE, "Its namespace. Default: the route's own; another one needs a ReferenceGrant there."),
  port: one(PORT_NUMBER, 'Port of the service.'),
};

export const WEIGHT: Field = one(
  bounded(int32, { min: 0, max: 1_000_000 }),
  'Share of the requests, in proportion to the sum of all weights. 0: none.',
  { default: 1 },
);

export const BackendObjectReference: Message = crdObject(
  'BackendObjectReference',
  'Where a copy of a request, or a question about it, goes.',
  BACKEND_FIELDS,
);

export const BackendRef: Message = crdObject('BackendRef', 'Where connections go.', {
  ...BACKEND_FIELDS,
  weight: WEIGHT,
});

export const LocalObjectReference: Message = crdObject('LocalObjectReference', 'An object in the same namespace.', {
  group: one(GROUP, 'API group; empty for the core kinds.', { required: true }),
  kind: one(KIND, 'Kind.', { required: true }),
  name: one(OBJECT_NAME, 'Name.', { required: true }),
});

export const SecretObjectReference: Message = crdObject('SecretObjectReference', 'A Secret with a certificate.', {
  group: one(GROUP, 'API group; empty for a Secret.', { default: '' }),
  kind: one(KIND, 'Kind.', { default: 'Secret' }),
  name: one(OBJECT_NAME, 'Name.', { required: true }),
  namespace: one(NAMESPACE, 'Its namespace. Default: the own one; another one needs a ReferenceGrant there.'),
});

export const GatewayObjectReference: Message = crdObject(
  'GatewayObjectReference',
  'An object that holds certificates of authorities.',
  {
    group: one(GROUP, 'API group; empty for a ConfigMap or Secret.', { required: true }),
    kind: one(KIND, '`ConfigMap` or `Secret`.', { required: true }),
    name: one(OBJECT_NAME, 'Name.', { required: true }),
    namespace: one(NAMESPACE, 'Its namespace. Default: the own one; another one needs a ReferenceGrant there.'),
  },
);

export const SelectorRequirement: Message = crdObject('SelectorRequirement', 'A condition on a label.', {
  key: one(string, 'Key of the label.', { required: true }),
  operator: one(string, '`In`, `NotIn`, `Exists` or `DoesNotExist`.', { required: true }),
  values: list(string, 'Values for `In` and `NotIn`.'),
});

export const NamespaceSelector: Message = crdObject('NamespaceSelector', 'Which labels a namespace has.', {
  matchLabels: map(string, 'Labels with their values.'),
  matchExpressions: list(SelectorRequirement, 'Conditions, all of which must hold.'),
});
