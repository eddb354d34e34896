const SPIFFE = 'spiffe://';

/**
 * The accounts, and each spiffe account also under every alias of the trust domain; sorted, without duplicates.
 * @see istio/istio pkg/spiffe/spiffe.go `ExpandWithTrustDomains`
 */
export function expandTrustDomains(accounts: readonly string[], aliases: readonly string[]): readonly string[] {
  const out = new Set(accounts);
  for (const account of accounts) {
    if (!account.startsWith(SPIFFE)) continue;
    const path = account.indexOf('/', SPIFFE.length);
    if (path < 0) continue;
    for (const alias of aliases) out.add(`${SPIFFE}${alias}${account.slice(path)}`);
  }
  return [...out].sort();
}
