/** Fields with an effect that is not in what proxies are sent, or not by themselves; each with where it is. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'BackendSubjectAltName.type': 'which of the two names it has',
  'BackendTlsValidation.wellKnownCACertificates': 'without it caCertificateRefs is needed, which is another field',
  'GrpcFilter.type': 'which of its settings it has',
  'HttpFilter.type': 'which of its settings it has',
  'JWTRule.jwksUri': 'where the server fetches keys; what it has fetched is sent',
  'JWTRule.timeout': 'how long the server waits for keys',
  'KubeConnectionRule.name': 'names of rules must differ',
  'KubeGatewayClass.description': 'for people',
  'MeshFile.env': 'the environment of the server',
  'MeshFile.namespaces': 'which namespaces are read',
  'ObjectMeta.annotations': 'of workloads that are to come',
  'ObjectMeta.labels': 'selectors that they answer are no finding',
  'PathModifier.type': 'which of its settings it has',
  'PolicyTargetReference.group': 'which kinds it may have with which group is checked',
  'PolicyTargetReference.kind': 'which kinds it may have with which group is checked',
  'ProxyConfig.proxyMetadata': 'whether agents allocate addresses decides IST0134',
  'ProxyConfigSpec.selector': 'whom the rest, which has no effect, would be for',
  'SidecarPort.name': 'names of ports must differ',
  'WorkloadGroup.metadata': 'selectors that it answers are no finding',
};

/** Messages whose fields are to have an effect, and have none yet. */
export const PENDING: readonly string[] = ['CertificateData'];
