import type { envoy } from '#generated/proto/types.ts';
import type { Hostname } from '../base/host.ts';
import type { IpFamilies } from '../model/scope.ts';
import { ALLOW_ANY_DYNAMIC_DNS_CACHE, dnsCacheName } from './names.ts';

type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;
export type DnsLookupFamily = envoy.config.cluster.v3.Cluster.DnsLookupFamily;

/**
 * The families of addresses that a proxy asks DNS for.
 * @see istio/istio pilot/pkg/networking/util/util.go `SelectDNSLookupFamily`
 */
export function dnsLookupFamily(families: IpFamilies, dualStack: boolean): DnsLookupFamily {
  switch (families) {
    case 'IPv4':
      return 'V4_ONLY';
    case 'IPv6':
      return 'V6_ONLY';
    case 'dual-IPv4':
    case 'dual-IPv6':
      return dualStack ? 'ALL' : 'V4_ONLY';
  }
}

/** The cache of a wildcard host; its cluster and the filters before it must have the same. */
export function hostDnsCache(host: Hostname, lookupFamily: DnsLookupFamily): DnsCacheConfig {
  return { name: dnsCacheName(host), dnsLookupFamily: lookupFamily };
}

const MAX_HOSTS = 1024;
const AGENT_DNS = { host: '127.0.0.1', port: 15053 };

/**
 * The cache for the outbound mode ALLOW_ANY_DYNAMIC_DNS; its cluster and the filters before it must have the same.
 *
 * @param agent `host:port` where the node's agent answers DNS; undefined when the node's DNS is not captured
 */
export function anyDnsCache(lookupFamily: DnsLookupFamily, agent: string | undefined): DnsCacheConfig {
  return {
    name: ALLOW_ANY_DYNAMIC_DNS_CACHE,
    dnsLookupFamily: lookupFamily,
    maxHosts: MAX_HOSTS,
    ...(agent === undefined ? {} : { typedDnsResolverConfig: resolver(agent) }),
  };
}

function resolver(agent: string): envoy.config.core.v3.TypedExtensionConfig {
  const colon = agent.lastIndexOf(':');
  const host = agent.slice(0, Math.max(colon, 0)).replace(/^\[(.*)\]$/, '$1');
  const port = /^\d+$/.test(agent.slice(colon + 1)) ? Number(agent.slice(colon + 1)) : AGENT_DNS.port;
  const address = host === '' || host === 'localhost' ? AGENT_DNS.host : host;
  return {
    name: 'envoy.network.dns_resolver.cares',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
      resolvers: [{ socketAddress: { address, portValue: port } }],
    },
  };
}
