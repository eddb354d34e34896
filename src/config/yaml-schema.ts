/** A number that JSON does not have: infinity, or no number at all. */
export const NOT_FINITE: unique symbol = Symbol('not finite');

type Word = null | boolean | typeof NOT_FINITE;

const WORDS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['.inf', '.Inf', '.INF'].flatMap((word) => ['', '+', '-'].map((sign) => [sign + word, NOT_FINITE] as const)),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, NOT_FINITE] as const),
]);

const LONGEST_WORD = 5;
/** A number with more digits has no type that could hold it, and stays text. */
const MOST_DIGITS = 40;
const DECIMAL = /^[-+]?(?:0|[1-9][0-9]*)$/;
const RADIX = /^([-+]?)0(?:([bB])([01]+)|[oO]?([0-7]+)|([xX])([0-9a-fA-F]+))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** As Go reads a number that begins with a point: digits may be parted by single underscores. */
const POINT_FLOAT = /^\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?$/;

/**
 * What a plain scalar without a tag means in Kubernetes: words of YAML 1.1 are booleans, a leading 0 is octal, underscores
 * part digits; dates and times of day stay text.
 *
 * @returns null, a boolean, a number, a bigint for whole numbers beyond 2^53, `NOT_FINITE`, or the text itself
 * @see sigs.k8s.io/yaml, go.yaml.in/yaml/v2 resolve.go
 */
export function plainValue(text: string): null | boolean | number | bigint | string | typeof NOT_FINITE {
  if (text.length <= LONGEST_WORD) {
    const word = WORDS.get(text);
    if (word !== undefined) return word;
  }
  const first = text.charCodeAt(0);
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  return isNumeric ? (numberOf(text, first === 0x2e) ?? text) : text;
}

function numberOf(text: string, point: boolean): number | bigint | undefined {
  if (point) return text.length <= MOST_DIGITS && POINT_FLOAT.test(text) ? finite(text.replaceAll('_', '')) : undefined;
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  if (digits.length > MOST_DIGITS) return undefined;
  if (DECIMAL.test(digits)) return whole(digits);
  const radix = RADIX.exec(digits);
  if (radix !== null) {
    const [, sign, , binary, octal, , hex] = radix;
    const value =
      binary !== undefined
        ? BigInt(`0b${binary}`)
        : octal !== undefined
          ? BigInt(`0o${octal}`)
          : BigInt(`0x${hex as string}`);
    return narrowed(sign === '-' ? -value : value);
  }
  return FLOAT.test(digits) ? finite(digits) : undefined;
}

function whole(digits: string): number | bigint {
  const value = Number(digits);
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  return BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
}

function narrowed(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function finite(text: string): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The key of a JSON object that a key of YAML becomes; undefined for null and what is no scalar. */
export function keyText(key: unknown): string | undefined {
  if (typeof key === 'string') return key;
  return typeof key === 'boolean' || typeof key === 'number' || typeof key === 'bigint' ? String(key) : undefined;
}

/** What `!!` stands for. */
export const CORE_TAGS = 'tag:yaml.org,2002:';

/** Tags of scalars that say what a plain scalar would be; `binary` is base64 of text. */
const SCALAR_TAGS: ReadonlyMap<string, string> = new Map([
  ['int', 'a whole number'],
  ['float', 'a number'],
  ['bool', 'a boolean'],
  ['null', 'null'],
  ['timestamp', 'a time'],
]);

/** What a tag makes of a scalar. */
export interface TaggedValue {
  readonly value: unknown;
  /** The tag says another type than the text has. */
  readonly mismatch?: string;
  /** The tag is not known and has no effect. */
  readonly unknown?: boolean;
}

/** The value of a scalar that has a tag, given in full (`tag:yaml.org,2002:int`) or as it is local (`!x`). */
export function taggedValue(tag: string, text: string, plain: boolean): TaggedValue {
  if (tag === '!' || tag === `${CORE_TAGS}str`) return { value: text };
  if (tag === `${CORE_TAGS}binary`) return { value: Buffer.from(text, 'base64').toString('utf8') };
  const name = tag.startsWith(CORE_TAGS) ? tag.slice(CORE_TAGS.length) : '';
  const expected = SCALAR_TAGS.get(name);
  if (expected === undefined) return { value: plain ? plainValue(text) : text, unknown: true };
  if (name === 'timestamp') return { value: text };
  const value = plainValue(text);
  const fits =
    (name === 'null' && value === null) ||
    (name === 'bool' && typeof value === 'boolean') ||
    (name === 'float' && (typeof value === 'number' || typeof value === 'bigint')) ||
    (name === 'int' && (typeof value === 'bigint' || Number.isInteger(value)));
  return fits ? { value } : { value, mismatch: expected };
}
