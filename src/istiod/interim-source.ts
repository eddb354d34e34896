import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MESH, NETWORKS } from '../config/mesh-files.ts';
import { type ParseOptions, parseFile } from '../config/parse.ts';
import type { ConfigSink } from '../config/sink.ts';

const SOURCE = 'file:etc/istio/conf';

/** Reads the whole tree again and again. In the place of the file source until that is there. */
export function interimSource(root: string, sink: ConfigSink, signal: AbortSignal): void {
  const known = new Map<string, string>();
  const options = (file: string): ParseOptions => {
    const base = { source: SOURCE, strict: false };
    if (file === 'etc/istio/mesh.yaml') return { ...base, namespace: '', whole: MESH };
    if (file === 'etc/istio/meshNetworks.yaml') return { ...base, namespace: '', whole: NETWORKS };
    const parts = file.split('/').slice(3);
    return { ...base, namespace: parts.length > 1 ? (parts[0] ?? '') : sink.rootNamespace };
  };
  const scan = (first: boolean) => {
    const files = globSync(
      ['etc/istio/conf/**/*.{yaml,yml,json}', 'etc/istio/mesh.yaml', 'etc/istio/meshNetworks.yaml'],
      {
        cwd: root,
      },
    );
    const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
    if (first) sink.replace([...texts].map(([file, text]) => parseFile(file, text, options(file))));
    else {
      sink.batch(() => {
        for (const [file, text] of texts) {
          if (known.get(file) !== text) sink.apply(file, parseFile(file, text, options(file)));
        }
        for (const file of known.keys()) if (!texts.has(file)) sink.apply(file, undefined);
      });
    }
    known.clear();
    for (const [file, text] of texts) known.set(file, text);
  };
  scan(true);
  const timer = setInterval(() => scan(false), 250);
  signal.addEventListener('abort', () => clearInterval(timer));
}
