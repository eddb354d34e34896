import type { SourceLocation } from '../base/diagnostic.ts';

/** A variable that a file sets. */
export interface Assignment {
  readonly name: string;
  readonly value: string;
  readonly location: SourceLocation;
}

/** What is no assignment in a file, and what to write. */
export interface EnvFileProblem {
  readonly message: string;
  readonly location: SourceLocation;
}

export interface EnvFile {
  readonly assignments: readonly Assignment[];
  readonly problems: readonly EnvFileProblem[];
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const BLANK = /[ \t]*/y;

/**
 * Assignments as a shell reads them, `NAME=value` with quotes and comments, since Istio's own agent has such a file read by one.
 * Nothing is executed or expanded: what a shell would is refused.
 *
 * @param file its name in locations
 */
export function parseEnvFile(file: string, text: string): EnvFile {
  const assignments: Assignment[] = [];
  const problems: EnvFileProblem[] = [];
  const reader = new Reader(text);
  while (!reader.atEnd) {
    const start = reader.position;
    try {
      const found = reader.assignment();
      if (found !== undefined) assignments.push({ ...found, location: locationAt(file, text, found.at) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push({ message: error.message, location: locationAt(file, text, error.at) });
      reader.skipLine(Math.max(start, error.at));
    }
  }
  return { assignments, problems };
}

class Problem extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.position >= this.#text.length;
  }

  /** That of the line, or lines; undefined of a line that has none. Stands behind the line then. */
  assignment(): { readonly name: string; readonly value: string; readonly at: number } | undefined {
    this.#match(BLANK);
    if (this.#endOfLine()) return undefined;
    let at = this.position;
    let name = this.#match(NAME);
    if (name === 'export' && this.#match(BLANK) !== '') {
      at = this.position;
      name = this.#match(NAME);
    }
    if (name === '') throw new Problem(at, 'is no assignment: write NAME=value, or # before a comment');
    if (this.#text[this.position] !== '=') {
      throw new Problem(at, `is no assignment: write ${name}=value, without blanks before and behind the =`);
    }
    this.position++;
    const value = this.#word();
    this.#match(BLANK);
    if (!this.#endOfLine()) {
      throw new Problem(
        this.position,
        `more stands behind the value of ${name}: put the value into quotes, as ${name}='…'`,
      );
    }
    return { name, value, at };
  }

  skipLine(from: number): void {
    const end = this.#text.indexOf('\n', from);
    this.position = end < 0 ? this.#text.length : end + 1;
  }

  /** Takes a comment and the end of the line. @returns whether there was one */
  #endOfLine(): boolean {
    if (this.#text[this.position] === '#') this.position = this.#lineEnd();
    if (this.#text[this.position] === '\r') this.position++;
    if (this.atEnd) return true;
    if (this.#text[this.position] !== '\n') return false;
    this.position++;
    return true;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.position);
    return end < 0 ? this.#text.length : end;
  }

  /** Parts with and without quotes, one behind the other. */
  #word(): string {
    let word = '';
    for (;;) {
      const next = this.#text[this.position];
      if (next === undefined || /[ \t\r\n]/.test(next)) return word;
      if (next === "'") word += this.#singleQuoted();
      else if (next === '"') word += this.#doubleQuoted();
      else if (next === '\\') {
        word += this.#text[this.position + 1] ?? '';
        this.position += 2;
      } else if (/[$`;&|<>()]/.test(next)) {
        throw new Problem(
          this.position,
          `${next} means something to a shell, and nothing here: put the value into single quotes`,
        );
      } else {
        word += next;
        this.position++;
      }
    }
  }

  #singleQuoted(): string {
    const end = this.#text.indexOf("'", this.position + 1);
    if (end < 0) throw new Problem(this.position, "a quote is not closed: write ' at its end");
    const part = this.#text.slice(this.position + 1, end);
    this.position = end + 1;
    return part;
  }

  #doubleQuoted(): string {
    const start = this.position;
    let part = '';
    for (this.position++; ; this.position++) {
      const next = this.#text[this.position];
      if (next === undefined) throw new Problem(start, 'a quote is not closed: write " at its end');
      if (next === '"') {
        this.position++;
        return part;
      }
      if (next === '$' || next === '`') {
        throw new Problem(this.position, `${next} means something to a shell, and nothing here: use single quotes`);
      }
      const escaped = this.#text[this.position + 1] ?? '';
      if (next === '\\' && /["\\$`\n]/.test(escaped)) {
        if (escaped !== '\n') part += escaped;
        this.position++;
      } else part += next;
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.position += found.length;
    return found;
  }
}

function locationAt(file: string, text: string, offset: number): SourceLocation {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { file, line, column: offset - before.lastIndexOf('\n') };
}
