import { WeakInterner } from '../base/weak-intern.ts';
import type { NodeDescription } from '../model/node.ts';
import { readsConfiguration } from '../pipeline/mcp-resources.ts';
import type { ProxySession, ProxySessions } from '../pipeline/session.ts';
import type { Logger } from '../process/log.ts';
import type { Node } from '../proto/discovery.ts';
import type { ResourceSet } from '../proto/resource-set.ts';
import { messageName, SECRET_TYPE } from '../proto/type-urls.ts';
import { ConnectError, type Peer, type ResourceProvider, type Session } from '../xds/provider.ts';
import { identityProblem, keyAccess } from './key-access.ts';

export interface ProviderOptions {
  /** Of the control plane. */
  readonly revision: string;
  /**
   * Whether a peer may read the objects themselves.
   * @throws ConnectError when nothing is known of it
   */
  readonly mayReadConfiguration: (peer: Peer) => boolean;
  /** Private keys go over plaintext, too: for tests. */
  readonly secretsOverPlaintext: boolean;
  /** Whether a node has to be of the namespace and the account that its connection proves. */
  readonly checksIdentities: boolean;
  readonly log: Pick<Logger, 'warn'>;
}

/** Serves xDS streams from the sets of the proxies' scopes, but for proxies that want another revision. */
export function resourceProvider(sessions: ProxySessions, options: ProviderOptions): ResourceProvider {
  const { revision, mayReadConfiguration } = options;
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
      const description: NodeDescription = {
        id,
        metadata: metadata ?? {},
        ...(locality ? { locality } : {}),
        cluster,
        ...(majorNumber === 1 && minorNumber !== undefined ? { envoyMinor: minorNumber } : {}),
        extensions: extensions.map(({ name }) => name),
        extensionTypes: lists.intern(urls.join(), () => urls.map(messageName)),
      };
      const other = options.checksIdentities ? identityProblem(peer, description) : undefined;
      if (other !== undefined && !readsConfiguration(description)) throw new ConnectError('PERMISSION_DENIED', other);
      const access = keyAccess(peer, description, options.secretsOverPlaintext);
      const session = sessions.connect({ ...description, keys: access.granted });
      if ('refused' in session) throw new ConnectError('INVALID_ARGUMENT', session.refused);
      const wanted = session.proxy.revision;
      if (wanted !== '' && wanted !== revision) {
        session.close();
        throw new ConnectError(
          'FAILED_PRECONDITION',
          `the node wants the revision ${wanted}, and this control plane is ${revision}: connect it to another, or change its ISTIO_REVISION or its label istio.io/rev`,
        );
      }
      if (access.granted) return session;
      return new KeylessSession(session, () => {
        options.log.warn(
          { proxy: session.id, peer: peer.address },
          `a proxy that asks for secrets gets no keys: ${access.reason}`,
        );
      });
    },
  };
}

/** The session of a proxy that may have no keys: it is told of once, when it asks for some. */
class KeylessSession implements Session {
  readonly id: string;
  readonly #session: ProxySession;
  #tell: (() => void) | undefined;

  constructor(session: ProxySession, tell: () => void) {
    this.id = session.id;
    this.#session = session;
    this.#tell = tell;
  }

  resources(typeUrl: string): ResourceSet | undefined {
    if (typeUrl === SECRET_TYPE) {
      this.#tell?.();
      this.#tell = undefined;
    }
    return this.#session.resources(typeUrl);
  }

  ask(typeUrl: string, names: ReadonlySet<string>, wildcard: boolean): ((name: string) => boolean) | undefined {
    return this.#session.ask(typeUrl, names, wildcard);
  }

  onChange(listener: () => void): void {
    this.#session.onChange(listener);
  }

  close(): void {
    this.#session.close();
  }
}
