import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Address } from '../../base/host-port.ts';

/** What the resolver of a machine is told. */
export interface ResolvConf {
  readonly servers: readonly Address[];
  /** Added to names, in this order; without dots at their ends. */
  readonly search: readonly string[];
}

const DNS_PORT = 53;
const NOTHING: ResolvConf = { servers: [], search: [] };

/** Lines that say nothing to it are passed over, as resolvers do. @see resolv.conf(5) */
export function parseResolvConf(text: string): ResolvConf {
  const servers: Address[] = [];
  let search: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && isIP(values[0] ?? '') !== 0)
      servers.push({ host: values[0] ?? '', port: DNS_PORT });
    // Of several lines the last one counts.
    else if (keyword === 'search') search = values.map(domain).filter((name) => name !== '');
    else if (keyword === 'domain') search = values.slice(0, 1).map(domain);
  }
  return { servers, search };
}

function domain(text: string): string {
  return text.replace(/\.$/, '');
}

/** Milliseconds in which a file is not looked at again. */
const FRESH = 2000;

/** A resolv.conf that may change while it is used: of the files, the first that is there. */
export class ResolvConfFile {
  readonly #files: readonly string[];
  readonly #now: () => number;
  #read = NOTHING;
  #stamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(files: readonly string[], now: () => number = () => performance.now()) {
    this.#files = files;
    this.#now = now;
  }

  /** What stands in it; what stood in it while it can not be read. The same object while nothing changes. */
  get content(): ResolvConf {
    const now = this.#now();
    if (now - this.#lookedAt < FRESH) return this.#read;
    this.#lookedAt = now;
    for (const file of this.#files) {
      try {
        const { mtimeMs, ino, size } = statSync(file);
        const stamp = `${file} ${ino} ${size} ${mtimeMs}`;
        if (stamp !== this.#stamp) this.#read = parseResolvConf(readFileSync(file, 'utf8'));
        this.#stamp = stamp;
        return this.#read;
      } catch {
        // The next one, then.
      }
    }
    return this.#read;
  }
}

/** That of a machine: one that was written for the agent goes before its own. @param root the working directory */
export function machineResolvConf(root: string): ResolvConfFile {
  return new ResolvConfFile([
    join(root, 'var/lib/istio/resolv.conf'),
    join(root, 'etc/resolv.conf'),
    '/etc/resolv.conf',
  ]);
}
