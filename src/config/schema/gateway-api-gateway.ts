import {
  DefaultScope,
  GatewayObjectReference,
  GROUP,
  HOSTNAME,
  KIND,
  LocalObjectReference,
  NAMESPACE,
  NamespaceSelector,
  OBJECT_NAME,
  PORT_NUMBER,
  SECTION,
  SecretObjectReference,
  SUBDOMAIN,
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

const CONTROLLER: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 253,
  pattern: `^${SUBDOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
});
const PROTOCOL: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 255,
  pattern: `^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|${SUBDOMAIN}\\/[A-Za-z0-9]+$`,
});
const ADDRESS_TYPE: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 253,
  pattern: `^Hostname|IPAddress|NamedAddress|${SUBDOMAIN}\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$`,
});
const OPTION: Scalar = bounded(string, { minLength: 0, maxLength: 4096 });
const LABEL_VALUE: Scalar = bounded(string, {
  minLength: 0,
  maxLength: 63,
  pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
});

export const KubeClassParameters: Message = crdObject('KubeClassParameters', 'Parameters of a class.', {
  group: one(GROUP, 'API group.', { required: true }),
  kind: one(KIND, 'Kind.', { required: true }),
  name: one(OBJECT_NAME, 'Name.', { required: true }),
  namespace: one(NAMESPACE, 'Namespace.'),
});

export const KubeGatewayClass: Message = crdObject('KubeGatewayClass', 'Who serves the Gateways of a class.', {
  controllerName: one(CONTROLLER, 'Who: `istio.io/gateway-controller` for this mesh.', { required: true }),
  parametersRef: ignored(one(KubeClassParameters, 'More settings.'), 'a class has no parameters'),
  description: one(bounded(string, { maxLength: 64 }), 'What the class is for.'),
});

export const AllowedRoutesFrom: Enum = enumeration('AllowedRoutesFrom', 'Namespaces from which routes may attach.', [
  'All',
  'Selector',
  'Same',
]);

export const AllowedListenersFrom: Enum = enumeration(
  'AllowedListenersFrom',
  'Namespaces from which ListenerSets may attach.',
  ['All', 'Selector', 'Same', 'None'],
);

export const RouteNamespaces: Message = crdObject('RouteNamespaces', 'Namespaces from which routes may attach.', {
  from: one(AllowedRoutesFrom, 'Which: the own one, all, or those that `selector` selects.', { default: 'Same' }),
  selector: one(NamespaceSelector, 'Labels of the namespaces, with `from: Selector`.'),
});

export const ListenerNamespaces: Message = crdObject(
  'ListenerNamespaces',
  'Namespaces from which ListenerSets may attach.',
  {
    from: one(AllowedListenersFrom, 'Which: none, the own one, all, or those that `selector` selects.', {
      default: 'None',
    }),
    selector: one(NamespaceSelector, 'Labels of the namespaces, with `from: Selector`.'),
  },
);

export const RouteGroupKind: Message = crdObject('RouteGroupKind', 'A kind of route.', {
  group: one(GROUP, 'API group.', { default: 'gateway.networking.k8s.io' }),
  kind: one(KIND, '`HTTPRoute`, `GRPCRoute`, `TLSRoute` or `TCPRoute`.', { required: true }),
});

export const AllowedRoutes: Message = crdObject('AllowedRoutes', 'Routes that may attach to a listener.', {
  namespaces: one(RouteNamespaces, 'From which namespaces.', { filled: true }),
  kinds: list(RouteGroupKind, "Of which kinds. Default: all that fit the listener's protocol.", { maxItems: 8 }),
});

export const AllowedListeners: Message = crdObject('AllowedListeners', 'ListenerSets that may attach.', {
  namespaces: one(ListenerNamespaces, 'From which namespaces.', { filled: true }),
});

export const ListenerTlsMode: Enum = enumeration('ListenerTlsMode', 'Whether TLS ends at the gateway.', [
  'Terminate',
  'Passthrough',
]);

export const ListenerTls: Message = crdObject('ListenerTls', 'TLS of a listener.', {
  mode: one(ListenerTlsMode, 'Whether TLS ends here, or is passed on by the name that clients ask for.', {
    default: 'Terminate',
  }),
  certificateRefs: list(
    SecretObjectReference,
    'Secrets with certificate and key: one, or one each for RSA and ECDSA.',
    {
      maxItems: 64,
    },
  ),
  options: map(OPTION, 'As `gateway.istio.io/tls-terminate-mode` and `gateway.istio.io/tls-cipher-suites`.', {
    maxItems: 16,
  }),
});

export const KubeListener: Message = crdObject('KubeListener', 'A place where a Gateway takes connections.', {
  name: one(SECTION, 'Its name, by which routes may refer to it.', { required: true }),
  hostname: one(HOSTNAME, 'Host that it serves, `*.` for all below one. Default: every host.'),
  port: one(PORT_NUMBER, "Port of the gateway's Service.", { required: true }),
  protocol: one(PROTOCOL, '`HTTP`, `HTTPS`, `TLS` or `TCP`.', { required: true }),
  tls: one(ListenerTls, 'Of `HTTPS` and `TLS`.'),
  allowedRoutes: one(AllowedRoutes, 'Which routes may attach.', { filled: true }),
});

export const GatewayAddress: Message = crdObject('GatewayAddress', 'An address of a Gateway.', {
  type: one(ADDRESS_TYPE, '`Hostname`: the Service whose workloads serve it.', { default: 'IPAddress' }),
  value: one(bounded(string, { maxLength: 253 }), 'The name, short or in full.'),
});

export const GatewayInfrastructure: Message = crdObject('GatewayInfrastructure', 'For who deploys gateways.', {
  labels: map(LABEL_VALUE, 'Labels of what is deployed.', { maxItems: 8 }),
  annotations: map(OPTION, 'Annotations of what is deployed.', { maxItems: 16 }),
  parametersRef: one(LocalObjectReference, 'A ConfigMap with more.'),
});

export const FrontendValidationMode: Enum = enumeration('FrontendValidationMode', 'What becomes of bad clients.', [
  'AllowValidOnly',
  'AllowInsecureFallback',
]);

export const FrontendValidation: Message = crdObject('FrontendValidation', 'How clients show who they are.', {
  caCertificateRefs: list(GatewayObjectReference, 'Authorities that are trusted; one is read.', {
    required: true,
    minItems: 1,
    maxItems: 16,
  }),
  mode: one(FrontendValidationMode, 'Whether clients without a valid certificate are served.', {
    default: 'AllowValidOnly',
  }),
});

export const FrontendTls: Message = crdObject('FrontendTls', 'TLS towards clients.', {
  validation: one(FrontendValidation, 'Asks clients for certificates.'),
});

export const PortTls: Message = crdObject('PortTls', 'TLS towards clients at one port.', {
  port: one(PORT_NUMBER, 'The port.', { required: true }),
  tls: one(FrontendTls, 'Its settings, in place of the default.', { required: true }),
});

export const GatewayFrontend: Message = crdObject('GatewayFrontend', 'TLS towards clients.', {
  default: one(FrontendTls, 'Of all ports.', { required: true }),
  perPort: list(PortTls, 'Of single ports.', { maxItems: 64 }),
});

export const GatewayBackend: Message = crdObject('GatewayBackend', 'TLS towards backends.', {
  clientCertificateRef: one(SecretObjectReference, "The gateway's own certificate; it is checked, but not used."),
});

export const GatewayTls: Message = crdObject('GatewayTls', 'TLS of all listeners of a Gateway.', {
  frontend: one(GatewayFrontend, 'Towards clients.'),
  backend: one(GatewayBackend, 'Towards backends.'),
});

export const KubeGateway: Message = crdObject('KubeGateway', 'A Gateway of the Gateway API.', {
  gatewayClassName: one(OBJECT_NAME, 'The class, which says who serves it: `istio`.', { required: true }),
  listeners: list(KubeListener, 'Where it takes connections.', { required: true, minItems: 1, maxItems: 64 }),
  addresses: list(GatewayAddress, 'The Service whose workloads serve it. Default: `<name>-<class>`.', { maxItems: 16 }),
  allowedListeners: one(AllowedListeners, 'ListenerSets that may add listeners. Default: none.'),
  infrastructure: ignored(one(GatewayInfrastructure, 'For who deploys gateways.'), 'gateways are started by you'),
  tls: one(GatewayTls, 'TLS of all listeners.'),
  defaultScope: ignored(one(DefaultScope, 'Whether routes without parents attach.'), 'a route names its parents'),
});

export const ListenerSetParent: Message = crdObject('ListenerSetParent', 'The Gateway to which listeners are added.', {
  group: one(GROUP, 'API group.', { default: 'gateway.networking.k8s.io' }),
  kind: one(KIND, 'Kind.', { default: 'Gateway' }),
  name: one(OBJECT_NAME, 'Name.', { required: true }),
  namespace: one(NAMESPACE, 'Namespace. Default: the own one.'),
});

export const KubeListenerSet: Message = crdObject('KubeListenerSet', 'Listeners that are added to a Gateway.', {
  parentRef: one(ListenerSetParent, 'The Gateway, which must allow it.', { required: true }),
  listeners: list(KubeListener, 'The listeners.', { required: true, minItems: 1, maxItems: 64 }),
});
