import {
  GROUP,
  HOSTNAME,
  KIND,
  LocalObjectReference,
  NAMESPACE,
  OBJECT_NAME,
  PRECISE_HOSTNAME,
  SECTION,
} from './gateway-api-references.ts';
import {
  bounded,
  crdObject,
  type Enum,
  enumeration,
  ignored,
  list,
  type Message,
  map,
  one,
  type Scalar,
  string,
} from './schema.ts';

const URI: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 253,
  pattern: '^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?',
});
const WELL_KNOWN: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 253,
  pattern:
    '^(System|([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$',
});

export const GrantFrom: Message = crdObject('GrantFrom', 'Who may refer.', {
  group: one(GROUP, 'API group.', { required: true }),
  kind: one(KIND, '`HTTPRoute`, `Gateway`, …', { required: true }),
  namespace: one(NAMESPACE, 'Its namespace.', { required: true }),
});

export const GrantTo: Message = crdObject('GrantTo', 'To what, in the namespace of the grant.', {
  group: one(GROUP, 'API group; empty for the core kinds.', { required: true }),
  kind: one(KIND, '`Service`, `Secret` or `ConfigMap`.', { required: true }),
  name: one(OBJECT_NAME, 'One object. Default: all of the kind.'),
});

export const KubeReferenceGrant: Message = crdObject(
  'KubeReferenceGrant',
  'Lets objects of other namespaces refer to objects of its own.',
  {
    from: list(GrantFrom, 'Who may refer.', { required: true, minItems: 1, maxItems: 16 }),
    to: list(GrantTo, 'To what.', { required: true, minItems: 1, maxItems: 16 }),
  },
);

export const BackendTlsTarget: Message = crdObject('BackendTlsTarget', 'A service that is spoken to with TLS.', {
  group: one(GROUP, 'API group; empty for a Service.', { required: true }),
  kind: one(KIND, '`Service` or `ServiceEntry`.', { required: true }),
  name: one(OBJECT_NAME, 'Its name.', { required: true }),
  sectionName: one(SECTION, 'Name of one port. Default: all.'),
});

export const SubjectAltNameType: Enum = enumeration('SubjectAltNameType', 'What a name is.', ['Hostname', 'URI']);

export const BackendSubjectAltName: Message = crdObject('BackendSubjectAltName', 'A name in a certificate.', {
  type: one(SubjectAltNameType, 'What it is.', { required: true }),
  hostname: one(HOSTNAME, 'A host.'),
  uri: one(URI, 'A URI, as `spiffe://…`.'),
});

export const BackendTlsValidation: Message = crdObject('BackendTlsValidation', 'How the backend shows who it is.', {
  caCertificateRefs: list(LocalObjectReference, 'ConfigMaps with authorities, under `ca.crt`; the first is read.', {
    maxItems: 8,
  }),
  wellKnownCACertificates: one(WELL_KNOWN, '`System`: authorities of the machine.'),
  hostname: one(PRECISE_HOSTNAME, 'Name that is asked for, and that the certificate must have.', { required: true }),
  subjectAltNames: list(BackendSubjectAltName, 'Names of which the certificate must have one, instead.', {
    maxItems: 5,
  }),
});

export const KubeBackendTlsPolicy: Message = crdObject('KubeBackendTlsPolicy', 'TLS towards services.', {
  targetRefs: list(BackendTlsTarget, 'Services of its namespace.', { required: true, minItems: 1, maxItems: 16 }),
  validation: one(BackendTlsValidation, 'How they show who they are.', { required: true }),
  options: ignored(
    map(bounded(string, { minLength: 0, maxLength: 4096 }), 'More settings.', { maxItems: 16 }),
    'there are no options',
  ),
});
