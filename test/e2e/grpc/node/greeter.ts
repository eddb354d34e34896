/**
 * A client of gRPC that xDS configures, by @grpc/grpc-js-xds: `greeter.ts client TARGET` reads a line of JSON
 * `{"calls": 3, "headers": {"x": "1"}}` and writes one with the replies. What a call fails with is a reply, too:
 * `!PermissionDenied`.
 */
import { createInterface } from 'node:readline';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { register, XdsChannelCredentials } from '@grpc/grpc-js-xds';

const PATIENCE_MS = 20_000;

interface Order {
  readonly calls: number;
  readonly headers?: Readonly<Record<string, string>>;
}

register();
const [, , role, target = ''] = process.argv;
if (role !== 'client') throw new Error('usage: greeter.ts client TARGET');
const client = new Client(target, new XdsChannelCredentials(credentials.createInsecure()));
const same = (message: Buffer): Buffer => message;

function call(headers: Order['headers'] = {}): Promise<string> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const options = { deadline: Date.now() + PATIENCE_MS };
  return new Promise((resolve) => {
    client.makeUnaryRequest('/test.Greeter/Name', same, same, Buffer.alloc(0), metadata, options, (error, reply) =>
      resolve(reply === undefined ? failure(error) : reply.toString('utf8')),
    );
  });
}

function failure(error: ServiceError | null): string {
  console.error(error?.message);
  const name = status[error?.code ?? status.UNKNOWN] ?? '';
  return `!${name.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase())}`;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { calls, headers } = JSON.parse(line) as Order;
  const replies: string[] = [];
  for (let i = 0; i < calls; i++) replies.push(await call(headers));
  console.log(JSON.stringify({ replies }));
}
