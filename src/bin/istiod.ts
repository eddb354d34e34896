import { EXIT, StartError } from '../istiod/failure.ts';
import { VERSION } from '../istiod/version.ts';

const USAGE = `usage: istiod            run the control plane in the working directory
       istiod check [DIR]  validate a directory of configuration; exit 0: no errors, 2: errors;
                           CHECK_FORMAT=json or sarif for machines, CHECK_STRICT=1 counts warnings
       istiod version      print the version
Settings are files: etc/istio/istiod.yaml, etc/istio/mesh.yaml, etc/istio/conf.
`;

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
      case 'version':
        process.stdout.write(`istiod-vm ${VERSION}\n`);
        return 0;
      case 'help':
      case '-h':
      case '--help':
        process.stdout.write(USAGE);
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

function usage(problem: string): number {
  process.stderr.write(`istiod: ${problem}\n${USAGE}`);
  return EXIT.usage;
}
