/**
 * Loads packages when they are first used, and not when the program starts: an esbuild plugin. What imports them is as it is; each
 * name that they export becomes a getter. For packages that most runs need nothing of.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** @param {readonly string[]} packages whose code does nothing but export */
export function lazyPackages(packages) {
  const filter = new RegExp(`^(?:${packages.map((name) => RegExp.escape(name)).join('|')})$`);
  return {
    name: 'lazy-packages',
    setup(build) {
      build.onResolve({ filter }, ({ path, pluginData }) =>
        pluginData === 'real' ? undefined : { path, namespace: 'lazy-package' },
      );
      build.onLoad({ filter, namespace: 'lazy-package' }, ({ path }) => ({
        contents: standIn(path),
        resolveDir: process.cwd(),
        pluginData: 'real',
      }));
    },
  };
}

function standIn(name) {
  const real = `require(${JSON.stringify(name)})`;
  const exported = require(name);
  // What a function that is exported itself carries besides is not looked at by anybody here.
  if (typeof exported === 'function') return `module.exports = (...args) => ${real}(...args);`;
  const getters = Object.keys(exported).map(
    (key) => `get ${JSON.stringify(key)}() { return ${real}[${JSON.stringify(key)}]; }`,
  );
  return `module.exports = { ${getters.join(',\n')} };`;
}
