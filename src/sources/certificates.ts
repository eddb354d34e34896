import type { FileSecret } from '../config/file-secrets.ts';
import type { ParsedDocument, ParsedFile } from '../config/parsed.ts';
import { parsedFile } from '../config/parsed.ts';
import type { ConfigSink } from '../config/sink.ts';
import { type Clock, SYSTEM_CLOCK } from '../xds/limits.ts';
import { heldUntil, pathsOf, readSecret } from './certificate-files.ts';
import type { SourceLog } from './source.ts';
import { WatchedFiles } from './watched-files.ts';

export interface CertificatesOptions {
  /** The working directory, which paths are relative to. */
  readonly root: string;
  readonly log: SourceLog;
  readonly clock?: Clock;
  /**
   * How long files may be wrong, after they were right, before that is a finding: a certificate and its key are seldom
   * replaced in one step. Milliseconds, 2,000 by default.
   */
  readonly patience?: number;
  readonly rescan?: number;
  /** Further files that are handed out to nobody, as the keys of an authority; relative to `root`, or absolute. */
  readonly own?: readonly string[];
}

/** The files of one secret as they were last taken. */
interface Taken {
  readonly secret: FileSecret;
  document: ParsedDocument;
  /** Until when that holds what is served; undefined when nothing is. */
  heldUntil: number | undefined;
  /** Since when they are wrong, in the clock's milliseconds; undefined: they are right, or it was said. */
  wrongSince: number | undefined;
  cancel: () => void;
}

/**
 * Certificates, keys and roots from files that configuration names: read when they are named, and again on every write, however
 * it is done. What is right is taken at once. What is wrong is never taken: the last good pair stays, and a finding says what is
 * wrong when it stays so.
 */
export class Certificates {
  readonly #options: Required<CertificatesOptions>;
  readonly #sink: ConfigSink;
  readonly #watched: WatchedFiles;
  readonly #taken = new Map<string, Taken>();
  /** Files that the sink has, with findings or objects. */
  #files: ReadonlySet<string> = new Set();

  /** Begins with the files that are named now: what they make is in the sink when this returns. */
  constructor(sink: ConfigSink, named: readonly FileSecret[], options: CertificatesOptions) {
    this.#options = { clock: SYSTEM_CLOCK, patience: 2000, rescan: 30_000, own: [], ...options };
    this.#sink = sink;
    const { root, log, clock, rescan } = this.#options;
    this.#watched = new WatchedFiles({ base: root, log, clock, rescan, changed: (paths) => this.#changed(paths) });
    this.#name(named);
    const files = this.#parsed([...this.#taken.values()]);
    this.#files = new Set(files.keys());
    sink.replace([...files.values()]);
  }

  /** The files that are named from now on. */
  follow(named: readonly FileSecret[]): void {
    this.#name(named);
    this.#put();
  }

  close(): void {
    for (const taken of this.#taken.values()) taken.cancel();
    this.#watched.close();
  }

  #name(named: readonly FileSecret[]): void {
    const names = new Set(named.map(({ name }) => name));
    for (const [name, taken] of this.#taken) {
      if (names.has(name)) continue;
      taken.cancel();
      this.#taken.delete(name);
    }
    // Watched before they are read, so that no write in between is lost.
    this.#watched.watch(new Set(named.flatMap(pathsOf)));
    for (const secret of named) {
      if (this.#taken.has(secret.name)) continue;
      const document = this.#read(secret, undefined);
      const isHeld = document.refused.length === 0;
      this.#taken.set(secret.name, {
        secret,
        document,
        heldUntil: isHeld ? heldUntil(document) : undefined,
        wrongSince: undefined,
        cancel: () => {},
      });
    }
  }

  #read(secret: FileSecret, held: number | undefined): ParsedDocument {
    const { root, own, clock } = this.#options;
    return readSecret({ root, own }, secret, held, clock.date());
  }

  #changed(paths: ReadonlySet<string>): void {
    for (const taken of this.#taken.values()) {
      if (pathsOf(taken.secret).some((path) => paths.has(path))) this.#look(taken);
    }
    this.#put();
  }

  /** Takes what the files hold now, unless it is wrong and may only be half done. */
  #look(taken: Taken): void {
    const { clock, patience } = this.#options;
    const document = this.#read(taken.secret, taken.heldUntil);
    const isRight = document.refused.length === 0;
    const wasRight = taken.document.refused.length === 0;
    taken.cancel();
    if (!isRight && wasRight) {
      taken.wrongSince ??= clock.now();
      const rest = taken.wrongSince + patience - clock.now();
      if (rest > 0) {
        taken.cancel = clock.after(Math.ceil(rest), () => {
          this.#look(taken);
          this.#put();
        });
        return;
      }
    }
    taken.wrongSince = undefined;
    taken.document = document;
    if (isRight) taken.heldUntil = heldUntil(document);
  }

  #put(): void {
    const files = this.#parsed([...this.#taken.values()]);
    const gone = this.#files.difference(new Set(files.keys()));
    this.#files = new Set(files.keys());
    this.#sink.batch(() => {
      for (const file of gone) this.#sink.apply(file, undefined);
      for (const [file, parsed] of files) this.#sink.apply(file, parsed);
    });
  }

  /** By file: the objects that are named after it, and the findings about it. */
  #parsed(all: readonly Taken[]): ReadonlyMap<string, ParsedFile> {
    const documents = new Map<string, ParsedDocument[]>();
    const add = (file: string, document: ParsedDocument): void => {
      documents.set(file, [...(documents.get(file) ?? []), document]);
    };
    for (const { secret, document } of all) {
      const [main = '', ...others] = pathsOf(secret);
      const about = (file: string) => document.diagnostics.filter(({ location }) => location.file === file);
      add(main, { ...document, diagnostics: about(main) });
      for (const file of others) {
        const diagnostics = about(file);
        const raw = { file, line: 1, text: '' };
        if (diagnostics.length > 0) add(file, { raw, configs: [], refused: [], diagnostics });
      }
    }
    return new Map([...documents].map(([file, list]) => [file, parsedFile(file, '', list)]));
  }
}
