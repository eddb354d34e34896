import { dnsQuery, type QueryType } from '../../support/dns-client.ts';
import { object } from '../../support/json-fields.ts';
import { text, texts } from '../fields.ts';
import { firstOf, type Look } from './check-kind.ts';

/** What the agent of a node answers to one question. */
export const dns: Look = async ({ agent, query, assert }, world) => {
  const { name, type, proto } = object(query);
  const asked = { name: text(name), type: text(type) as QueryType, protocol: proto === 'tcp' ? 'tcp' : 'udp' } as const;
  const before = world.nameServer.questions.length;
  const { rcode, addresses } = await dnsQuery(world.agent(text(agent)).dns, asked);
  const forwarded = world.nameServer.questions
    .slice(before)
    .some((one) => one.name === asked.name && one.protocol === asked.protocol);
  const { answers, rcode: wanted, rcode_not: unwanted, forwarded_upstream: upstream } = assert;
  const found = addresses.toSorted().join();
  return firstOf([
    answers !== undefined && found !== texts(answers).toSorted().join() ? `answers are [${found}]` : undefined,
    wanted !== undefined && rcode !== wanted ? `the code is ${rcode}` : undefined,
    unwanted !== undefined && rcode === unwanted ? `the code is ${rcode}` : undefined,
    upstream !== undefined && forwarded !== upstream
      ? `it was ${forwarded ? '' : 'not '}sent to the name server`
      : undefined,
  ]);
};
