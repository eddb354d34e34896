import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../src/base/json.ts';
import type { Variant } from '../../src/xds/events.ts';
import { AdsStream, type Received } from '../support/ads-stream.ts';
import { waitFor } from '../support/wait.ts';
import { milliseconds } from './scenario.ts';
import { typeUrlOf } from './types.ts';

/** Time in which an answer that must not come would come, where a script does not say how long to wait. */
const SILENCE_MS = 1_000;

type Reaction = (received: Received) => void;

/** A stream that does what a script says, in words, and nothing else. Responses wait for an answer until a script gives one. */
export class ScriptedStream {
  readonly #stream: AdsStream;
  readonly #node: JsonObject;
  readonly #log: Received[] = [];
  #mark = 0;
  #reaction: Reaction | undefined;

  constructor(address: string, variant: Variant, node: JsonObject) {
    this.#node = node;
    this.#stream = new AdsStream(address, variant, (received) => {
      this.#log.push(received);
      this.#reaction?.(received);
    });
  }

  get isOpen(): boolean {
    return this.#stream.status === undefined;
  }

  /** A step begins: what comes from now on belongs to it. */
  mark(): void {
    this.#mark = this.#log.length;
  }

  /**
   * Does what the lines say.
   *
   * @param since whether responses since the step began count, or since the script did
   * @param withinMs longest wait for a response that is expected
   * @returns the responses that came meanwhile
   * @throws Error when a line is not understood, or what it expects does not come
   */
  async run(script: readonly string[], withinMs: number): Promise<readonly Received[]> {
    const expects = script.some((line) => line.startsWith('expect'));
    const from = expects ? this.#mark : this.#log.length;
    // What is to be done with responses is known before the first one is asked for.
    for (const line of script) this.#prepare(line);
    for (const line of script) await this.#perform(line, from, withinMs);
    this.#reaction = undefined;
    return this.#log.slice(from);
  }

  close(): void {
    this.#stream.close();
  }

  #prepare(line: string): void {
    const nack = /^on response: NACK code (\d+) message (.+)$/.exec(line);
    if (nack !== null) {
      const errorDetail = { code: Number(nack[1]), message: nack[2] ?? '' };
      this.#reaction = (received) => this.#answer(received, errorDetail);
    } else if (line === 'on response: ACK') this.#reaction = (received) => this.#answer(received);
  }

  async #perform(line: string, from: number, withinMs: number): Promise<void> {
    const [, subscribed] = /^subscribe (\w+)$/.exec(line) ?? [];
    const [, expected] = /^expect (\w+) response$/.exec(line) ?? [];
    const [, wait] = /^wait (\S+)$/.exec(line) ?? [];
    if (line.startsWith('on response:')) return;
    if (subscribed !== undefined) this.#subscribe(typeUrlOf(subscribed), '');
    else if (wait !== undefined) await delay(milliseconds(wait));
    else if (expected !== undefined) {
      const typeUrl = typeUrlOf(expected);
      const came = () => this.#log.slice(from).some((received) => received.typeUrl === typeUrl);
      await waitFor(came, { what: `${expected} response`, withinMs });
    } else if (line === 'ACK it') {
      const last = this.#log.at(-1);
      if (last === undefined) throw new Error('there is no response to acknowledge');
      this.#answer(last);
    } else if (line === 'send request with an unknown nonce') {
      this.#subscribe(this.#log.at(-1)?.typeUrl ?? typeUrlOf('CDS'), 'a nonce that nobody gave');
      await delay(SILENCE_MS);
    } else throw new Error(`a script says "${line}", which is not understood`);
  }

  #subscribe(typeUrl: string, responseNonce: string): void {
    const request = { node: this.#node, typeUrl, responseNonce };
    if (this.#stream.variant === 'sotw') this.#stream.sotw(request);
    else this.#stream.delta(request);
  }

  #answer(received: Received, errorDetail?: { readonly code: number; readonly message: string }): void {
    const { typeUrl, nonce: responseNonce, version } = received;
    const detail = errorDetail === undefined ? {} : { errorDetail };
    if (this.#stream.variant === 'delta') this.#stream.delta({ typeUrl, responseNonce, ...detail });
    else {
      // A client that refuses names the version that it took last; a scripted one has taken none before its first ACK.
      const versionInfo = errorDetail === undefined ? version : '';
      this.#stream.sotw({ typeUrl, responseNonce, versionInfo, ...detail });
    }
  }
}
