import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

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
  answer(query: URLSearchParams): Answer | Promise<Answer>;
}

export function json(value: unknown, status = 200): Answer {
  return { status, type: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` };
}

export function text(body: string, status = 200): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: body.endsWith('\n') ? body : `${body}\n` };
}

/** Answers GET and HEAD by exact path; `/` lists what there is. */
export function requestListener(routes: readonly Route[]): RequestListener {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const index = text(routes.map(({ path, doc }) => `${path.padEnd(28)} ${doc}`).join('\n'));
  return (request, response) => {
    void respond(request, response, byPath, index);
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, Route>,
  index: Answer,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://localhost');
  const answer =
    url === null ? text('the path is none', 400) : await answerOf(request.method ?? '', url, routes, index);
  response.writeHead(answer.status ?? 200, {
    'content-type': answer.type ?? 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

async function answerOf(method: string, url: URL, routes: ReadonlyMap<string, Route>, index: Answer): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return text('only GET and HEAD are answered here', 405);
  if (url.pathname === '/') return index;
  const route = routes.get(url.pathname);
  if (route === undefined) return text(`nothing is at ${url.pathname}; / lists what there is`, 404);
  try {
    return await route.answer(url.searchParams);
  } catch (error) {
    return text(`${url.pathname} failed: ${error instanceof Error ? error.message : String(error)}`, 500);
  }
}
