/**
 * Builds `dist/istiod`: sources to one CommonJS bundle (esbuild), the bundle and a code cache of it into a copy of the Node binary
 * that npm brought (single executable application). Run by `scripts/node`, so that Node 24 does it whatever the machine has.
 */
import { isAscii } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { arch } from 'node:process';
import { constants, zstdCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { inject } from 'postject';
import { writeCodeCache } from './build/code-cache.mjs';
import { lazyPackages } from './build/lazy-packages.mjs';
import { nodeBinary } from './build/node-binary.mjs';
import { NODE_FLAGS } from './build/node-flags.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const target = process.env.TARGET_ARCH ?? arch;
const isNative = target === arch;

await import('./build/generate.ts');
mkdirSync('dist', { recursive: true });
const { metafile } = await build({
  entryPoints: ['src/bin/main.ts'],
  outfile: 'dist/istiod.cjs',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: false,
  legalComments: 'none',
  define: { 'process.env.ISTIOD_VM_VERSION': JSON.stringify(version) },
  metafile: true,
  // What explains broken YAML, reads Lua and regular expressions, writes for terminals, and looks at traces of metrics.
  plugins: [lazyPackages(['yaml', 'luaparse', 're2js', 'pino-pretty', '@opentelemetry/api'])],
  logLevel: 'warning',
});
writeFileSync('dist/istiod.meta.json', JSON.stringify(metafile));

const bundle = readFileSync('dist/istiod.cjs');
if (!isAscii(bundle)) throw new Error('the bundle is read as ASCII: write other characters as escapes');
// A function as Node makes one of each module. The text that runs is to the letter that of which the code cache is made.
writeFileSync('dist/istiod.program', `(function(exports,require,module){${bundle}\n})`);
// It is not the same from run to run.
const hasCodeCache = isNative && process.env.REPRODUCIBLE !== '1';
if (hasCodeCache) await writeCodeCache('dist/istiod.program', 'dist/istiod.cache', NODE_FLAGS);

const assets = { program: 'dist/istiod.program', ...(hasCodeCache ? { 'code-cache': 'dist/istiod.cache' } : {}) };
for (const file of Object.values(assets)) writeFileSync(file, compressed(readFileSync(file)));

const binary = 'dist/istiod.new';
copyFileSync(nodeBinary(target), binary);
chmodSync(binary, 0o755);
strip(binary);
writeFileSync(
  'dist/sea.json',
  JSON.stringify({
    main: 'build/loader.cjs',
    output: 'dist/istiod.blob',
    disableExperimentalSEAWarning: true,
    assets,
    execArgv: NODE_FLAGS,
    execArgvExtension: 'none',
  }),
);
execFileSync(process.execPath, ['--experimental-sea-config', 'dist/sea.json'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
await inject(binary, 'NODE_SEA_BLOB', readFileSync('dist/istiod.blob'), {
  sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
});
const output = isNative ? 'dist/istiod' : `dist/istiod-${target}`;
rmSync(output, { force: true });
copyFileSync(binary, output);
chmodSync(output, 0o755);
rmSync(binary);
rmSync('dist/istiod.blob');
for (const file of Object.values(assets)) rmSync(file);
if (isNative) {
  rmSync('dist/istio-agent', { force: true });
  symlinkSync('istiod', 'dist/istio-agent');
}

/** At a level that packs well; unpacking takes a few milliseconds whatever it is. */
function compressed(bytes) {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
}

/** Debug symbols are a sixth of the binary. Stripping must come before the injection: after it the binary crashes. */
function strip(file) {
  try {
    execFileSync(isNative ? 'strip' : 'aarch64-linux-gnu-strip', [file], { stdio: 'ignore' });
  } catch {
    console.warn('build: no strip on this machine (Debian package binutils): the executable is 16 MB larger');
  }
}
