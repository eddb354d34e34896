import type { ExtensionProvider } from '#generated/config/specs.ts';
import { isUsableProvider } from '../config/kinds/extension-provider.ts';
import type { ExternalAuthorizer } from '../envoy/filters/ext-authz.ts';
import type { Mesh } from './mesh.ts';

/**
 * The authorizer of a name in mesh.yaml.
 *
 * @returns or why it can not be asked
 * @see istio/istio pilot/pkg/security/authz/builder/extauthz.go `processExtensionProvider`
 */
export function externalAuthorizer(
  name: string,
  mesh: Pick<Mesh, 'facet' | 'findCluster'>,
): ExternalAuthorizer | { readonly problem: string } {
  const named = (mesh.facet('extensionProviders') ?? []).filter((provider) => provider.name === name);
  const [provider] = named as readonly ExtensionProvider[];
  if (provider === undefined) return { problem: `mesh.yaml has no extensionProvider "${name}"` };
  if (named.length > 1) return { problem: `mesh.yaml has several extensionProviders "${name}"` };
  const { envoyExtAuthzHttp, envoyExtAuthzGrpc } = provider;
  const settings = envoyExtAuthzHttp ?? envoyExtAuthzGrpc;
  if (settings === undefined) {
    return { problem: `the extensionProvider "${name}" needs envoyExtAuthzHttp or envoyExtAuthzGrpc to decide` };
  }
  if (!isUsableProvider(provider)) return { problem: `the extensionProvider "${name}" of mesh.yaml is not right` };
  const found = mesh.findCluster(settings.service ?? '', settings.port ?? 0);
  if ('problem' in found) return found;
  return {
    provider: {
      ...(envoyExtAuthzHttp === undefined ? {} : { envoyExtAuthzHttp }),
      ...(envoyExtAuthzGrpc === undefined ? {} : { envoyExtAuthzGrpc }),
    },
    ...found,
  };
}
