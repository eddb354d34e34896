/** Codes of findings that stand for what a scenario calls so. */
export const CODES: Readonly<Record<string, readonly string[]>> = {
  'conflicting-virtualservice-host': ['IST0109'],
  'duplicate-resource': ['VM0201'],
  'subset-not-found': ['IST0101'],
};

/** @throws Error when nobody has said what the word means */
export function codesFor(word: string): readonly string[] {
  const codes = CODES[word];
  if (codes === undefined) throw new Error(`"${word}" is in no line of test/scenarios/codes.ts`);
  return codes;
}
