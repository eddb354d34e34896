import type { Probe } from '../../support/probe.ts';
import type { Expectation, Request } from './expectation.ts';

type More = Omit<Probe, 'to' | 'host' | 'path'>;

/** Workloads of the cases' reviews and tcp-echo, in the order of their versions. */
export const REVIEWS: readonly [string, string, string] = ['10.10.2.1:9080', '10.10.2.2:9080', '10.10.2.3:9080'];
export const TCP_ECHO: readonly [string, string] = ['10.10.4.1:9000', '10.10.4.2:9000'];
/** Nobody in the mesh. */
export const STRANGER = '203.0.113.9';

/** @param url a host with an optional path: `reviews:9080/x` */
export function http(to: string, url: string, expect: Expectation, more: More = {}): Request {
  const slash = url.indexOf('/');
  const [host, path] = slash < 0 ? [url, '/'] : [url.slice(0, slash), url.slice(slash)];
  return { at: 'machine', probe: { to, host, path, ...more }, expect: { path, ...expect } };
}

/** As clients of an HTTP proxy ask: with the whole URL. */
export function absolute(to: string, host: string, path: string, expect: Expectation): Request {
  return { at: 'machine', probe: { to, host, path: `http://${host}${path}` }, expect: { path, ...expect } };
}

export function h2(to: string, url: string, expect: Expectation): Request {
  return http(to, url, { protocol: 'h2', ...expect }, { protocol: 'h2' });
}

/** A line of text. */
export function tcp(to: string, expect: Expectation): Request {
  return { at: 'machine', probe: { to, protocol: 'tcp' }, expect: { protocol: 'tcp', ...expect } };
}

/** HTTP within TLS of the client's own, which a sidecar can only pass on. */
export function tls(to: string, servername: string, expect: Expectation): Request {
  return http(to, servername, { tls: { servername }, ...expect }, { tls: { servername } });
}

/** To the service reviews. */
export function reviews(path: string, expect: Expectation, more?: More): Request {
  return http('10.96.1.2:9080', `reviews:9080${path}`, expect, more);
}

/** From another machine: it comes in. */
export function inbound(request: Request): Request {
  return { ...request, at: 'world' };
}
