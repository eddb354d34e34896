import { request } from 'node:http';

/** An answer over HTTP. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** How long an answer may take. Milliseconds. */
const WITHIN = 5000;

/** Asks the admin interface of the Envoy of this machine. @throws Error when it does not answer */
export function askEnvoy(port: number, method: 'GET' | 'POST', path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, timeout: WITHIN }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }),
      );
    });
    asked.on('timeout', () => asked.destroy(new Error('it does not answer in time')));
    asked.on('error', reject);
    asked.end();
  });
}
