import { isDeepStrictEqual } from 'node:util';
import type { Zone } from '../../support/dns-server.ts';
import type { Echo, EchoTls } from '../../support/echo-server.ts';
import type { Probe, ProbeAnswer } from '../../support/probe.ts';

/** What becomes of a request. What is not named may be anything. */
export interface Expectation {
  /** Default 200, and 0 for lines of text. */
  readonly status?: number;
  /** Names of servers one of which answers. */
  readonly backend?: string | readonly string[];
  /** What that server sees. */
  readonly path?: string;
  readonly host?: string;
  readonly protocol?: Echo['protocol'];
  readonly from?: string;
  readonly through?: string;
  readonly tls?: Partial<EchoTls> | 'none';
  /** Headers that it sees; undefined: it does not. */
  readonly seen?: Readonly<Record<string, string | undefined>>;
  /** Headers of the answer; undefined: it has none. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** Any answer will do. */
  readonly answered?: true;
  /** There is no answer. */
  readonly closed?: true;
}

export interface Request {
  /** Asked from the machine of the sidecar, or from elsewhere. */
  readonly at: 'machine' | 'world';
  readonly probe: Probe;
  readonly expect: Expectation;
}

/** A sidecar of a conformance case, and requests through it. */
export interface SidecarTraffic {
  /** The beginning of the case's name. */
  readonly case: string;
  readonly proxy: string;
  /** With an SDS server. */
  readonly sds?: true;
  /** Where the workload listens. */
  readonly apps?: readonly string[];
  /** Servers elsewhere that the configuration does not name. */
  readonly strangers?: readonly string[];
  /** Names that the configuration does not name. */
  readonly names?: Zone;
  readonly requests: readonly Request[];
}

/** How an answer differs from what is expected; empty: not at all. */
export function deviations(expect: Expectation, answer: ProbeAnswer | Error, isTcp: boolean): readonly string[] {
  if (answer instanceof Error) return expect.closed ? [] : [`failed: ${answer.message}`];
  if (expect.answered) return [];
  if (expect.closed) return [`answered with ${answer.status} ${answer.body}`];
  const { status = isTcp ? 0 : 200, backend, body, headers = {}, seen = {}, tls, ...saw } = expect;
  const found: string[] = [];
  const compare = (what: string, got: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(got, wanted)) found.push(`${what} ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
  };
  compare('status', answer.status, status);
  for (const [name, value] of Object.entries(headers)) compare(`header ${name}`, answer.headers[name], value);
  if (body !== undefined) compare('body', answer.body, body);
  if (backend === undefined) return found;
  const echo = echoIn(answer.body);
  if (echo === undefined) return [...found, `no answer of a server: ${answer.body}`];
  if (![backend].flat().includes(echo.backend)) compare('server', echo.backend, backend);
  for (const [name, value] of Object.entries(seen)) compare(`seen header ${name}`, echo.headers?.[name], value);
  for (const [name, value] of Object.entries(saw)) compare(`seen ${name}`, echo[name as keyof Echo], value);
  if (tls === 'none') compare('seen TLS', echo.tls, undefined);
  else
    for (const [name, value] of Object.entries(tls ?? {}))
      compare(`TLS ${name}`, echo.tls?.[name as keyof EchoTls], value);
  return found;
}

function echoIn(body: string): Echo | undefined {
  try {
    return JSON.parse(body) as Echo;
  } catch {
    return undefined;
  }
}
