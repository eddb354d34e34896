import { sameItems } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import type { Config, ConfigKey } from '../../config/config.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { type Configuration, objects } from '../configuration.ts';
import { ONE } from '../mesh.ts';

/** Objects that one kind of conversion makes. */
export interface Made {
  /** In any order; a key may stand here several times. */
  readonly keys: Derived<typeof ONE, readonly ConfigKey[]>;
  readonly config: Derived<ConfigKey, Config | undefined>;
}

/** Two versions of a made object are equal when their content is. */
export function sameMade(a: Config | undefined, b: Config | undefined): boolean {
  return a?.hash === b?.hash && a?.document === b?.document;
}

const NONE: readonly ConfigKey[] = [];
const KINDS: readonly string[] = ['Gateway', 'VirtualService', 'DestinationRule'];

/** The key of a kind of which objects are made. */
function isMakeable(key: ConfigKey): boolean {
  return KINDS.some((kind) => key.startsWith(`networking.istio.io/${kind}/`));
}

/** The configuration with what is made of it. An object of a file comes before one of the same name that is made. */
export function withMade(graph: Graph, configuration: Configuration, conversions: readonly Made[]): Configuration {
  const makers = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, Made>>('makers', () => {
    const found = new Map<ConfigKey, Made>();
    for (const made of conversions) for (const key of made.keys.get(ONE)) if (!found.has(key)) found.set(key, made);
    return found;
  });
  /** By kind, and by `Kind/namespace`. */
  const byKind = graph.derived<typeof ONE, ReadonlyMap<string, readonly ConfigKey[]>>('madeByKind', () => {
    const found = new Map<string, ConfigKey[]>();
    for (const key of [...makers.get(ONE).keys()].sort()) {
      const [, kind = '', namespace = ''] = key.split('/');
      append(found, kind, key);
      append(found, `${kind}/${namespace}`, key);
    }
    return found;
  });
  const madeKeys = graph.derived<string, readonly ConfigKey[]>(
    'madeKeys',
    (kindOrNamespace) => byKind.get(ONE).get(kindOrNamespace) ?? NONE,
    { equals: sameItems },
  );
  const madeConfig = graph.derived<ConfigKey, Config | undefined>(
    'madeConfig',
    (key) => makers.get(ONE).get(key)?.config.get(key),
    { equals: sameMade },
  );
  const keysOf = (kind: string, namespace?: string): readonly ConfigKey[] => {
    const written = configuration.keysOf(kind, namespace);
    if (!KINDS.includes(kind)) return written;
    const made = madeKeys.get(namespace === undefined ? kind : `${kind}/${namespace}`);
    return made.length === 0 ? written : [...new Set([...written, ...made])];
  };
  const config = <Spec>(key: ConfigKey): Config<Spec> | undefined => {
    const written = configuration.config<Spec>(key);
    return written ?? (isMakeable(key) ? (madeConfig.get(key) as Config<Spec> | undefined) : undefined);
  };
  return { ...configuration, ...objects({ keysOf, config }) };
}
