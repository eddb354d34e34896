/** Whether a text has control characters other than the tab. */
function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}

/** Where the reader stands in a value with commands: `%NAME%`, `%NAME(text)%` or `%NAME(["a", "b"])%`. */
type State = 'text' | 'name' | 'array' | 'comma' | 'quote' | 'string' | 'close' | 'end';

/** What may follow in each state; undefined is a mistake, for which EXPECTED says what was. */
function next(state: State, letter: string): State | undefined {
  const space = letter === ' ';
  switch (state) {
    case 'text':
      return letter === '%' ? 'name' : 'text';
    case 'name':
      return letter === '%' ? 'text' : letter === '(' ? 'array' : 'name';
    case 'array':
      return letter === '[' ? 'quote' : space ? 'array' : 'string';
    case 'comma':
      return letter === ',' ? 'quote' : letter === ']' ? 'close' : space ? 'comma' : undefined;
    case 'quote':
      return letter === '"' ? 'string' : space ? 'quote' : undefined;
    case 'string':
      return letter === ')' ? 'end' : letter === '"' ? 'comma' : 'string';
    case 'close':
      return letter === ')' ? 'end' : space ? 'close' : undefined;
    case 'end':
      return letter === '%' ? 'text' : space ? 'end' : undefined;
  }
}

const EXPECTED: Readonly<Partial<Record<State, string>>> = {
  comma: '"," or "]"',
  quote: 'a text in double quotes',
  close: '")"',
  end: '"%"',
};

/**
 * Why Envoy would refuse a value of a header; undefined when it takes it. Whether a command exists is not asked.
 * @see envoyproxy/envoy source/common/router/header_parser.cc
 */
export function headerValueProblem(value: string): string | undefined {
  if (hasControls(value)) return 'the value has control characters';
  let state: State = 'text';
  for (let i = 0; i < value.length; i++) {
    const letter = value.charAt(i);
    const escaped = (state === 'text' && value.startsWith('%%', i)) || (state === 'string' && letter === '\\');
    if (escaped) {
      if (i + 1 === value.length) return `"${value}" ends with a backslash`;
      i++;
      continue;
    }
    const following = next(state, letter);
    if (following === undefined) return `"${value}" has "${letter}" where ${EXPECTED[state]} was expected`;
    state = following;
  }
  return state === 'text' ? undefined : `"${value}" has a "%" without its end: write "%%" for a percent sign`;
}
