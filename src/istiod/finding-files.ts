import type { Diagnostic } from '../base/diagnostic.ts';
import { type ParsedFile, parsedFile } from '../config/parsed.ts';
import type { ConfigSink } from '../config/sink.ts';

/**
 * Puts findings about files that hold no objects where those about others are.
 * @returns takes all that there are, in the place of those before
 */
export function findingFiles(sink: ConfigSink): (all: readonly Diagnostic[]) => void {
  let told: ReadonlySet<string> | undefined;
  return (all) => {
    const files = new Map(
      [...Map.groupBy(all, ({ location }) => location.file)].map(([file, some]) => [file, holder(file, some)]),
    );
    if (told === undefined) sink.replace([...files.values()]);
    else {
      const gone = told.difference(new Set(files.keys()));
      sink.batch(() => {
        for (const file of gone) sink.apply(file, undefined);
        for (const [file, parsed] of files) sink.apply(file, parsed);
      });
    }
    told = new Set(files.keys());
  };
}

function holder(file: string, diagnostics: readonly Diagnostic[]): ParsedFile {
  return parsedFile(file, '', [{ raw: { file, line: 1, text: '' }, configs: [], refused: [], diagnostics }]);
}
