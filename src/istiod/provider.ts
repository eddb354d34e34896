import { WeakInterner } from '../base/weak-intern.ts';
import { readsConfiguration } from '../pipeline/mcp-resources.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { Node } from '../proto/discovery.ts';
import { messageName } from '../proto/type-urls.ts';
import { ConnectError, type Peer, type ResourceProvider, type Session } from '../xds/provider.ts';

export interface ProviderOptions {
  /** Of the control plane. */
  readonly revision: string;
  /**
   * Whether a peer may read the objects themselves.
   * @throws ConnectError when nothing is known of it
   */
  readonly mayReadConfiguration: (peer: Peer) => boolean;
}

/** Serves xDS streams from the sets of the proxies' scopes, but for proxies that want another revision. */
export function resourceProvider(
  sessions: ProxySessions,
  { revision, mayReadConfiguration }: ProviderOptions,
): ResourceProvider {
  // Envoys of one build have the same hundreds of names.
  const lists = new WeakInterner<readonly string[]>();
  return {
    connect(node: Node, peer: Peer): Session {
      const { id, cluster, metadata, locality, extensions, userAgentBuildVersion } = node;
      const { majorNumber, minorNumber } = userAgentBuildVersion?.version ?? {};
      if (readsConfiguration({ metadata: metadata ?? {} }) && !mayReadConfiguration(peer)) {
        throw new ConnectError('PERMISSION_DENIED', 'configuration is for control planes of the root namespace');
      }
      const urls = extensions.flatMap(({ typeUrls }) => typeUrls);
      const session = sessions.connect({
        id,
        metadata: metadata ?? {},
        ...(locality ? { locality } : {}),
        cluster,
        ...(majorNumber === 1 && minorNumber !== undefined ? { envoyMinor: minorNumber } : {}),
        extensions: extensions.map(({ name }) => name),
        extensionTypes: lists.intern(urls.join(), () => urls.map(messageName)),
      });
      if ('refused' in session) throw new ConnectError('INVALID_ARGUMENT', session.refused);
      const wanted = session.proxy.revision;
      if (wanted !== '' && wanted !== revision) {
        session.close();
        throw new ConnectError(
          'FAILED_PRECONDITION',
          `the node wants the revision ${wanted}, and this control plane is ${revision}: connect it to another, or change its ISTIO_REVISION or its label istio.io/rev`,
        );
      }
      return session;
    },
  };
}
