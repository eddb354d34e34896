import { basename } from 'node:path';

/** One executable, two names: what it is called says what it is. */
const program = basename(process.argv0) === 'istio-agent' ? 'istio-agent' : 'istiod';

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (program === 'istio-agent') return (await import('./istio-agent.ts')).istioAgent(args);
  return (await import('./istiod.ts')).istiod(args);
}

main().then(
  // At once: what somebody left open must not keep half a program alive.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `${program}: a fault of the program: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exit(70);
  },
);
