import { X509Certificate } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { askCertificate, type CertificateAnswer } from '../../support/certificate-client.ts';
import { type Certificate, certificateRequest, disbelief } from '../../support/certificates.ts';
import { joinTokens } from '../../support/join-tokens.ts';
import type { WorkDir } from '../../support/work-dir.ts';
import { text } from '../fields.ts';
import { type Check, milliseconds } from '../scenario.ts';
import type { World } from '../world.ts';
import { firstOf, type Look } from './check-kind.ts';

/** Where the roots stand that an operator gives to machines: of an authority that is plugged in, or of istiod's own. */
const ROOTS = ['etc/cacerts/root-cert.pem', 'etc/certs/root-cert.pem', 'var/lib/istio/ca/root-cert.pem'];

/** A token by which the harness is an identity; it is nobody's but in the scenario. */
function tokenOf(identity: string): string {
  return `token of a scenario for ${identity}`.replaceAll(/[^\w]/g, '-').padEnd(40, '-');
}

/** Gives the identities for which checks ask, or as which they ask, a way to prove who they are. */
export function giveTokens(dir: WorkDir, checks: readonly Check[]): void {
  const identities = new Set(
    checks.filter(({ kind }) => kind === 'csr').map((check) => text(check['authenticated_as'] ?? check['identity'])),
  );
  if (identities.size === 0) return;
  const tokens = [...identities].map((identity) => {
    const [, namespace = '', serviceAccount = ''] = /\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(identity) ?? [];
    return { token: tokenOf(identity), namespace, serviceAccount };
  });
  dir.write('etc/istio/join-tokens.yaml', joinTokens(...tokens));
}

/** A certificate that is asked for over TLS, as an agent asks. */
export const csr: Look = async (check, world) => {
  const { assert, identity, ttl = '0s' } = check;
  const proof = await proofOf(check, world);
  const roots = rootsOf(world);
  const question = { address: world.istiod.addresses.grpcTls, roots, ttl: milliseconds(text(ttl)) / 1000, ...proof };
  const answer = await askCertificate({ ...question, csr: certificateRequest([`URI:${text(identity)}`]).csr });
  if (assert['refused'] === true) {
    const isRefused =
      typeof answer === 'string' && /^(PERMISSION_DENIED|UNAUTHENTICATED|INVALID_ARGUMENT)/.test(answer);
    return isRefused ? undefined : `it is not refused: ${answer}`;
  }
  if (typeof answer === 'string') return `no certificate is issued: ${answer}`;
  return verdictOf(answer, check, roots);
};

function verdictOf(answer: readonly string[], { assert }: Check, roots: string): string | undefined {
  const leaf = new X509Certificate(answer[0] ?? '');
  const [issuer] = answer.slice(1).flatMap((pem) => {
    const one = new X509Certificate(pem);
    return leaf.checkIssued(one) && leaf.verify(one.publicKey) ? [one] : [];
  });
  const issuerName = /CN=(.+)/.exec(leaf.issuer)?.[1];
  return firstOf([
    assert['issuer_cn'] === undefined || issuerName === assert['issuer_cn'] ? undefined : `${issuerName} has issued it`,
    assert['chain_verifies'] === true ? disbelief(answer, { roots, strict: false }) : undefined,
    assert['san'] === undefined || leaf.subjectAltName === `URI:${text(assert['san'])}`
      ? undefined
      : `it is for ${leaf.subjectAltName}`,
    assert['not_after_lte_issuer'] !== true || (issuer !== undefined && leaf.validToDate <= issuer.validToDate)
      ? undefined
      : `it ends ${leaf.validTo}, and its issuer ${issuer?.validTo ?? 'is not in the answer'}`,
  ]);
}

/** What the caller proves itself with: its token, or where it is said to be somebody a client certificate of theirs. */
async function proofOf(check: Check, world: World): Promise<{ token: string } | { client: Certificate }> {
  const as = check['authenticated_as'];
  if (as === undefined) return { token: tokenOf(text(check['identity'])) };
  const { key, csr: request } = certificateRequest();
  const question = { address: world.istiod.addresses.grpcTls, roots: rootsOf(world), csr: request };
  const answer: CertificateAnswer = await askCertificate({ ...question, token: tokenOf(text(as)) });
  if (typeof answer === 'string') throw new Error(`${text(as)} gets no certificate to show: ${answer}`);
  return { client: { key, chain: answer.slice(0, -1).join('') } };
}

function rootsOf({ dir }: World): string {
  const file = ROOTS.find((path) => existsSync(dir.at(path)));
  if (file === undefined) throw new Error(`there are no roots: ${ROOTS.join(', ')}`);
  return dir.read(file);
}

/** The certificate that a script of the scenario has made for a name. @throws Error when there is none */
export function certificateNamed({ dir }: World, name: string): X509Certificate {
  const [file] = globSync(`.ca/${name}.crt`, { cwd: dir.path });
  if (file === undefined) throw new Error(`there is no certificate of ${name}`);
  return new X509Certificate(dir.read(file));
}
