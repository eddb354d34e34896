import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIpAddress } from '../base/address.ts';

/** An answer to a GET. */
export interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

export interface Route {
  /** Exact path. */
  readonly path: string;
  readonly doc: string;
  /** Answered whatever name the server is asked by, as it tells nothing about the mesh. Default: false. */
  readonly anyHost?: boolean;
  answer(query: URLSearchParams): Answer | Promise<Answer>;
}

export function json(value: unknown, status = 200): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` };
}

export function text(body: string, status = 200): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: body.endsWith('\n') ? body : `${body}\n` };
}

/**
 * Answers GET and HEAD by exact path; `/` lists what there is.
 *
 * A page that a browser has from elsewhere may not read the answers: there is no CORS, and a request by a name that is not
 * `localhost` (DNS rebinding) is refused, but for routes with `anyHost`.
 *
 * @param onError told of what a route threw
 */
export function requestListener(routes: readonly Route[], onError: (error: unknown) => void): RequestListener {
  const index = text(routes.map(({ path, doc }) => `${path.padEnd(28)} ${doc}`).join('\n'));
  const all: readonly Route[] = [{ path: '/', doc: 'what there is', anyHost: true, answer: () => index }, ...routes];
  const byPath = new Map(all.map((route) => [route.path, route]));
  return (request, response) => {
    answerOf(request, byPath)
      .catch((error: unknown) => {
        onError(error);
        return text('the server made a mistake; its log says more', 500);
      })
      .then((answer) => send(request, response, answer), onError);
  };
}

function send({ method }: IncomingMessage, response: ServerResponse, { status = 200, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

async function answerOf(request: IncomingMessage, routes: ReadonlyMap<string, Route>): Promise<Answer> {
  const { method, url: target = '' } = request;
  if (method !== 'GET' && method !== 'HEAD') return text('only GET and HEAD are answered here', 405);
  const host = request.headers.host ?? '';
  const url = URL.parse(target.startsWith('/') ? `http://${host || 'localhost'}${target}` : target);
  if (url === null) return text('the request names no path', 400);
  const route = routes.get(url.pathname);
  if (route === undefined) return text(`nothing is at ${url.pathname}; / lists what there is`, 404);
  if (route.anyHost !== true && !isLocalName(url.hostname))
    return text(`${url.pathname} is not answered by the name ${url.hostname}: ask by IP address, or by localhost`, 403);
  return await route.answer(url.searchParams);
}

/** Whether a name can not be one that somebody else's DNS leads here. */
function isLocalName(hostname: string): boolean {
  const isBracketed = hostname.startsWith('[') && hostname.endsWith(']');
  const name = isBracketed ? hostname.slice(1, -1) : hostname;
  return isIpAddress(name) || name === 'localhost' || name.endsWith('.localhost');
}
