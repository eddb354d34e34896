import { type Document, type ErrorCode, isMap, type Node, parseDocument, visit, type YAMLParseError } from 'yaml';
import type { TextProblem } from './document.ts';
import { LIMITS } from './limits.ts';

/** What an object calls itself, as far as its document says it. */
export interface Identity {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface ExplainedSyntax {
  readonly problem: TextProblem;
  /** Of the object that the broken text most likely is. */
  readonly identity: Identity;
}

const ADVICE: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a line is indented by a tab: use spaces',
  BAD_INDENT: 'the indentation is wrong here, or a "[" or "{" before is not closed',
  MISSING_CHAR: 'a quote, bracket or colon is missing: close what was opened before, and write keys as "key: value"',
  BLOCK_AS_IMPLICIT_KEY:
    'a list or map begins where a text stands already: correct the indentation, or quote a text that holds ": "',
  MULTILINE_IMPLICIT_KEY: 'a key goes over several lines: correct the indentation, or add the ":" that is missing',
  BLOCK_IN_FLOW: 'a comma is missing between "[" and "]" or "{" and "}"',
  BAD_SCALAR_START: 'a text can not begin with this character: put it in quotes',
  BAD_DQ_ESCAPE: 'this escape does not exist: write "\\\\" for a backslash, or use single quotes',
  UNEXPECTED_TOKEN: 'this does not belong here: correct the indentation, or remove a bracket too many',
  BAD_ALIAS: 'a text that begins with "*" needs quotes',
};

/**
 * Says better than the fast parser why a document is no YAML, and what it most likely is, by a parser that reads on behind
 * an error. Documents that are large keep the fast parser's words.
 */
export function explainedSyntax(text: string, problem: TextProblem): ExplainedSyntax {
  if (text.length > LIMITS.explainedBytes) return { problem, identity: {} };
  try {
    const document = parseDocument(text, {
      schema: 'failsafe',
      uniqueKeys: false,
      keepSourceTokens: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const textAt = (...path: string[]): string | undefined => {
      const value = isMap(document.contents) ? document.getIn(path) : undefined;
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    return {
      problem: withAdvice(problem, document.errors[0], document),
      identity: {
        ...given('apiVersion', textAt('apiVersion')),
        ...given('kind', textAt('kind')),
        ...given('namespace', textAt('metadata', 'namespace')),
        ...given('name', textAt('metadata', 'name')),
      },
    };
  } catch {
    // Nested too deep for a parser that recurses.
    return { problem, identity: {} };
  }
}

function given(name: keyof Identity, value: string | undefined): Identity {
  return value === undefined ? {} : { [name]: value };
}

function withAdvice(problem: TextProblem, error: YAMLParseError | undefined, document: Document): TextProblem {
  if (error === undefined) return problem;
  const open = error.code === 'MISSING_CHAR' || error.code === 'BAD_INDENT' ? unclosed(document) : undefined;
  if (open !== undefined) return { ...problem, ...open };
  const message = ADVICE[error.code] ?? problem.message;
  return { ...problem, offset: error.pos[0], message };
}

/** The innermost bracket or quote that is opened last, and not closed: the error itself stands where the text ends. */
function unclosed(document: Document): Pick<TextProblem, 'offset' | 'message'> | undefined {
  let found: Pick<TextProblem, 'offset' | 'message'> | undefined;
  visit(document, {
    Node(_, node) {
      const message = openProblem((node as Node).srcToken);
      const offset = (node as Node).range?.[0];
      if (message !== undefined && offset !== undefined) found = { offset, message };
    },
  });
  return found;
}

function openProblem(token: Node['srcToken']): string | undefined {
  switch (token?.type) {
    case 'flow-collection': {
      const [open, close, end] =
        token.start.type === 'flow-map-start' ? ['{', '}', 'flow-map-end'] : ['[', ']', 'flow-seq-end'];
      if (token.end.some(({ type }) => type === end)) return undefined;
      return `this "${open}" is not closed: write "${close}" where it ends`;
    }
    case 'single-quoted-scalar':
    case 'double-quoted-scalar': {
      const [quote = ''] = token.source;
      const isClosed = token.source.length > 1 && token.source.endsWith(quote);
      return isClosed ? undefined : `this quote is not closed: write ${quote} where the text ends`;
    }
    default:
      return undefined;
  }
}
