import { basename } from 'node:path';

/** One executable, two names: what it is called says what it is. */
const program = basename(process.argv0) === 'istio-agent' ? 'istio-agent' : 'istiod';

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (program === 'istio-agent') return (await import('./istio-agent.ts')).istioAgent(args);
  return (await import('./istiod.ts')).istiod(args);
}

/** What was written reaches its reader, who may be slower; one who went away is not waited for. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}

main().then(
  async (code) => {
    await Promise.all([process.stdout, process.stderr].map(flushed));
    // What somebody left open must not keep half a program alive.
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(
      `${program}: a fault of the program: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exit(70);
  },
);
