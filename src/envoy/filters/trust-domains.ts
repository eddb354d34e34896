/**
 * The mesh's trust domain and its aliases: identities of all of them are one.
 * @see istio/istio pilot/pkg/security/trustdomain/bundle.go
 */
export type TrustDomains = readonly string[];

/** In a policy it stands for the mesh's trust domain, whatever that is called. */
const LOCAL = 'cluster.local';

const SPIFFE_PARTS = 5;

/** Whether a domain that may begin or end with `*` covers one of the mesh's domains. */
function covers(pattern: string, domain: string): boolean {
  if (pattern === '*') return domain.length > 0;
  if (pattern.startsWith('*')) return domain.endsWith(pattern.slice(1));
  if (pattern.endsWith('*')) return domain.startsWith(pattern.slice(0, -1));
  return domain === pattern;
}

function suffixCovers(domain: string, pattern: string): boolean {
  return pattern.startsWith('*') && domain.endsWith(pattern.slice(1));
}

/**
 * The principals with one of the mesh's trust domains in each of the others too: `td1/ns/a/sa/b` becomes itself and
 * `td2/ns/a/sa/b`; so does what ends with `*` behind a domain. Those of a foreign domain, of any domain (`*`) and malformed ones stay as they are.
 */
export function principalsOfTrustDomains(principals: readonly string[], domains: TrustDomains): readonly string[] {
  return principals.flatMap((principal) => {
    const [pattern = '', ...identity] = principal.split('/');
    // istiod leaves shorter ones alone, so that `cluster.local/ns/shop/*` means nobody in a mesh of another name.
    const isWhole = identity.length + 1 === SPIFFE_PARTS || (identity.length > 0 && principal.endsWith('*'));
    if (!isWhole || pattern === '*') return [principal];
    if (pattern !== LOCAL && !domains.some((domain) => covers(pattern, domain) || covers(domain, pattern)))
      return [principal];
    const inDomains = domains.map((domain) =>
      suffixCovers(domain, pattern) ? principal : [domain, ...identity].join('/'),
    );
    return [...new Set(inDomains)];
  });
}

/** Each of the mesh's trust domains stands for all of them. */
export function expandedTrustDomains(values: readonly string[], domains: TrustDomains): readonly string[] {
  return [...new Set(values.flatMap((value) => (domains.includes(value) ? domains : [value])))];
}
