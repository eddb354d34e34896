import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const CACHE = '.cache';

/**
 * Path of the Node binary for an architecture. npm installs that of this machine; another one is packed by npm into .cache on
 * first use, and taken only when it is what the lock file says.
 * @param {'x64' | 'arm64'} arch
 */
export function nodeBinary(arch) {
  const name = `node-linux-${arch}`;
  try {
    return require.resolve(`${name}/bin/node`);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
  }
  const { version, integrity } = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages[`node_modules/${name}`];
  const directory = join(CACHE, `${name}-${version}`);
  const binary = join(directory, 'package/bin/node');
  if (existsSync(binary)) return binary;
  const archive = join(CACHE, `${name}-${version}.tgz`);
  mkdirSync(CACHE, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', CACHE, `${name}@${version}`], { stdio: 'ignore' });
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity) throw new Error(`${archive} is not what package-lock.json says: ${found}, not ${integrity}`);
  const unpacked = `${directory}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', archive, '-C', unpacked, 'package/bin/node', 'package/LICENSE']);
  renameSync(unpacked, directory);
  rmSync(archive);
  return binary;
}
