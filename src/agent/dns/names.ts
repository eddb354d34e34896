import { isIP } from 'node:net';
import { addressBytes } from '../../base/cidr.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Found } from './response.ts';

/** Where the machine is, as far as names without a domain depend on it. */
export interface Place {
  readonly namespace: string;
  /** Of the names of Kubernetes Services: `svc.cluster.local`. */
  readonly domain: string;
  /** What the resolver of the machine adds to names: `search` of resolv.conf. */
  readonly search: readonly string[];
}

interface Addresses {
  readonly v4: readonly Uint8Array[];
  readonly v6: readonly Uint8Array[];
}

/**
 * What the control plane says of names: an `istio.networking.nds.v1.NameTable`.
 *
 * A name of a Kubernetes Service has shorter forms; what begins with `*.` stands for all names below. A name with the first
 * search domain behind it, as resolvers try it first, stands for the name itself, so that they ask no further.
 *
 * @see istio/istio pkg/dns/client/dns.go `BuildAlternateHosts`, `lookupHost`
 */
export class Names {
  readonly #hosts = new Map<string, Addresses>();
  readonly #suffix: string;

  /** @param table in proto JSON; what is no address in it, and a name without one, is passed over */
  constructor(table: JsonObject, place: Place) {
    const [first = ''] = place.search;
    this.#suffix = first === '' ? '' : `.${withoutDot(first).toLowerCase()}`;
    const names = isJsonObject(table['table'] ?? null) ? (table['table'] as JsonObject) : {};
    for (const [host, info] of Object.entries(names)) {
      if (!isJsonObject(info)) continue;
      const addresses = addressesOf(info['ips']);
      if (addresses === undefined) continue;
      for (const name of formsOf(host, info, place)) this.#hosts.set(name, addresses);
    }
  }

  /** How many names it knows, with their shorter forms. */
  get size(): number {
    return this.#hosts.size;
  }

  /** @param name in lower case, without a dot at its end; undefined: nobody here knows it */
  find(name: string): Found | undefined {
    const exact = this.#hosts.get(name);
    if (exact !== undefined) return { canonical: undefined, ...exact };
    const short = this.#withoutSearchDomain(name);
    const shorter = short === undefined ? undefined : this.#hosts.get(short);
    if (shorter !== undefined) return { canonical: short, ...shorter };
    const wildcard = this.#wildcard(name);
    if (wildcard !== undefined) return { canonical: undefined, ...wildcard };
    const below = short === undefined ? undefined : this.#wildcard(short);
    return below && { canonical: short, ...below };
  }

  #withoutSearchDomain(name: string): string | undefined {
    if (this.#suffix === '' || !name.endsWith(this.#suffix)) return undefined;
    const short = name.slice(0, -this.#suffix.length);
    return short === '' || short.endsWith(this.#suffix) ? undefined : short;
  }

  /** Of the nearest name above that has one. */
  #wildcard(name: string): Addresses | undefined {
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const found = this.#hosts.get(`*${name.slice(dot)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function* formsOf(host: string, info: JsonObject, { namespace, domain }: Place): Generator<string> {
  const name = withoutDot(host).toLowerCase();
  yield name;
  if (info['registry'] !== 'Kubernetes' || domain === '' || !name.endsWith(domain.toLowerCase())) return;
  const [shortname, own] = [text(info['shortname']).toLowerCase(), text(info['namespace']).toLowerCase()];
  if (shortname !== '' && own !== '') {
    yield `${shortname}.${own}`;
    yield `${shortname}.${own}.${domain.split('.')[0]}`;
    if (own === namespace) yield shortname;
  }
  const { altHosts } = info;
  for (const other of Array.isArray(altHosts) ? altHosts : []) yield withoutDot(text(other)).toLowerCase();
}

/** Undefined when there is none. */
function addressesOf(ips: JsonValue | undefined): Addresses | undefined {
  // A host whose clusters share an address has it several times; an answer needs it once.
  const texts = [...new Set((Array.isArray(ips) ? ips : []).map(text))].filter(
    (ip) => isIP(ip) !== 0 && !ip.includes('%'),
  );
  if (texts.length === 0) return undefined;
  const family = (version: number) =>
    texts.filter((ip) => isIP(ip) === version).map((ip) => Uint8Array.from(addressBytes(ip)));
  return { v4: family(4), v6: family(6) };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
