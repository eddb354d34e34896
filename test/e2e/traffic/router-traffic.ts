import { basename } from 'node:path';
import { type CorpusCase, isRouter } from '../../parity/case-files.ts';
import type { TestAuthority } from '../../support/certificates.ts';
import { ServedCase } from '../acceptance.ts';
import { gatewayRequests } from './gateway-requests.ts';
import { trafficFailures } from './send.ts';

/** What became of the requests through one router. */
export interface RouterTraffic {
  /** Its name, and whether its node has an SDS server. */
  readonly router: string;
  readonly sds: boolean;
  readonly requests: number;
  /** A line for each that was not answered as it should be. */
  readonly failures: readonly string[];
}

/** Sends a request through each filter chain of a case's routers, without an SDS server and with one. */
export async function* routerTraffic(
  directory: string,
  corpusCase: CorpusCase,
  authority: TestAuthority,
): AsyncGenerator<RouterTraffic> {
  const routers = corpusCase.proxies.filter(isRouter);
  if (routers.length === 0) return;
  await using served = await ServedCase.start(corpusCase, authority);
  for (const router of routers) {
    for (const sds of [false, true]) {
      const requests = gatewayRequests(corpusCase, router, authority, sds);
      const traffic = { case: basename(directory), proxy: router.name, ...(sds ? { sds } : {}), requests } as const;
      const failures = await trafficFailures(traffic, corpusCase, served, authority);
      yield { router: router.name, sds, requests: requests.length, failures };
    }
  }
}
