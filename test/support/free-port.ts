import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range from which Linux takes ports of outgoing connections, so that one that was free stays free over a restart,
// and beside the fixed ports of the scenarios (26,000 to 26,999).
const LOWEST = 27_000;
const HIGHEST = 32_000;

/** Ports of 127.0.0.1 on which nobody listens, each another one. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
