import { resolve } from 'node:path';
import type { Diagnostic } from '../base/diagnostic.ts';
import { LIMITS } from '../config/limits.ts';
import type { Environment } from '../process/environment.ts';
import { StartError } from '../process/failure.ts';
import type { Issuer } from '../security/issuer.ts';
import { type AuthorityFiles, istioLayout, readAuthority, tlsLayout } from '../security/plugged-in.ts';
import { fileText } from '../sources/read-file.ts';
import { authoritySettings } from './authority-settings.ts';
import { JOIN_TOKENS_FILE, parseJoinTokens, type ReadJoinTokens } from './join-token-file.ts';
import { CHAIN, KEY, OUTSIDE_ROOTS, ServingCertificate } from './serving-certificate.ts';

/**
 * Where an authority may be plugged in: `etc/certs` beside the server's own certificate is such a place, too.
 * @param directory that of Istio's variable, relative to the working directory
 */
export function authorityPlaces(directory: string): readonly AuthorityFiles[] {
  return [tlsLayout(directory), istioLayout(directory), istioLayout('etc/certs')];
}

/** Files with keys of an authority, which nobody is handed whatever configuration names. */
export function authorityKeys(env: Environment): readonly string[] {
  return authorityPlaces(authoritySettings(env, { warn: () => undefined }).directory).map(({ key }) => key);
}

/** @returns undefined when the file is not there @throws Error with the reason in words */
export function readText(root: string, path: string): string | undefined {
  return fileText(resolve(root, path), LIMITS.certificateBytes);
}

export function readJoinTokens(root: string): ReadJoinTokens {
  try {
    const text = readText(root, JOIN_TOKENS_FILE);
    return text === undefined ? { tokens: [], diagnostics: [] } : parseJoinTokens(text);
  } catch (error) {
    return { tokens: undefined, diagnostics: [finding('error', 'VM0101', JOIN_TOKENS_FILE, (error as Error).message)] };
  }
}

export function finding(severity: Diagnostic['severity'], code: string, file: string, message: string): Diagnostic {
  return { severity, code, message, location: { file, line: 1, column: 1 } };
}

/** So much of its time is left when an authority should have been renewed: two days of twenty. */
const LATE = 1 / 9;

/**
 * That what signs ends soon, or has ended.
 * @param now milliseconds since 1970
 */
export function expiryFindings(file: string, { until, certificate }: Issuer, now: number): readonly Diagnostic[] {
  const day = new Date(until).toISOString();
  if (until <= now)
    return [finding('error', 'VM0502', file, `what signs expired on ${day}: nobody gets certificates; renew it`)];
  const life = until - certificate.validFromDate.getTime();
  if (until - now >= life * LATE) return [];
  return [finding('warning', 'VM0502', file, `what signs expires on ${day}, and all certificates with it: renew it`)];
}

/** What is wrong with a certificate for TLS that is put there, as files below a working directory. */
export function servingFindings(root: string): readonly Diagnostic[] {
  try {
    new ServingCertificate(root, { info: () => undefined, warn: () => undefined });
    return [];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    // One of a single file begins with it.
    const file = [KEY, OUTSIDE_ROOTS].find((one) => error.message.startsWith(`${one}: `)) ?? CHAIN;
    return [finding('error', 'VM0501', file, error.message.replace(`${file}: `, ''))];
  }
}

/** What is wrong with an authority that is plugged in, and with join tokens, as files below a working directory. */
export function securityFindings(root: string, env: Environment): readonly Diagnostic[] {
  const { directory } = authoritySettings(env, { warn: () => undefined });
  const now = Date.now();
  const ofAuthority = authorityPlaces(directory).flatMap((files) => {
    const found = readAuthority(files, (path) => readText(root, path), now);
    if (found === undefined) return [];
    if ('message' in found) return [finding('error', 'VM0505', found.file, found.message)];
    return expiryFindings(files.certificate, found, now);
  });
  return [...ofAuthority, ...readJoinTokens(root).diagnostics];
}
