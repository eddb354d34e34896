/**
 * The main script of the executable: runs the program with the code cache that stands beside it. Node's own code cache of single
 * executables holds what is compiled when a script is loaded, and hardly any function is; this one was made after istiod had
 * served a client (build/code-cache.mjs), which saves a third of the processor time until it is ready.
 */
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');
const { zstdDecompressSync } = require('node:zlib');

/** More than any of them has, so that it comes in one piece: what is put together of many is in memory twice. */
const MOST_BYTES = 1 << 23;

/** Packed: the executable is 4 MB smaller. */
function asset(name) {
  return zstdDecompressSync(getRawAsset(name), { chunkSize: MOST_BYTES });
}

/** Undefined where there is none: for another processor than that of the machine that builds, and in a reproducible build. */
function codeCache() {
  try {
    return asset('code-cache');
  } catch {
    return undefined;
  }
}

const script = new Script(asset('program').latin1Slice(), { filename: 'istiod.cjs', cachedData: codeCache() });
if (script.cachedDataRejected) process.emitWarning('the code cache is of another Node: starting takes longer');
script.runInThisContext()(exports, require, module);
