import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import { serverOptions } from '../../src/xds/limits.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { collectGarbage } from '../support/garbage.ts';

/** What the server's process says of itself. */
export interface Report {
  readonly port: number;
  /** After a collection of garbage. */
  readonly residentBytes: number;
  readonly openStreams: number;
  /** Errors that were none of the client's making, and promises that nobody watched. */
  readonly errors: readonly string[];
}

// A process of its own, so that its memory is that of the server: it reports when it is sent a message.
const errors: string[] = [];
process.on('unhandledRejection', (error) => errors.push(String(error)));
const provider = new FakeProvider({ [CLUSTER_TYPE]: { a: '1' }, [ENDPOINT_TYPE]: { a: '1', b: '1' } });
const discovery = new DiscoveryServer({
  provider,
  directWrites: process.argv[2] === 'direct',
  events: { onError: (error) => errors.push(String(error)) },
});
const server = new Server(serverOptions());
discovery.register(server);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  const report = (): void => {
    provider.sessions.length = 0;
    collectGarbage();
    const residentBytes = process.memoryUsage.rss();
    process.send?.({ port, residentBytes, openStreams: discovery.streams().length, errors } satisfies Report);
  };
  process.on('message', report);
  process.on('disconnect', () => process.exit());
  report();
});
