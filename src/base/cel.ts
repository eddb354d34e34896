/** What stands in an expression of the Common Expression Language, as far as its syntax says. */
export interface CelExpression {
  /** The first thing that is no CEL; undefined: the syntax is right. */
  readonly problem?: CelProblem;
  /** Names of functions and macros that it calls, in the order in which they come. */
  readonly calls: readonly string[];
  /** It makes messages. */
  readonly makesMessages: boolean;
}

export interface CelProblem {
  /** From 1, in characters of the text. */
  readonly column: number;
  readonly message: string;
}

type Kind = 'number' | 'string' | 'name' | 'sign' | 'end';

interface Token {
  readonly kind: Kind;
  readonly text: string;
  readonly at: number;
}

const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?\x60]|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-3][0-7]{2})`;

/** Strings of every form, the longer quotes first; a raw one has no escapes. */
const STRING = [
  `[bB]?[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')`,
  `[bB]?"""(?:[^\\\\]|${ESCAPE})*?"""`,
  `[bB]?'''(?:[^\\\\]|${ESCAPE})*?'''`,
  `[bB]?"(?:[^"\\\\\\n\\r]|${ESCAPE})*"`,
  `[bB]?'(?:[^'\\\\\\n\\r]|${ESCAPE})*'`,
].join('|');
const NUMBER = String.raw`0x[\da-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?`;

const TOKEN: readonly (readonly [Kind | 'space', RegExp])[] = [
  ['space', /(?:[\s]|\/\/[^\n]*)+/y],
  ['string', new RegExp(STRING, 'y')],
  ['number', new RegExp(NUMBER, 'y')],
  ['name', /[A-Za-z_]\w*/y],
  ['sign', /&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}]/y],
];

/** Words that are no names; those of the language itself stand for values. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package'],
  ...['namespace', 'return', 'var', 'void', 'while', 'in'],
]);
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** Operators with two sides, those that bind weakest first. */
const BINARY: readonly ReadonlySet<string>[] = [
  new Set(['||']),
  new Set(['&&']),
  new Set(['<', '<=', '>', '>=', '==', '!=', 'in']),
  new Set(['+', '-']),
  new Set(['*', '/', '%']),
];

class SyntaxProblem extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

function tokens(text: string): readonly Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    for (const [kind, pattern] of TOKEN) {
      pattern.lastIndex = at;
      const match = pattern.exec(text)?.[0];
      if (match === undefined) continue;
      if (kind !== 'space') found.push({ kind, text: match, at });
      at += match.length;
      break;
    }
    if (at === start) throw new SyntaxProblem(at, `nothing of CEL begins with ${text.slice(at, at + 8)}`);
  }
  return [...found, { kind: 'end', text: '', at: text.length }];
}

/** Reads an expression by its grammar and keeps what it calls. */
class Parser {
  readonly calls: string[] = [];
  makesMessages = false;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(all: readonly Token[]) {
    this.#tokens = all;
  }

  whole(): void {
    this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected('the end');
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #unexpected(wanted: string): SyntaxProblem {
    const { kind, text, at } = this.#token;
    return new SyntaxProblem(
      at,
      kind === 'end' ? `it ends where ${wanted} is due` : `"${text}" stands where ${wanted} is due`,
    );
  }

  #is(text: string): boolean {
    const { kind, text: own } = this.#token;
    return own === text && (kind === 'sign' || kind === 'name');
  }

  #takes(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#next++;
    return true;
  }

  #needs(text: string): void {
    if (!this.#takes(text)) throw this.#unexpected(`"${text}"`);
  }

  #expression(): void {
    this.#binary(0);
    if (!this.#takes('?')) return;
    this.#binary(0);
    this.#needs(':');
    this.#expression();
  }

  #binary(level: number): void {
    const operators = BINARY[level];
    if (operators === undefined) {
      this.#unary();
      return;
    }
    do this.#binary(level + 1);
    while (operators.has(this.#token.text) && this.#token.kind !== 'string' && this.#takes(this.#token.text));
  }

  #unary(): void {
    while (this.#takes('!') || this.#takes('-'));
    this.#primary();
    for (;;) {
      if (this.#takes('.')) this.#selection();
      else if (this.#takes('[')) {
        this.#expression();
        this.#needs(']');
      } else return;
    }
  }

  /** A field, which may have the name of a reserved word, or a call of a method. */
  #selection(): void {
    const { kind, text } = this.#token;
    if (kind !== 'name' || text === 'in' || LITERALS.has(text)) throw this.#unexpected('a name');
    this.#next++;
    if (this.#is('(')) this.#call(text);
    else if (this.#is('{')) this.#message();
  }

  #primary(): void {
    const { kind, text } = this.#token;
    if (kind === 'number' || kind === 'string' || (kind === 'name' && LITERALS.has(text))) {
      this.#next++;
      return;
    }
    if (this.#takes('(')) {
      this.#expression();
      this.#needs(')');
    } else if (this.#takes('[')) this.#list(']', () => this.#expression());
    else if (this.#takes('{')) this.#list('}', () => this.#entry());
    else this.#name();
  }

  #name(): void {
    this.#takes('.');
    const { kind, text, at } = this.#token;
    if (kind !== 'name' || text === 'in') throw this.#unexpected('a value');
    if (RESERVED.has(text)) throw new SyntaxProblem(at, `"${text}" is a reserved word`);
    this.#next++;
    if (this.#is('(')) this.#call(text);
    else if (this.#is('{')) this.#message();
  }

  #call(name: string): void {
    this.calls.push(name);
    this.#needs('(');
    const { at } = this.#token;
    if (!this.#takes(')')) this.#list(')', () => this.#expression(), false);
    if (name === 'has' && this.#tokens[this.#next - 3]?.text !== '.') {
      throw new SyntaxProblem(at, 'has() is asked about a field, as has(request.headers)');
    }
  }

  #entry(): void {
    this.#expression();
    this.#needs(':');
    this.#expression();
  }

  #message(): void {
    this.makesMessages = true;
    this.#needs('{');
    this.#list('}', () => {
      if (this.#token.kind !== 'name') throw this.#unexpected('a name');
      this.#next++;
      this.#needs(':');
      this.#expression();
    });
  }

  /** Items with commas between them, and one after the last where that is allowed. */
  #list(end: string, item: () => void, trailing = true): void {
    if (trailing && this.#takes(end)) return;
    do {
      if (trailing && this.#is(end)) break;
      item();
    } while (this.#takes(','));
    this.#needs(end);
  }
}

/**
 * Looks through an expression of the Common Expression Language. Never throws.
 *
 * @see google/cel-spec doc/langdef.md "Syntax"
 */
export function celExpression(text: string): CelExpression {
  let parser: Parser | undefined;
  try {
    parser = new Parser(tokens(text));
    parser.whole();
    return { calls: parser.calls, makesMessages: parser.makesMessages };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const problem = { column: error.at + 1, message: error.message };
    return { problem, calls: parser?.calls ?? [], makesMessages: parser?.makesMessages ?? false };
  }
}
