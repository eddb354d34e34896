import { existsSync } from 'node:fs';
import { noNamespaces } from '../support/network.ts';

/** Cases with the answers of a real control plane; not part of this repository. */
export const CORPUS = '../shared/conformance/public';

/** Whether everything is tried, not only what fits in a few minutes: `E2E=all`. */
export const ALL: boolean = process.env['E2E'] === 'all';

/** Whether a test can not run for want of namespaces: `skip` of its options. @throws Error in CI, where nothing is left out */
export function withoutNamespaces(): string | false {
  const missing = noNamespaces();
  if (missing === undefined) return false;
  if (process.env['CI']) throw new Error(`tests in namespaces can not run: ${missing}`);
  return missing;
}

/** As `withoutNamespaces`, for tests of the corpus. */
export function withoutCorpus(): string | false {
  return existsSync(CORPUS) ? withoutNamespaces() : `${CORPUS} is not there`;
}
