import { EXIT, StartError } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import { COMMANDS, usageText } from './commands.ts';

const SETTINGS = 'Settings are files: etc/istio/istiod.yaml, etc/istio/mesh.yaml, etc/istio/conf.';

/** Runs one verb. @returns the exit code */
export async function istiod(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  try {
    switch (verb) {
      case undefined:
        return await (await import('../istiod/run.ts')).run(process.cwd(), process.env);
      case 'check':
        if (rest.length > 1) return usage(`check takes one directory, not ${rest.length}`);
        return await (await import('../istiod/check/check.ts')).check(rest[0] ?? '.', process.env, process.stdout);
      case 'diff':
        return await compare(rest);
      case 'status':
        if (rest.length > 0) return usage(`status takes nothing, not "${rest[0]}"`);
        return await (await import('../istiod/status.ts')).status(process.cwd(), process.stdout);
      case 'version':
        process.stdout.write(`istiod-vm ${VERSION}\n`);
        return 0;
      case 'help':
      case '-h':
      case '--help':
        process.stdout.write(usageText(COMMANDS, SETTINGS));
        return 0;
      default:
        return usage(verb.startsWith('-') ? `there are no flags, and so no ${verb}` : `there is no command "${verb}"`);
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`istiod: ${error.message}\n`);
    return error.exitCode;
  }
}

/** The exit code of a comparison that could not be made. */
const NOT_COMPARED = 2;

async function compare([directory, ...others]: readonly string[]): Promise<number> {
  if (directory === undefined || others.length > 0) {
    usage(`diff takes one directory, not ${others.length === 0 ? 'none' : others.length + 1}`);
    return NOT_COMPARED;
  }
  try {
    return await (await import('../istiod/diff/diff.ts')).diff(process.cwd(), directory, process.env, process.stdout);
  } catch (error) {
    if (error instanceof StartError) process.stderr.write(`istiod: ${error.message}\n`);
    else process.stderr.write(`istiod: a fault of the program: ${error instanceof Error ? error.stack : error}\n`);
    return NOT_COMPARED;
  }
}

function usage(problem: string): number {
  process.stderr.write(`istiod: ${problem}\n${usageText(COMMANDS, SETTINGS)}`);
  return EXIT.usage;
}
