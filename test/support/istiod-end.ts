import { Child, type Exit } from './child.ts';
import { istiodCommand } from './istiod-process.ts';
import { waitFor } from './wait.ts';

export interface Ended extends Exit {
  /** Standard output and standard error. */
  readonly output: string;
}

/** Runs the executable until it ends by itself. @throws Error when it goes on */
export async function istiodEnd(
  root: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = new Child([...istiodCommand(), ...args], { cwd: root, env });
  try {
    const exit = await waitFor(() => child.exit, { what: `end of istiod ${args.join(' ')}`, withinMs: 20_000 });
    return { ...exit, output: child.output };
  } finally {
    await child.stop('SIGKILL');
  }
}
