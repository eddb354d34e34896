/**
 * Builds `dist/istiod-vm_<version>_<architecture>.deb` from what build.mjs made: lays a source tree under dist/deb, and has
 * debhelper package it there, so that the checkout stays as it is. TARGET_ARCH=arm64 is for the other architecture.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch } from 'node:process';
import { nodeBinary } from './node-binary.mjs';

const LARGEST = 30_000_000;
const target = process.env.TARGET_ARCH ?? arch;
const debianArch = target === 'x64' ? 'amd64' : target;
const executable = target === arch ? 'dist/istiod' : `dist/istiod-${target}`;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const newest = /^istiod-vm \(([^)]+)\)/.exec(readFileSync('debian/changelog', 'utf8'))?.[1];

if (newest !== version) fail(`debian/changelog begins with version ${newest}, package.json says ${version}`);
if (!existsSync(executable)) fail(`${executable} is not there: npm run build makes it`);
const missing = ['dpkg-buildpackage', 'dh'].filter((tool) => !has(tool));
if (missing.length > 0) fail(`no ${missing.join(', no ')} on this machine: apt-get install debhelper dpkg-dev`);

const work = join('dist/deb', debianArch);
const tree = join(work, `istiod-vm-${version}`);
rmSync(work, { recursive: true, force: true });
mkdirSync(join(tree, 'dist'), { recursive: true });
for (const path of ['debian', 'systemd', 'etc/istio/conf/shop', 'etc/envoy', 'docs/man', 'docs/guides', 'dist/schemas'])
  cpSync(path, join(tree, path), { recursive: true, verbatimSymlinks: true });
cpSync(executable, join(tree, 'dist/istiod'));
writeFileSync(join(tree, 'dist/third-party-licenses'), thirdPartyLicenses());
execFileSync('dpkg-buildpackage', ['-us', '-uc', '-b', '-d', `--host-arch=${debianArch}`], {
  cwd: tree,
  stdio: ['ignore', 'ignore', 'inherit'],
  // One thread: the same bytes however many cores the machine has. Nothing of the caller's settings for compilers counts.
  env: { ...process.env, DPKG_DEB_THREADS_MAX: '1', DEB_BUILD_OPTIONS: 'nocheck noautodbgsym', LC_ALL: 'C.UTF-8' },
});
const [name] = readdirSync(work).filter((file) => file.endsWith('.deb'));
cpSync(join(work, name), join('dist', name));
rmSync(work, { recursive: true });

const { size } = statSync(join('dist', name));
console.log(`dist/${name}: ${(size / 1e6).toFixed(1)} MB`);
if (size > LARGEST) fail(`the package is larger than ${LARGEST / 1e6} MB`);

/** The licences of Node and of every package in the bundle: each of them asks to be shown with the binary. */
function thirdPartyLicenses() {
  const inputs = Object.keys(JSON.parse(readFileSync('dist/istiod.meta.json', 'utf8')).inputs);
  const folders = inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  const bundled = [...new Set(folders)].filter((folder) => folder !== undefined).sort();
  const parts = bundled.map((folder) => {
    const { name: title, version: release, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [file] = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), 'utf8') : '';
    return `${title} ${release}: ${license}\n\n${text}`;
  });
  const node = readFileSync(join(nodeBinary(target), '../../LICENSE'), 'utf8');
  return [`Node.js\n\n${node}`, ...parts]
    .map((part) => part.trim())
    .join(`\n\n${'='.repeat(80)}\n\n`)
    .concat('\n');
}

function has(tool) {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, tool)));
}

function fail(message) {
  console.error(`deb: ${message}`);
  process.exit(1);
}
