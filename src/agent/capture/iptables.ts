import { execFileSync } from 'node:child_process';
import { EXIT, StartError } from '../../process/failure.ts';
import type { CaptureSettings } from './capture-settings.ts';
import { CHAIN_PREFIX, captureTables, type Family, presentTables, restoreInput, type Table } from './rules.ts';

/** How a program is run. @throws Error */
export type Run = (command: string, args: readonly string[], input?: string) => string;

export const runProgram: Run = (command, args, input = '') =>
  execFileSync(command, args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

const PROGRAMS: Readonly<Record<Family, string>> = { 4: 'iptables', 6: 'ip6tables' };
const FAMILIES: readonly Family[] = [4, 6];
/** Tables that rules are put into, now or by other settings before. */
const TABLES: readonly Table['name'][] = ['nat', 'raw'];

/** Capture of a machine's traffic by iptables. */
export class Capture {
  readonly #settings: CaptureSettings;
  readonly #run: Run;

  constructor(settings: CaptureSettings, run: Run = runProgram) {
    this.#settings = settings;
    this.#run = run;
  }

  /** Input of iptables-restore and ip6tables-restore, each under the command that takes it. */
  print(): string {
    return FAMILIES.map(
      (family) => `# ${PROGRAMS[family]}-restore --noflush\n${restoreInput(captureTables(this.#settings, family))}`,
    ).join('');
  }

  /**
   * Puts the rules in place of those that are there, each table in one step. A machine without IPv6 needs none for it.
   * @throws StartError when it can not
   */
  apply(): void {
    for (const family of this.#families()) this.#replace(family, captureTables(this.#settings, family));
  }

  /** @throws StartError when it can not */
  remove(): void {
    for (const family of this.#families()) this.#replace(family, []);
  }

  /** What is not as it should be, a line each. @throws StartError when it can not be seen */
  differences(): readonly string[] {
    return this.#families().flatMap((family) => {
      const present = this.#present(family);
      return allTables(captureTables(this.#settings, family)).flatMap(({ name, rules }) =>
        compared(`${PROGRAMS[family]} -t ${name}`, rules, present.get(name)?.rules ?? []),
      );
    });
  }

  #replace(family: Family, wanted: readonly Table[]): void {
    const present = this.#present(family);
    const input = restoreInput(allTables(wanted), (table) => removals(present.get(table.name), table));
    this.#do(family, [`${PROGRAMS[family]}-restore`, '--noflush', '--wait', '5'], input);
  }

  #present(family: Family): ReturnType<typeof presentTables> {
    return presentTables(TABLES.map((name) => this.#do(family, [`${PROGRAMS[family]}-save`, '-t', name])).join(''));
  }

  #do(family: Family, [command = '', ...args]: readonly string[], input?: string): string {
    try {
      return this.#run(command, args, input);
    } catch (error) {
      const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
      if (code === 'ENOENT') {
        const message = `there is no ${command}: install iptables (Debian: apt-get install iptables)`;
        throw new StartError(EXIT.unavailable, message, { cause: error });
      }
      const why = String(stderr).trim().split('\n')[0] || (error as Error).message;
      const advice = /permission denied|not permitted|you must be root/i.test(why) ? '; it needs root' : '';
      throw new StartError(EXIT.unavailable, `${PROGRAMS[family]}: ${why}${advice}`, { cause: error });
    }
  }

  /** IPv6 may be switched off in the kernel. */
  #families(): readonly Family[] {
    try {
      this.#run('ip6tables-save', ['-t', 'nat']);
      return FAMILIES;
    } catch {
      return [4];
    }
  }
}

/** Those that are wanted, and the others empty. */
function allTables(wanted: readonly Table[]): readonly Table[] {
  return TABLES.map((name) => wanted.find((table) => table.name === name) ?? { name, chains: [], rules: [] });
}

/** What is deleted so that only what is wanted is left: rules that lead to Istio's chains, and chains that are not needed. */
function removals(present: Pick<Table, 'chains' | 'rules'> | undefined, wanted: Table): readonly string[] {
  if (present === undefined) return [];
  const keeps = new Set(wanted.chains);
  const gone = present.chains.filter((chain) => !keeps.has(chain));
  return [
    // Chains that are wanted again are emptied by being named.
    ...present.rules.filter((rule) => !rule.startsWith(`-A ${CHAIN_PREFIX}`)).map((rule) => rule.replace('-A', '-D')),
    ...gone.map((chain) => `-F ${chain}`),
    ...gone.map((chain) => `-X ${chain}`),
  ];
}

function compared(where: string, wanted: readonly string[], present: readonly string[]): readonly string[] {
  const missing = wanted.filter((rule) => !present.includes(rule) && rule.includes(CHAIN_PREFIX));
  const extra = present.filter((rule) => !wanted.includes(rule));
  const found = [
    ...missing.map((rule) => `${where}: missing: ${rule}`),
    ...extra.map((rule) => `${where}: not wanted: ${rule}`),
  ];
  if (found.length > 0) return found;
  const ours = wanted.filter((rule) => present.includes(rule));
  const order = [...new Set(ours.map((rule) => rule.split(' ')[1]))].filter((chain) => {
    const of = (rules: readonly string[]) => rules.filter((rule) => rule.split(' ')[1] === chain).join('\n');
    return of(ours) !== of(present);
  });
  return order.map((chain) => `${where}: the rules of ${chain} are in another order`);
}
