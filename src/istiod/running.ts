import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { EXIT, StartError } from '../process/failure.ts';
import { STATE_DIRECTORY } from './state.ts';

/** How long a running istiod may take to answer. Milliseconds. */
const ANSWER_WITHIN = 10_000;

/** The istiod that runs in a working directory. */
export interface RunningIstiod {
  /** By option of `listen`. */
  readonly addresses: Readonly<Record<string, string>>;
  /** @throws StartError when it does not answer with 200 */
  get<T>(path: string): Promise<T>;
}

/** Undefined when none runs there, or when it answers no HTTP. @throws StartError when that is not for this user to know */
export function runningIstiod(root: string): RunningIstiod | undefined {
  const addresses = addressesIn(join(root, STATE_DIRECTORY, 'run/listen.json'));
  const address = addresses?.['http'] ?? addresses?.['monitoring'];
  if (addresses === undefined || address === undefined) return undefined;
  // On all addresses it is on this one, too.
  const reachable = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  return { addresses, get: async <T>(path: string) => JSON.parse(await answered(`http://${reachable}${path}`)) as T };
}

function addressesIn(file: string): Readonly<Record<string, string>> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return undefined;
    const who = 'ask as root, or as the user that istiod runs as';
    throw new StartError(EXIT.unavailable, `${file} can not be read, permission denied: ${who}`, { cause: error });
  }
}

function answered(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: Error): void =>
      reject(new StartError(EXIT.unavailable, `the running istiod does not answer at ${url}: ${why}`, { cause }));
    const asked = request(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN) }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('error', (error) => fail(error.message, error));
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : fail(body.trim())));
    });
    asked.on('error', (error) => fail(error.message, error));
    asked.end();
  });
}
