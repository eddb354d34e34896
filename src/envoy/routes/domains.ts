import { isIpAddress } from '../../base/address.ts';
import type { Hostname } from '../../base/host.ts';

/** The form of an IPv6 address in a Host header; other hosts stand for themselves. */
export function bracketed(host: Hostname): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** `host:port`, with brackets around an IPv6 address. */
export function hostAndPort(host: Hostname, port: number): string {
  return `${bracketed(host)}:${port}`;
}

/** Whether a domain is written with its port too; 0 where the proxy ignores the port of the Host header. */
export type PortSuffix = number;

function withPort(host: Hostname, port: PortSuffix): readonly string[] {
  return port === 0 ? [bracketed(host)] : [bracketed(host), hostAndPort(host, port)];
}

/**
 * The other names by which clients in a DNS domain can call a host: with a final dot, and shortened by what the two share.
 * In a Kubernetes-like domain (`ns.svc.suffix`) only hosts of the form `name.ns.svc.suffix` are shortened, to `name.ns`,
 * `name.ns.svc` and, from the same namespace, `name`.
 *
 * @see istio/istio pilot/pkg/networking/core/httproute.go `GenerateAltVirtualHosts`
 */
export function alternativeHosts(hostname: Hostname, port: PortSuffix, dnsDomain: string): readonly string[] {
  const absolute = [
    ...(isIpAddress(hostname) ? [] : [`${hostname}.`]),
    ...(port === 0 ? [] : [hostAndPort(`${hostname}.`, port)]),
  ];
  return [...absolute, ...shortHosts(hostname, dnsDomain).flatMap((host) => withPort(host, port))];
}

/** The domain of a client, taken apart once for all hosts. */
export interface ClientDomain {
  readonly dnsDomain: string;
  /** From `.svc.` on; undefined where the domain is not Kubernetes-like. */
  readonly suffix: string | undefined;
  readonly dotted: string;
}

export function clientDomain(dnsDomain: string): ClientDomain {
  const serviceAt = dnsDomain.indexOf('.svc.');
  return { dnsDomain, suffix: serviceAt < 0 ? undefined : dnsDomain.slice(serviceAt), dotted: `.${dnsDomain}` };
}

/**
 * As much of a client's domain as matters for one host: a domain with the same alternatives, the same one for all clients
 * that need not be told apart.
 */
export function relevantDomain(hostname: Hostname, { dnsDomain, suffix, dotted }: ClientDomain): string {
  return suffix === undefined || hostname.endsWith(dotted) ? dnsDomain : suffix;
}

function shortHosts(hostname: Hostname, dnsDomain: string): readonly Hostname[] {
  const serviceAt = dnsDomain.indexOf('.svc.');
  if (serviceAt < 0) return hostsWithoutShared(hostname, dnsDomain);
  // A domain that begins with `.svc.` names no namespace: all of it is the suffix.
  if (!hostname.endsWith(dnsDomain.slice(serviceAt))) return [];
  const at = hostname.indexOf('.svc.');
  const dot = hostname.indexOf('.');
  if (at <= 0 || dot + 1 > at) return [];
  const namespaced = hostname.slice(0, at);
  const forms = [`${namespaced}.svc`, namespaced];
  const sameNamespace = hostname.slice(dot + 1, at) === dnsDomain.slice(0, serviceAt);
  return sameNamespace ? [hostname.slice(0, dot), ...forms] : forms;
}

/** A host without the labels at its end that it shares with the client's domain. */
function hostsWithoutShared(hostname: Hostname, dnsDomain: string): readonly Hostname[] {
  const host = hostname.split('.');
  const domain = dnsDomain.split('.');
  let shared = 0;
  while (shared < host.length && shared < domain.length && host.at(-1 - shared) === domain.at(-1 - shared)) shared++;
  if (shared === 0) return [];
  const own = host.slice(0, host.length - shared);
  const short = own.join('.');
  // With its namespace in it, the host is called by one label more as well.
  return own.length === 2 ? [short, `${short}.${host[own.length]}`] : [short];
}

export interface DomainsInput {
  /** Lower case. */
  readonly hostname: Hostname;
  /** Other hostnames of the service. */
  readonly aliases: readonly Hostname[];
  /** IPs or CIDR blocks; only those of the proxy's IP families. */
  readonly addresses: readonly string[];
  /** The service has no address of its own, and each of its endpoints is called by a name below the service's. */
  readonly headless: boolean;
  readonly port: PortSuffix;
  readonly dnsDomain: string;
}

export interface Domains {
  /** Without repetition, in order of precedence. */
  readonly all: readonly string[];
  /** The same in lower case, as they are compared. */
  readonly folded: readonly string[];
  /** Those of `all` that are alternative forms: they give way to services that have such a name in full. */
  readonly alternative: ReadonlySet<string>;
}

/**
 * Every Host header by which a service can be called.
 * @see istio/istio pilot/pkg/networking/core/httproute.go `generateVirtualHostDomains`
 */
export function serviceDomains(input: DomainsInput): Domains {
  const { hostname, aliases, addresses, headless, port, dnsDomain } = input;
  const alternative = new Set<string>();
  const names: string[] = [];
  for (const host of [hostname, ...aliases]) {
    const others = alternativeHosts(host, port, dnsDomain);
    names.push(...withPort(host, port), ...others);
    for (const other of others) alternative.add(other);
  }
  const below = headless ? names.map((name) => `*.${name}`) : [];
  const ips = addresses.flatMap((address) => withPort(address, port));
  return domains([...new Set([...names, ...below, ...ips])], alternative);
}

/** The names of a host that is no known service. */
export function hostDomains(hostname: Hostname, port: PortSuffix): Domains {
  return domains(withPort(hostname, port), NONE);
}

const NONE: ReadonlySet<string> = new Set();

function domains(all: readonly string[], alternative: ReadonlySet<string>): Domains {
  const folded = all.map((domain) => domain.toLowerCase());
  return { all, folded: folded.every((domain, i) => domain === all[i]) ? all : folded, alternative };
}
