import { WeakInterner } from '../base/weak-intern.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { Node } from '../proto/discovery.ts';
import { messageName } from '../proto/type-urls.ts';
import { ConnectError, type Peer, type ResourceProvider, type Session } from '../xds/provider.ts';

/** Serves xDS streams from the sets of the proxies' scopes. */
export function resourceProvider(sessions: ProxySessions): ResourceProvider {
  // Envoys of one build have the same hundreds of names.
  const lists = new WeakInterner<readonly string[]>();
  return {
    connect(node: Node, _peer: Peer): Session {
      const { id, cluster, metadata, locality, extensions, userAgentBuildVersion } = node;
      const { majorNumber, minorNumber } = userAgentBuildVersion?.version ?? {};
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
      return session;
    },
  };
}
