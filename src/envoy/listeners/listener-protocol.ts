import { isHttp, isTcp, type Protocol } from '../../model/protocol.ts';

/** How a port is served: as HTTP, as TCP, or as what the proxy finds the connection to be. */
export type ListenerProtocol = 'HTTP' | 'TCP' | 'AUTO';

/** @returns undefined for protocols that have no listener: UDP */
export function listenerProtocol(protocol: Protocol): ListenerProtocol | undefined {
  if (isHttp(protocol)) return 'HTTP';
  if (isTcp(protocol)) return 'TCP';
  return protocol === 'UDP' ? undefined : 'AUTO';
}

/** What a connection speaks once its TLS is taken off. */
export function protocolInsideTls(protocol: Protocol): Protocol {
  return protocol === 'HTTPS' ? 'HTTP' : protocol === 'TLS' ? 'TCP' : protocol;
}

/** ALPN values that the HTTP inspector gives to plaintext connections. HTTP/1.0 passes as TCP unless it is accepted. */
export function plaintextHttpAlpn(http10: boolean): readonly string[] {
  return [...(http10 ? ['http/1.0'] : []), 'http/1.1', 'h2c'];
}
