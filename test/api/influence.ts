import { parseDocument, stringify } from 'yaml';
import { API_KINDS } from '../../build/reference/support.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Config } from '../../src/config/config.ts';
import type { Path } from '../../src/config/finding.ts';
import type { KindDefinition } from '../../src/config/kind.ts';
import { pathText } from '../../src/config/parse.ts';
import { meshOptions } from '../../src/istiod/environment.ts';
import { proxyOfNode } from '../../src/model/node.ts';
import { type FileMesh, fileMesh } from '../support/mesh-files.ts';
import { places, samples, shaped, taken, withValue } from './probe.ts';
import { SAMPLES } from './samples.ts';

interface TrialProxy {
  readonly type?: 'sidecar' | 'router';
  readonly namespace?: string;
  readonly ip?: string;
  readonly labels?: JsonObject;
  readonly metadata?: JsonObject;
  readonly locality?: { readonly region: string; readonly zone: string; readonly subZone: string };
}

/** The first document of a mesh: who asks, mesh.yaml and meshNetworks.yaml. Objects follow. */
interface TrialMesh {
  readonly proxies: Readonly<Record<string, TrialProxy>>;
  readonly mesh?: JsonObject;
  readonly networks?: JsonObject;
  /** Istio's variables. */
  readonly env?: Readonly<Record<string, string>>;
}

function connect({ graph, pipeline }: FileMesh, name: string, proxy: TrialProxy): void {
  const { type = 'sidecar', namespace = 'shop', ip = '10.9.9.9', labels = {}, metadata = {}, locality } = proxy;
  const connected = proxyOfNode({
    id: `${type}~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: {
      NAMESPACE: namespace,
      INSTANCE_IPS: ip,
      LABELS: labels,
      CLUSTER_ID: 'Kubernetes',
      DNS_CAPTURE: 'true',
      ...metadata,
    },
    ...(locality && { locality }),
    extensions: ['istio.metadata_exchange', 'istio.stats', 'istio.alpn'],
  });
  if ('refused' in connected) throw new Error(connected.refused);
  graph.batch(() => pipeline.mesh.proxies.set(name, connected));
}

/** What all clients are sent, in one text. */
function sent({ pipeline }: FileMesh, clients: readonly string[]): string {
  const lines: string[] = [];
  for (const client of clients) {
    const scope = pipeline.mesh.scopeOf.get(client);
    if (scope === undefined) throw new Error(`${client} is not connected`);
    for (const [typeUrl, set] of pipeline.resources) {
      for (const [name, { version }] of set.get(scope).entries()) lines.push(`${client} ${typeUrl} ${name} ${version}`);
    }
  }
  return lines.join('\n');
}

/** Fields by what became of them when they were changed. */
export interface Tried {
  /** Proxies are sent something else. */
  readonly proven: Set<string>;
  /** Something else is said of the object, by what makes it into kinds of Istio. */
  readonly told: Set<string>;
  /** How many changes there were. */
  changes: number;
}

interface Outcome {
  readonly sent: string;
  readonly said: string;
}

/** A mesh in which fields are changed, one at a time. */
class Trials {
  readonly #control: FileMesh;
  readonly #clients: readonly string[];
  readonly before: string;
  changes = 0;

  constructor(text: string) {
    const [head = '', ...rest] = text.split(/^---$/m);
    const { proxies, mesh, networks, env = {} } = parseDocument(head).toJS() as TrialMesh;
    this.#control = fileMesh(
      {
        'istio-system/objects.yaml': rest.join('---'),
        'mesh.yaml': stringify(mesh ?? {}),
        'meshNetworks.yaml': stringify(networks ?? {}),
      },
      meshOptions(env, 'istio-system'),
    );
    // A filter that is not served is an error, and stands there to be one.
    const errors = this.#control
      .findings()
      .filter(({ severity, message }) => severity === 'error' && !message.includes('no such filter'));
    if (errors.length > 0) throw new Error(errors.map((one) => `${one.resource}: ${one.message}`).join('\n'));
    this.#clients = Object.keys(proxies);
    for (const [name, proxy] of Object.entries(proxies)) connect(this.#control, name, proxy);
    this.before = sent(this.#control, this.#clients);
  }

  /** Objects whose kinds have a schema of all their fields. */
  *objects(): Generator<{ readonly config: Config; readonly kind: KindDefinition }> {
    const { configs } = this.#control.store;
    for (const key of configs.keys()) {
      const config = configs.get(key) as Config;
      const kind = API_KINDS.find(
        (one) => one.kind === config.kind && (config.group === '' || one.group === config.group),
      );
      if (kind !== undefined) yield { config, kind };
    }
  }

  /** What comes of an object in which a field has another value; undefined when it is refused. */
  outcome(config: Config, kind: KindDefinition, path: Path, value: unknown): Outcome | undefined {
    const spec = taken(kind, withValue(kind.schema, config.spec, path, value), config.name, config.namespace);
    if (spec === undefined) return undefined;
    this.changes++;
    const { graph, store } = this.#control;
    graph.batch(() => store.configs.set(config.key, { ...config, spec, hash: `${this.changes}` }));
    const now = sent(this.#control, this.#clients);
    const said = kind.schema.style === 'crd' ? this.said() : '';
    graph.batch(() => store.configs.set(config.key, config));
    return { sent: now, said };
  }

  /** Findings of what makes objects into kinds of Istio. */
  said(): string {
    const made = this.#control.findings().filter(({ code }) => code.startsWith('VM03'));
    return made.map(({ code, resource, path, message }) => `${code} ${resource} ${path} ${message}`).join('\n');
  }
}

function isSet(value: unknown, path: Path): boolean {
  return path.reduce((part, step) => (part as Readonly<Record<string | number, unknown>>)?.[step], value) !== undefined;
}

/**
 * Changes the fields of a mesh, one at a time, and looks at what clients are sent.
 *
 * @param text a mesh: who asks, then objects
 * @param tried fields that are known to make a difference are not changed; those that do are added
 */
export function tryFields(text: string, tried: Tried): void {
  const trials = new Trials(text);
  const nothing: Outcome = { sent: trials.before, said: trials.said() };
  for (const { config, kind } of trials.objects()) {
    for (const { path, fields, field } of places(kind.schema, config.spec)) {
      const name = fields.at(-1) ?? '';
      if (tried.proven.has(name)) continue;
      const around = pathText(['spec', ...path.slice(0, -1)]);
      if (field.unserved !== undefined && isSet(config.spec, path) && nothing.said.includes(around)) {
        tried.told.add(name);
      }
      // Of a group, one that is taken away for another must not count for it.
      const without = field.oneof === undefined ? undefined : trials.outcome(config, kind, path, undefined);
      const before = without ?? nothing;
      const values = SAMPLES[name] ?? samples(field.type).map((value) => shaped(field, value));
      for (const value of field.oneof === undefined ? [...values, undefined] : values) {
        const now = trials.outcome(config, kind, path, value);
        if (now === undefined) continue;
        if (now.said !== before.said) tried.told.add(name);
        if (now.sent === before.sent) continue;
        for (const one of fields) tried.proven.add(one);
        break;
      }
    }
  }
  tried.changes += trials.changes;
}
