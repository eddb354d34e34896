import { basename } from 'node:path';
import { istiod } from './istiod.ts';

/** One executable, two names: what it is called says what it is. */
function main(): Promise<number> {
  if (basename(process.argv0) === 'istio-agent') {
    process.stderr.write('istio-agent: not in this version; start Envoy with etc/envoy/sidecar.yaml instead\n');
    return Promise.resolve(69);
  }
  return istiod(process.argv.slice(2));
}

main().then(
  // At once: what somebody left open must not keep half a control plane alive.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`istiod: a fault of the program: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(70);
  },
);
