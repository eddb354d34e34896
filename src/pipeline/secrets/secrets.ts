import type { ConfigMap, KubeReferenceGrant, Secret } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import { Interner } from '../../base/intern.ts';
import { type ConfigKey, configKey } from '../../config/config.ts';
import { CERTIFICATE_FILES } from '../../config/kinds/secret.ts';
import { certificateIn, rootsIn, type SecretData } from '../../config/secret-data.ts';
import {
  CONFIG_MAP_SCHEME,
  GATEWAY_SECRET_SCHEME,
  namespacedName,
  ROOTS_SUFFIX,
  SECRET_SCHEME,
} from '../../config/secret-names.ts';
import type { Graph } from '../../derive/graph.ts';
import { certificateSecret, rootsSecret } from '../../envoy/secret.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { messageName, SECRET_TYPE } from '../../proto/type-urls.ts';
import { encodedResource, sameVersion } from '../encoded-resource.ts';
import { type Mesh, ONE } from '../mesh.ts';
import type { ScopedResources } from '../resource-types.ts';
import { type GrantsOf, verifiedSecrets } from './gateway-secrets.ts';

/** What an object holds that proxies may ask for. */
interface Held {
  readonly certificate: boolean;
  readonly roots: boolean;
}

/** A resource, and the object that it is made of. Interned. */
interface SecretRef {
  readonly name: string;
  readonly part: 'certificate' | 'roots';
  readonly key: ConfigKey;
}

const MESSAGE = messageName(SECRET_TYPE) as 'envoy.extensions.transport_sockets.tls.v3.Secret';
/** The name by which proxies ask for the roots that the certificates of others are verified by. */
const ROOTS_OF_MESH = 'ROOTCA';
const OWN_ROOTS: SecretRef = { name: ROOTS_OF_MESH, part: 'roots', key: configKey('', '', '', ROOTS_OF_MESH) };
const NOTHING: Held = { certificate: false, roots: false };

/**
 * Certificates, keys and roots: of each proxy those of Secrets in its namespace, of Secrets that its Gateways may name
 * elsewhere, of ConfigMaps, and of files, and the roots of the mesh. Keys are left out where its connection may not carry them;
 * roots are public.
 *
 * @see istio/istio pilot/pkg/xds/sds.go
 */
export function deriveSecrets(graph: Graph, mesh: Mesh): ScopedResources {
  const refs = new Interner<SecretRef>();

  const dataOf = (key: ConfigKey): SecretData | undefined => {
    const config = mesh.config<Secret | ConfigMap>(key);
    return config?.kind === 'ConfigMap' ? encoded(config.spec.data ?? {}) : config?.spec.data;
  };
  const held = graph.derived<ConfigKey, Held>(
    'secretParts',
    (key) => {
      const data = dataOf(key);
      if (data === undefined) return NOTHING;
      return { certificate: certificateIn(data) !== undefined, roots: rootsIn(data) !== undefined };
    },
    { equals: deepEqual },
  );
  const secrets = graph.derived<SecretRef, EncodedResource | undefined>(
    'secret',
    ({ name, part, key }) => {
      const data = dataOf(key) ?? {};
      const certificate = part === 'certificate' ? certificateIn(data) : undefined;
      if (certificate !== undefined) return encodedResource(MESSAGE, name, certificateSecret(name, certificate));
      const roots = part === 'roots' ? rootsIn(data) : undefined;
      return roots && encodedResource(MESSAGE, name, rootsSecret(name, roots));
    },
    { equals: sameVersion },
  );

  const exists = (namespace: string, name: string): ConfigKey | undefined => {
    const key = configKey('', 'Secret', namespace, name);
    return mesh.config(key) === undefined ? undefined : key;
  };
  /** A name that ends as roots do means nothing else; they stand in a Secret of their own, or beside a certificate. */
  const found = (resource: string, namespace: string, name: string): readonly SecretRef[] => {
    const isRoots = name.endsWith(ROOTS_SUFFIX);
    const key =
      exists(namespace, name) ?? (isRoots ? exists(namespace, name.slice(0, -ROOTS_SUFFIX.length)) : undefined);
    const part = isRoots ? 'roots' : 'certificate';
    return key !== undefined && held.get(key)[part] ? [refs.intern({ name: resource, part, key })] : [];
  };
  const ofNamespace = graph.derived<string, readonly SecretRef[]>(
    'secretsOfNamespace',
    (namespace) => {
      const names = mesh.ofKindIn<Secret>('Secret', namespace).flatMap(({ name }) => [name, name + ROOTS_SUFFIX]);
      return names.flatMap((name) => [
        ...found(SECRET_SCHEME + name, namespace, name),
        ...found(`${SECRET_SCHEME}${namespace}/${name}`, namespace, name),
      ]);
    },
    { equals: deepEqual },
  );
  const ofConfigMaps = graph.derived<typeof ONE, readonly SecretRef[]>(
    'secretsOfConfigMaps',
    () =>
      mesh.ofKind('ConfigMap').flatMap(({ key, namespace, name }) => {
        if (!held.get(key).roots) return [];
        return ['', ROOTS_SUFFIX].map((suffix) =>
          refs.intern({ name: `${CONFIG_MAP_SCHEME}${namespace}/${name}${suffix}`, part: 'roots', key }),
        );
      }),
    { equals: deepEqual },
  );
  const ofFiles = (scope: ProxyScope): readonly SecretRef[] =>
    mesh.fileSecrets.of.get(scope).map((secret) =>
      refs.intern({
        name: secret.name,
        part: 'roots' in secret ? 'roots' : 'certificate',
        key: configKey('', CERTIFICATE_FILES.kind, '', secret.name),
      }),
    );
  const grantsOf: GrantsOf = (namespace) => mesh.ofKindIn<KubeReferenceGrant>('ReferenceGrant', namespace);
  const ofGateways = graph.derived<ProxyScope, readonly SecretRef[]>(
    'secretsOfGateways',
    (scope) => {
      const servers = mesh.mergedGateway.get(scope)?.ports.flatMap((port) => port.servers) ?? [];
      const named = servers.flatMap((server) => {
        const [namespace = '', name = ''] = server.gateway.split('/');
        const owner = mesh.config(configKey('networking.istio.io', 'Gateway', namespace, name));
        return owner === undefined ? [] : verifiedSecrets(server, owner, scope, grantsOf);
      });
      return [...new Set(named)].sort().flatMap((resource) => {
        const secret = namespacedName(resource, GATEWAY_SECRET_SCHEME);
        return secret === undefined ? [] : found(resource, secret.namespace, secret.name);
      });
    },
    { equals: deepEqual },
  );

  const hasOwnRoots = graph.derived('hasOwnRoots', () => (mesh.roots.own.get(ONE) ?? []).length > 0);
  const ownRoots = graph.derived<typeof ONE, EncodedResource | undefined>(
    'ownRootsSecret',
    () => {
      const pem = mesh.roots.all.get(ONE).map((text) => (text.endsWith('\n') ? text : `${text}\n`));
      const roots = Buffer.from(pem.join('')).toString('base64');
      return encodedResource(MESSAGE, ROOTS_OF_MESH, rootsSecret(ROOTS_OF_MESH, { roots }));
    },
    { equals: sameVersion },
  );

  return graph.collectionOfParts<ProxyScope, string, SecretRef, EncodedResource>('secrets', {
    parts: (scope) => {
      const all = [
        ...ofNamespace.get(scope.namespace),
        ...ofConfigMaps.get(ONE),
        ...ofFiles(scope),
        ...ofGateways.get(scope),
      ];
      const carried = all.filter(({ part }) => part === 'roots' || scope.capabilities.keys);
      return new Map([
        ...carried.map((ref) => [ref.name, ref] as const),
        ...(hasOwnRoots.get(ONE) ? [[ROOTS_OF_MESH, OWN_ROOTS] as const] : []),
      ]);
    },
    value: (_name, ref) => (ref === OWN_ROOTS ? ownRoots.get(ONE) : secrets.get(ref)),
    equals: sameVersion,
  });
}

/** Texts of a ConfigMap as a Secret would hold them; only roots are looked for in it. */
function encoded(texts: Readonly<Record<string, string>>): SecretData {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
}
