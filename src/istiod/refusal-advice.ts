/** What Envoy says when it refuses what is right by itself, and what its user can do. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /unable to open file '\/dev\/std(?:out|err)'/i,
    'its output is a socket, as under systemd, which can not be opened by name: start it with StandardOutput=append:FILE, or name a file as accessLogFile',
  ],
  [/unable to open file '/i, 'name a file in a directory that is there on its machine, and that its user may write to'],
  [
    /Didn't find a registered implementation for|could not find @type/i,
    'this Envoy was built without the extension: use a build that has it, or leave out what needs it',
  ],
  [
    /Proto constraint validation failed|has unknown fields/i,
    'this version of Envoy does not know the field: use a newer one',
  ],
];

/** What to do about a refusal; undefined when that is not known from the proxy's words. */
export function refusalAdvice(message: string): string | undefined {
  return ADVICE.find(([words]) => words.test(message))?.[1];
}
