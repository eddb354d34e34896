/** What `Resident` starts in a namespace. */
import { dnsServer } from './dns-server.ts';
import { echoServer } from './echo-server.ts';
import { probe } from './probe.ts';
import type { Done, Errand, Order } from './resident.ts';

async function done(errand: Errand): Promise<unknown> {
  switch (errand.do) {
    case 'listen':
      await echoServer(errand.echo);
      return undefined;
    case 'answer-names':
      await dnsServer(errand.address, errand.zone);
      return undefined;
    case 'probe':
      return await probe(errand.probe);
  }
}

process.on('message', ({ id, errand }: Order) => {
  const reply = (message: Done): void => void process.send?.(message);
  done(errand).then(
    (result) => reply({ id, result }),
    (error: unknown) => reply({ id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit());
