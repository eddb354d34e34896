import type { KubeReferenceGrant, ServerTLSSettings } from '#generated/config/specs.ts';
import type { Config } from '../../config/config.ts';
import { MARKS } from '../../config/marks.ts';
import { GATEWAY_SECRET_SCHEME, namespacedName, ROOTS_SUFFIX } from '../../config/secret-names.ts';
import { isGranted, type Referrer } from '../../convert/gateway-api/references.ts';
import type { MergedServer } from '../../model/merged-gateway-server.ts';
import type { ProxyScope } from '../../model/scope.ts';

/** The Gateway that a server stands in; of one that was made of others its marks say of what. */
export type OwnerOfServer = Pick<Config, 'namespace' | 'annotations'>;

/** ReferenceGrants of a namespace. */
export type GrantsOf = (namespace: string) => readonly Config<KubeReferenceGrant>[];

function namedBy(tls: ServerTLSSettings | undefined): readonly string[] {
  const { mode, credentialName = '', credentialNames = [], caCertCredentialName = '' } = tls ?? {};
  const own = credentialNames.length > 0 ? credentialNames : [credentialName];
  const checks = mode === 'MUTUAL' || mode === 'OPTIONAL_MUTUAL';
  return [...own, ...(checks ? own.map((name) => name + ROOTS_SUFFIX) : []), caCertCredentialName];
}

/**
 * Secrets by namespace and name that a server of a router's Gateway names and that the router may have: those of the namespace
 * that it shares with the Gateway, for a ListenerSet those of its own namespace, and what a ReferenceGrant allows.
 *
 * @see istio/istio pilot/pkg/model/gateway.go `VerifiedCertificateReferences`
 */
export function verifiedSecrets(
  { tls }: Pick<MergedServer, 'tls'>,
  { namespace, annotations }: OwnerOfServer,
  router: Pick<ProxyScope, 'namespace' | 'serviceAccount'>,
  grantsOf: GrantsOf,
): readonly string[] {
  const account = annotations[MARKS.serviceAccount] ?? '';
  const isOfRouter = (annotations[MARKS.parentNamespace] || namespace) === router.namespace;
  if (!isOfRouter || (account !== '' && account !== router.serviceAccount)) return [];
  const kind = annotations[MARKS.parents]?.startsWith('ListenerSet/') ? 'ListenerSet' : 'Gateway';
  const owner = kind === 'ListenerSet' ? namespace : router.namespace;
  const isTrusted = kind === 'ListenerSet' || namespace === router.namespace;
  const from: Referrer = { kind, namespace: owner };
  return namedBy(tls).filter((resource) => {
    const secret = namespacedName(resource, GATEWAY_SECRET_SCHEME);
    if (secret === undefined) return false;
    if (isTrusted && secret.namespace === owner) return true;
    const name = secret.name.endsWith(ROOTS_SUFFIX) ? secret.name.slice(0, -ROOTS_SUFFIX.length) : secret.name;
    return isGranted(grantsOf(secret.namespace), from, {
      group: '',
      kind: 'Secret',
      namespace: secret.namespace,
      name,
    });
  });
}
