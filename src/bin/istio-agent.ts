import { EXIT, StartError } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import { AGENT_COMMANDS, usageText } from './commands.ts';
import { ownControlPlane } from './own-control-plane.ts';

const SETTINGS = 'Settings are var/lib/istio/envoy/sidecar.env and cluster.env, and the environment, which wins.';

/** Runs one verb. @returns the exit code */
export async function istioAgent(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  try {
    switch (verb) {
      case undefined:
        return await (await import('../agent/run.ts')).run(process.cwd(), process.env, ownControlPlane);
      case 'check':
        if (rest.length > 0) return usage(`check takes nothing, not "${rest[0]}"`);
        return await (await import('../agent/check/check.ts')).check(process.cwd(), process.env, process.stdout);
      case 'iptables':
        return await capture(rest);
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

const CAPTURE_VERBS = ['print', 'apply', 'check', 'remove'] as const;

async function capture([verb, ...others]: readonly string[]): Promise<number> {
  const known = CAPTURE_VERBS.find((one) => one === verb);
  if (known === undefined || others.length > 0) return usage(`iptables takes one of ${CAPTURE_VERBS.join(', ')}`);
  const { iptables } = await import('../agent/capture/command.ts');
  return iptables(process.cwd(), process.env, known, process.stdout);
}

function usage(problem: string): number {
  process.stderr.write(`istio-agent: ${problem}\n${usageText(AGENT_COMMANDS, SETTINGS)}`);
  return EXIT.usage;
}
