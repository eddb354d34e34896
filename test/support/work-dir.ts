import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A directory that is there for a while. Paths are relative to it. */
export class WorkDir {
  readonly path: string;
  #writes = 0;

  constructor(name = 'istiod') {
    this.path = mkdtempSync(join(tmpdir(), `${name}-`));
  }

  /** A copy of a directory's content, which may be changed although the original may not. */
  static copyOf(directory: string, name?: string): WorkDir {
    const dir = new WorkDir(name);
    cpSync(directory, dir.path, { recursive: true, verbatimSymlinks: true });
    return dir;
  }

  at(path: string): string {
    return join(this.path, path);
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  /** Puts a file there as editors do: whole, by a rename. */
  write(path: string, text: string): void {
    const hidden = this.at(`.write-${this.#writes++}`);
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(hidden, text);
    renameSync(hidden, this.at(path));
  }

  remove(path: string): void {
    rmSync(this.at(path), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
