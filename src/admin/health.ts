import { json, type Route, text } from './http.ts';

/** What a control plane is doing. `ready`: all sources were read, and proxies are answered. */
export type Phase = 'starting' | 'ready' | 'stopping';

/** Whether the server can be used, and what it is. */
export function healthRoutes(version: string, phase: () => Phase): readonly Route[] {
  return [
    {
      path: '/ready',
      doc: '200 when all sources were read and proxies are answered, else 503',
      anyHost: true,
      answer: () => {
        const now = phase();
        return now === 'ready' ? text('ready') : text(WHY_NOT[now], 503);
      },
    },
    { path: '/version', doc: 'the version', anyHost: true, answer: () => json({ version }) },
  ];
}

const WHY_NOT = { starting: 'starting: sources are being read', stopping: 'stopping: streams are ended' } as const;

/** The same routes, answered with 503 until everything was read. */
export function whenReady(routes: readonly Route[], phase: () => Phase): readonly Route[] {
  return routes.map((route) => ({
    ...route,
    answer: (query) => (phase() === 'starting' ? text(WHY_NOT.starting, 503) : route.answer(query)),
  }));
}
