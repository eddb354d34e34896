import type { Diagnostic } from '../base/diagnostic.ts';
import { type Finding, placeOf } from '../config/finding.ts';
import { list, type Message, message, one, string } from '../config/schema/schema.ts';
import type { JoinToken } from '../security/join-tokens.ts';
import { readOptions } from './options-file.ts';

/** Tokens with which machines ask for their first certificate. */
export const JOIN_TOKENS_FILE = 'etc/istio/join-tokens.yaml';

const JoinTokenSchema: Message = message('JoinToken', 'A token, and whose it is.', {
  sha256: one(string, 'SHA-256 of the token in 64 hexadecimal digits; the token itself is with its machine alone.'),
  namespace: one(string, 'Namespace of the workload.'),
  serviceAccount: one(string, 'Service account of the workload.'),
  expires: one(string, 'Until when it is taken: `2027-01-31T00:00:00Z`.'),
});

const JoinTokensSchema: Message = message('JoinTokens', 'Tokens with which machines ask for their first certificate.', {
  tokens: list(JoinTokenSchema, 'One for each machine.'),
});

interface Written {
  readonly tokens?: readonly Partial<Record<'sha256' | 'namespace' | 'serviceAccount' | 'expires', string>>[];
}

export interface ReadJoinTokens {
  /** Undefined when the file can not be read at all. */
  readonly tokens: readonly JoinToken[] | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A part of an identity: what a name of Kubernetes may be. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * @param text of the file; a token that is wrong is a finding and is left out, the others count
 * @param now milliseconds since 1970
 */
export function parseJoinTokens(text: string, now: number = Date.now()): ReadJoinTokens {
  const { value, findings, diagnostics } = readOptions<Written>(JOIN_TOKENS_FILE, text, JoinTokensSchema, (written) =>
    tokenFindings(written, now),
  );
  if (value === undefined) return { tokens: undefined, diagnostics };
  const wrong = new Set(findings.filter(({ severity }) => severity === 'error').map(({ path }) => path[1]));
  const tokens = (value.tokens ?? []).flatMap(
    ({ sha256 = '', namespace = '', serviceAccount = '', expires = '' }, i) =>
      wrong.has(i) ? [] : [{ sha256: sha256.toLowerCase(), namespace, serviceAccount, expires: Date.parse(expires) }],
  );
  return { tokens, diagnostics };
}

function* tokenFindings({ tokens = [] }: Written, now: number): Generator<Finding> {
  const known = new Map<string, number>();
  for (const [i, { sha256 = '', namespace = '', serviceAccount = '', expires = '' }] of tokens.entries()) {
    const at = placeOf(['tokens', i]);
    const hash = sha256.toLowerCase();
    const before = known.get(hash);
    if (!/^[0-9a-f]{64}$/.test(hash))
      yield at.at('sha256').error('64 hexadecimal digits are needed: printf %s "$TOKEN" | sha256sum');
    else if (before !== undefined)
      yield at.at('sha256').error(`it is that of tokens[${before}], too: make a token for each`);
    known.set(hash, i);
    if (!NAME.test(namespace)) yield at.at('namespace').error(`"${namespace}" is not a namespace`);
    if (!NAME.test(serviceAccount)) yield at.at('serviceAccount').error(`"${serviceAccount}" is not a service account`);
    if (!TIME.test(expires) || Number.isNaN(Date.parse(expires)))
      yield at.at('expires').error(`"${expires}" is not a time: write one as 2027-01-31T00:00:00Z`);
    else if (Date.parse(expires) <= now)
      yield at.at('expires').warning('the token has expired, and nobody gets a certificate for it: make a new one');
  }
}
