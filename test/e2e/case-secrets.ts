import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { TestAuthority } from '../support/certificates.ts';
import type { WorkDir } from '../support/work-dir.ts';

const CONF = 'etc/istio/conf';

/** Puts certificates of an authority in the place of those in the Secrets of a case, entry by entry. */
export function replaceCertificates(dir: WorkDir, authority: TestAuthority): void {
  for (const file of globSync('**/*.{yaml,yml}', { cwd: dir.at(CONF) })) {
    const path = join(CONF, file);
    const text = dir.read(path);
    if (!/^kind: Secret$/m.test(text)) continue;
    const documents = parseAllDocuments(text);
    for (const document of documents) {
      if (document.get('kind') !== 'Secret') continue;
      const { data = {}, stringData = {} } = document.toJS() as Record<string, Readonly<Record<string, string>>>;
      const { chain, key } = authority.issue('DNS:gateway.test');
      const replaced: Readonly<Record<string, string>> = {
        cert: chain,
        key,
        cacert: authority.root,
        'tls.crt': chain,
        'tls.key': key,
        'ca.crt': authority.root,
      };
      const kept = Object.entries(replaced).filter(([name]) => name in data || name in stringData);
      document.delete('data');
      document.set('stringData', Object.fromEntries(kept));
    }
    dir.write(path, documents.map(String).join(''));
  }
}
