import { RE2JS, RE2JSException } from 're2js';

/** Longest expression that Istio lets through to Envoy. */
const MAX_LENGTH = 1024;

/** Why a text is no regular expression for Envoy; undefined when it is one. */
export function regexProblem(expression: string): string | undefined {
  if (expression === '') return 'the expression must not be empty: write ".*" to match everything';
  if (expression.length > MAX_LENGTH) return `the expression is longer than ${MAX_LENGTH} characters`;
  return syntaxProblem(expression);
}

/** Why a text is no RE2 expression; undefined when it is one. */
export function syntaxProblem(expression: string): string | undefined {
  try {
    RE2JS.compile(expression);
    return undefined;
  } catch (error) {
    const reason = error instanceof RE2JSException ? error.message : String(error);
    return `"${expression}" is not an RE2 expression (${reason}); see https://github.com/google/re2/wiki/Syntax`;
  }
}
