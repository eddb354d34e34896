import type { MtlsMode } from '../../model/authentication.ts';
import { PLAINTEXT_TRANSPORT, TLS_TRANSPORT } from './chain-match.ts';
import { type ListenerProtocol, plaintextHttpAlpn } from './listener-protocol.ts';

/** One way in which connections to a port come: which, what they speak, and whether their TLS ends here. */
export interface InboundMatch {
  readonly applicationProtocols?: readonly string[];
  readonly transportProtocol: typeof TLS_TRANSPORT | typeof PLAINTEXT_TRANSPORT;
  readonly speaks: 'HTTP' | 'TCP';
  readonly endsTls: boolean;
}

/** The ALPN of mutual TLS by which a proxy says that HTTP is inside, or that it does not know. */
const MTLS_HTTP: readonly string[] = ['istio-http/1.0', 'istio-http/1.1', 'istio-h2'];
const MTLS_UNKNOWN: readonly string[] = ['istio-peer-exchange', 'istio'];
const MTLS_ANY: readonly string[] = ['istio', 'istio-peer-exchange', ...MTLS_HTTP];

function mutualTls(speaks: 'HTTP' | 'TCP', applicationProtocols?: readonly string[]): InboundMatch {
  return {
    ...(applicationProtocols ? { applicationProtocols } : {}),
    transportProtocol: TLS_TRANSPORT,
    speaks,
    endsTls: true,
  };
}

function plaintext(speaks: 'HTTP' | 'TCP', applicationProtocols?: readonly string[]): InboundMatch {
  return {
    ...(applicationProtocols ? { applicationProtocols } : {}),
    transportProtocol: PLAINTEXT_TRANSPORT,
    speaks,
    endsTls: false,
  };
}

/** TLS that the workload itself ends: from callers without a proxy. */
const WORKLOADS_TLS: InboundMatch = { transportProtocol: TLS_TRANSPORT, speaks: 'TCP', endsTls: false };

const DECLARED: Readonly<Record<'HTTP' | 'TCP', Readonly<Record<MtlsMode, readonly InboundMatch[]>>>> = {
  HTTP: {
    STRICT: [mutualTls('HTTP')],
    PERMISSIVE: [mutualTls('HTTP', MTLS_ANY), plaintext('HTTP')],
    DISABLE: [plaintext('HTTP')],
  },
  TCP: {
    STRICT: [mutualTls('TCP')],
    PERMISSIVE: [mutualTls('TCP', MTLS_ANY), WORKLOADS_TLS, plaintext('TCP')],
    DISABLE: [plaintext('TCP')],
  },
};

/**
 * The ways in which connections to a port are taken, in the order of its filter chains.
 * @see istio/istio pilot/pkg/networking/core/filterchain_options.go
 */
export function inboundMatches(protocol: ListenerProtocol, mode: MtlsMode, http10: boolean): readonly InboundMatch[] {
  if (protocol !== 'AUTO') return DECLARED[protocol][mode];
  const plainHttp = plaintext('HTTP', plaintextHttpAlpn(http10));
  switch (mode) {
    case 'STRICT':
      return [mutualTls('HTTP', MTLS_HTTP), mutualTls('TCP')];
    case 'PERMISSIVE':
      return [mutualTls('HTTP', MTLS_HTTP), plainHttp, mutualTls('TCP', MTLS_UNKNOWN), plaintext('TCP'), WORKLOADS_TLS];
    case 'DISABLE':
      return [plainHttp, plaintext('TCP')];
  }
}

/** TLS of the Sidecar's own ends here whatever the client offers. */
export function ownTlsMatches(protocol: ListenerProtocol): readonly InboundMatch[] {
  return [mutualTls(protocol === 'HTTP' ? 'HTTP' : 'TCP')];
}
