import { canonicalJson } from '../base/intern.ts';
import { type JsonObject, parsedObject } from '../base/json.ts';
import type { KeySet, KeySetId, KeySetSource, WantedKeySet } from '../config/key-sets.ts';
import type { Clock } from '../xds/limits.ts';
import { FetchError, type FetchLimits, fetchText } from './fetch-text.ts';
import type { KeySetFile, StoredKeySet } from './key-set-file.ts';
import type { SourceLog } from './source.ts';

export interface JwksSourceOptions {
  readonly clock: Clock;
  readonly log: SourceLog;
  /** After how long keys are fetched again. Milliseconds. `PILOT_JWT_PUB_KEY_REFRESH_INTERVAL`. */
  readonly refreshMs: number;
  /** Addresses that are not asked. `BLOCKED_CIDRS_IN_JWKS_URIS`. */
  readonly blocked: readonly string[];
  /** Where keys outlive the process. */
  readonly storage: KeySetStorage;
  /** Any certificate will do. `JWKS_RESOLVER_INSECURE_SKIP_VERIFY`. */
  readonly insecure: boolean;
}

export type KeySetStorage = Pick<KeySetFile, 'load' | 'save'>;

const MAX_BYTES = 1024 * 1024;
const FIRST_RETRY_MS = 1000;
/** While there are no keys, so that tokens are accepted soon after the server of keys is there. */
const LAST_RETRY_MS = 3000;
/** While there are. */
const LAST_REFRESH_RETRY_MS = 60_000;
/** For so long keys are used that can not be fetched again. @see istio/istio jwks_resolver.go `JwtPubKeyEvictionDuration` */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** @see OpenID Connect Discovery 1.0 section 4 */
const DESCRIPTION = '/.well-known/openid-configuration';

function parsed(text: string): JsonObject {
  const value = parsedObject(text);
  if (value === undefined) throw new FetchError('answers with something that is no object in JSON');
  return value;
}

/** @throws FetchError unless the text is a set of keys, so that no other document gets to proxies, where others can read it */
function checkedKeys(text: string): string {
  if (!Array.isArray(parsed(text)['keys'])) throw new FetchError('answers with something that is no set of keys');
  return text;
}

/** The same keys, in any order and form. */
function sameKeys(a: string, b: string): boolean {
  const keysIn = (text: string) => (parsed(text)['keys'] as readonly unknown[]).map(canonicalJson).sort();
  return a === b || canonicalJson(keysIn(a)) === canonicalJson(keysIn(b));
}

/** One set while it is wanted. */
interface Followed {
  wanted: WantedKeySet;
  readonly stop: AbortController;
  /** Resolves when it was asked for once. */
  readonly tried: Promise<void>;
  isTried: boolean;
  known: KeySet;
  /** Milliseconds since 1970; 0: never. */
  fetchedAt: number;
  failures: number;
  /** When it was asked for last, in the clock's milliseconds. */
  triedAt: number;
  cancel: () => void;
}

/**
 * Fetches sets of keys: at once when they are wanted, again after some time, and after seconds where there are none. What was
 * fetched last is kept while the server can not be reached.
 */
export class JwksSource implements KeySetSource {
  readonly #options: JwksSourceOptions;
  readonly #followed = new Map<KeySetId, Followed>();
  /** Of the process before this one. */
  readonly #stored: ReadonlyMap<KeySetId, StoredKeySet>;
  #tell: (id: KeySetId, set: KeySet | undefined) => void = () => undefined;

  constructor(options: JwksSourceOptions) {
    this.#options = options;
    this.#stored = options.storage.load();
  }

  want(wanted: readonly WantedKeySet[], tell: (id: KeySetId, set: KeySet | undefined) => void): void {
    this.#tell = tell;
    const now = new Map(wanted.map((set) => [set.id, set]));
    for (const [id, followed] of this.#followed) {
      const set = now.get(id);
      if (set === undefined) this.#leave(id, followed);
      else if (set.timeoutMs !== followed.wanted.timeoutMs) followed.wanted = set;
    }
    for (const [id, set] of now) if (!this.#followed.has(id)) this.#follow(set);
  }

  ask(soon: readonly WantedKeySet[]): Promise<void> | undefined {
    for (const set of soon) if (!this.#followed.has(set.id)) this.#follow(set);
    const asked = soon.flatMap(({ id }) => this.#followed.get(id) ?? []).filter(({ isTried }) => !isTried);
    return asked.length === 0 ? undefined : Promise.all(asked.map(({ tried }) => tried)).then(() => undefined);
  }

  /** Resolves when each set that is wanted now was asked for once, or after `ms` milliseconds. */
  async tried(ms: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(ms, late.resolve);
    await Promise.race([Promise.all([...this.#followed.values()].map(({ tried }) => tried)), late.promise]);
    cancel();
  }

  /**
   * Fetches a wanted set again: a token has a key that is not in it.
   * @param ms nothing is done when that was done so few milliseconds ago
   */
  async refresh(id: KeySetId, ms: number): Promise<void> {
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    if (!followed.isTried) await followed.tried;
    if (this.#options.clock.now() - followed.triedAt < ms) return;
    followed.cancel();
    await this.#attempt(followed);
  }

  #leave(id: KeySetId, followed: Followed): void {
    followed.stop.abort();
    followed.cancel();
    this.#followed.delete(id);
    this.#tell(id, undefined);
  }

  #follow(wanted: WantedKeySet): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const stored = this.#stored.get(wanted.id);
    const isUsed = stored !== undefined && !this.#isOld(stored.fetchedAt);
    const followed: Followed = {
      wanted,
      stop,
      tried: isUsed ? Promise.resolve() : promise,
      isTried: isUsed,
      known: isUsed ? { keys: stored.keys } : {},
      fetchedAt: isUsed ? stored.fetchedAt : 0,
      failures: 0,
      triedAt: this.#options.clock.now(),
      cancel: () => undefined,
    };
    this.#followed.set(wanted.id, followed);
    if (isUsed) this.#tell(wanted.id, followed.known);
    void this.#attempt(followed).then(() => {
      followed.isTried = true;
      resolve();
    });
  }

  async #attempt(followed: Followed): Promise<void> {
    const { wanted, stop, known } = followed;
    const { clock, refreshMs } = this.#options;
    followed.triedAt = clock.now();
    const fetched = await this.#fetch(wanted, stop.signal).then(
      (keys): KeySet => ({ keys }),
      (error: Error): KeySet => ({ problem: error.message }),
    );
    if (stop.signal.aborted) return;
    if (fetched.keys !== undefined) {
      followed.failures = 0;
      followed.fetchedAt = clock.date();
      const isSame = known.keys !== undefined && sameKeys(known.keys, fetched.keys);
      this.#learn(followed, isSame ? { keys: known.keys } : fetched);
      this.#store();
      this.#later(followed, refreshMs);
      return;
    }
    const kept = known.keys !== undefined && !this.#isOld(followed.fetchedAt) ? { keys: known.keys } : {};
    this.#learn(followed, { ...kept, ...fetched });
    const most = kept.keys === undefined ? LAST_RETRY_MS : Math.min(LAST_REFRESH_RETRY_MS, refreshMs);
    this.#later(followed, Math.min(FIRST_RETRY_MS * 2 ** followed.failures++, most));
  }

  #isOld(fetchedAt: number): boolean {
    return this.#options.clock.date() - fetchedAt > KEPT_MS;
  }

  #store(): void {
    this.#options.storage.save(
      () =>
        new Map(
          [...this.#followed].flatMap(
            ([
              id,
              {
                known: { keys },
                fetchedAt,
              },
            ]) => (keys === undefined ? [] : [[id, { keys, fetchedAt }] as const]),
          ),
        ),
    );
  }

  #later(followed: Followed, ms: number): void {
    followed.cancel = this.#options.clock.after(ms, () => void this.#attempt(followed));
  }

  #learn(followed: Followed, known: KeySet): void {
    const before = followed.known;
    followed.known = known;
    if (before.keys === known.keys && before.problem === known.problem) return;
    const { log } = this.#options;
    if (before.problem !== undefined && known.problem === undefined) log.info(`${followed.wanted.url}: has keys again`);
    this.#tell(followed.wanted.id, known);
  }

  /** @throws FetchError whose message begins with the URL that was asked */
  async #fetch({ url, isIssuer, timeoutMs }: WantedKeySet, stop: AbortSignal): Promise<string> {
    const { blocked, insecure } = this.#options;
    const limits: FetchLimits = { timeoutMs, maxBytes: MAX_BYTES, blocked, insecure };
    const read = async <T>(asked: string, of: (text: string) => T, from?: string): Promise<T> => {
      try {
        return of(await fetchText(asked, { ...limits, ...(from === undefined ? {} : { from }) }, stop));
      } catch (error) {
        throw new FetchError(`${asked} ${(error as Error).message}`, { cause: error });
      }
    };
    if (!isIssuer) return await read(url, checkedKeys);
    const description = `${url.replace(/\/$/, '')}${DESCRIPTION}`;
    const uri = await read(description, (text) => parsed(text)['jwks_uri']);
    if (typeof uri !== 'string') throw new FetchError(`${description} names no jwks_uri`);
    return await read(uri, checkedKeys, description);
  }
}
