/**
 * The main script of the executable: runs the program with the code cache that stands beside it. Node's own code cache of single
 * executables holds what is compiled when a script is loaded, and hardly any function is; this one was made after istiod had
 * served a client (build/code-cache.mjs), which saves a third of the processor time until it is ready.
 */
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');
const { zstdDecompress, zstdDecompressSync } = require('node:zlib');

/**
 * Packed, the executable is 6 MB smaller. There is room for more than any of them has, so that it comes in one piece: what is put
 * together of many is in memory twice.
 */
const UNPACKING = { chunkSize: 1 << 23 };

function run(program, cachedData) {
  const script = new Script(program, { filename: 'istiod.cjs', cachedData });
  if (script.cachedDataRejected) process.emitWarning('the code cache is of another Node: starting takes longer');
  script.runInThisContext()(exports, require, module);
}

/** Undefined where there is none: for another processor than that of the machine that builds, and in a reproducible build. */
function codeCache() {
  try {
    return getRawAsset('code-cache');
  } catch {
    return undefined;
  }
}

// One on another processor meanwhile.
const cache = codeCache();
let program;
if (cache !== undefined)
  zstdDecompress(cache, UNPACKING, (error, unpacked) => {
    if (error) throw error;
    run(program, unpacked);
  });
program = zstdDecompressSync(getRawAsset('program'), UNPACKING).latin1Slice();
if (cache === undefined) run(program);
