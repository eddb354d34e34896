import type { Status } from '../proto/discovery.ts';
import type { Protocol, TypeState } from './protocol.ts';
import type { Nack } from './provider.ts';
import { namedIn } from './refusals.ts';
import { resourceIn } from './snapshot.ts';

const MAX_MESSAGE = 4_096;

/**
 * Remembers that the client refuses the newest response of a type.
 * @returns what is withheld because of it
 */
export function refusalOf(protocol: Pick<Protocol, 'suspects'>, state: TypeState, error: Status): Nack {
  const { holdings, exchange } = state;
  const { nonce, content } = exchange;
  const message = error.message.slice(0, MAX_MESSAGE).toWellFormed();
  // What is in the response and not in the set (placeholders, what lingers) cannot change: it would end the refusal at once.
  const suspects = protocol
    .suspects(state, content)
    .filter(({ name, version }) => resourceIn(holdings.base, name)?.version === version);
  const culprits = namedIn(message, suspects);
  const withheld = culprits.length > 0 ? culprits : suspects;
  const names = new Set(withheld.map(({ name }) => name));
  const others = suspects.map(({ name }) => name).filter((name) => !names.has(name));
  holdings.refusals.add(withheld, [...others, ...content.removed]);
  return {
    nonce,
    code: error.code,
    message,
    resources: withheld.map(({ name, version }) => ({ name, version })),
    named: culprits.length > 0,
  };
}
