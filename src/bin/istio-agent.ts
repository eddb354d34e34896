import { EXIT, StartError } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import { AGENT_COMMANDS, usageText } from './commands.ts';

const SETTINGS = 'Settings are var/lib/istio/envoy/sidecar.env and cluster.env, and the environment, which wins.';

/** Runs one verb. @returns the exit code */
export async function istioAgent(args: readonly string[]): Promise<number> {
  const [verb] = args;
  try {
    switch (verb) {
      case undefined:
        return await (await import('../agent/run.ts')).run(process.cwd(), process.env);
      case 'version':
        process.stdout.write(`istio-agent of istiod-vm ${VERSION}\n`);
        return 0;
      case 'help':
      case '-h':
      case '--help':
        process.stdout.write(usageText(AGENT_COMMANDS, SETTINGS));
        return 0;
      default:
        return usage(verb.startsWith('-') ? `there are no flags, and so no ${verb}` : `there is no command "${verb}"`);
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`istio-agent: ${error.message}\n`);
    return error.exitCode;
  }
}

function usage(problem: string): number {
  process.stderr.write(`istio-agent: ${problem}\n${usageText(AGENT_COMMANDS, SETTINGS)}`);
  return EXIT.usage;
}
