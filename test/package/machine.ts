import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Child } from '../support/child.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

/** What every Debian of the tests has besides the essential packages. */
const PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'libstdc++6', 'curl', 'procps'];
/** DEBIAN_SUITE=trixie tries the next Debian. */
const SUITE = process.env['DEBIAN_SUITE'] ?? 'bookworm';
const DEBIAN = `.cache/debian-${SUITE}.tar`;

/** A root file system of a small Debian, made once and unpacked for each caller. */
export function debian(): WorkDir {
  if (!existsSync(DEBIAN)) {
    mkdirSync('.cache', { recursive: true });
    const options = ['--quiet', '--variant=minbase', `--include=${PACKAGES.join()}`];
    execFileSync('mmdebstrap', [...options, '--format=tar', SUITE, `${DEBIAN}.new`], { stdio: 'pipe' });
    renameSync(`${DEBIAN}.new`, DEBIAN);
  }
  const root = new WorkDir('debian');
  execFileSync('tar', ['-xf', DEBIAN, '-C', root.path]);
  return root;
}

export interface MachineOptions {
  /** Further options of systemd-nspawn. */
  readonly options?: readonly string[];
  /** What runs as process 1; systemd by default. */
  readonly command?: readonly string[];
}

/** A container with a loopback of its own and nothing else of a network. It does not outlive this process. */
export class Machine {
  readonly #child: Child;
  readonly #root: string;

  private constructor(root: string, { options = [], command }: MachineOptions) {
    this.#root = root;
    const base = [
      '--quiet',
      '--register=no',
      '--keep-unit',
      '--private-network',
      '--console=pipe',
      `--directory=${root}`,
    ];
    const what = command ?? ['--boot'];
    this.#child = new Child(['systemd-nspawn', ...base, ...options, ...what]);
  }

  /** Boots systemd in `root`; resolves when it has come up. */
  static async boot(root: string, options: readonly string[] = []): Promise<Machine> {
    const machine = new Machine(root, { options });
    await waitFor(
      async () => {
        machine.#child.assertRunning();
        return /^(running|degraded)/.test(await machine.run('systemctl is-system-running || true'));
      },
      { what: 'booted system', withinMs: 60_000, everyMs: 250 },
    );
    return machine;
  }

  /** Runs one program as process 1 of `root`. */
  static start(root: string, command: readonly string[], options: readonly string[] = []): Machine {
    return new Machine(root, { options, command });
  }

  /** What process 1 has written. */
  get output(): string {
    return this.#child.output;
  }

  get exited(): Child['exited'] {
    return this.#child.exited;
  }

  /** @throws Error when process 1 is gone */
  assertRunning(): void {
    this.#child.assertRunning();
  }

  /** Id, here, of process 1 there. */
  get leader(): number {
    const children = readFileSync(`/proc/${this.#child.pid}/task/${this.#child.pid}/children`, 'utf8').trim();
    if (children === '') throw new Error(`no process in ${this.#root}: ${this.output}`);
    return Number(children.split(' ')[0]);
  }

  /**
   * Runs a shell script in the machine.
   * @returns what it wrote to standard output, trimmed
   * @throws Error with all output when it ends with another code than 0, or after 60 seconds
   */
  run(script: string): Promise<string> {
    const args = [`--target=${this.leader}`, '--all', '--root', '/bin/sh', '-c', script];
    return new Promise((done, failed) => {
      execFile('nsenter', args, { timeout: 60_000, env: { PATH, LC_ALL: 'C.UTF-8' } }, (error, stdout, stderr) => {
        if (error) failed(new Error(`${script}: ${error.message}\n${stdout}${stderr}`));
        else done(stdout.trim());
      });
    });
  }

  /** Looks until the script ends with 0 and its output is as wanted. */
  until(script: string, wanted: RegExp, withinMs = 20_000): Promise<string> {
    return waitFor(
      async () => {
        const output = await this.run(script);
        if (wanted.test(output)) return output;
        throw new Error(output);
      },
      { what: `${wanted} from ${script}`, withinMs, everyMs: 100 },
    );
  }

  async stop(): Promise<void> {
    await this.#child.stop('SIGTERM', 30_000);
  }
}

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Path of the package that `npm run deb` made. */
export function packagePath(architecture: 'amd64' | 'arm64' = 'amd64'): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  return resolve(join('dist', `istiod-vm_${version}_${architecture}.deb`));
}
