import type { Environment } from '../../process/environment.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { isTrue, readAgentSettings } from '../settings.ts';
import { captureSettings } from './capture-settings.ts';
import { Capture, type Run, runProgram } from './iptables.ts';

/** Exit code of `check` when rules are not as they should be. */
export const DIFFERS = 2;

/** `istio-agent iptables …`. @returns the exit code @throws StartError when it can not be done */
export function iptables(
  root: string,
  env: Environment,
  verb: 'print' | 'apply' | 'check' | 'remove',
  out: { write(text: string): unknown },
  run: Run = runProgram,
): number {
  const { settings, errors } = readAgentSettings(root, env);
  if (settings === undefined) throw new StartError(EXIT.config, errors.join('\n'));
  const capture = new Capture(captureSettings(root, settings.env), run);
  if (verb === 'print') {
    out.write(capture.print());
    return 0;
  }
  if (isTrue(settings.env['ISTIO_CUSTOM_IP_TABLES'])) {
    out.write(
      'ISTIO_CUSTOM_IP_TABLES is true: somebody else sees to the capture, and nothing is looked at or changed\n',
    );
    return 0;
  }
  if (verb === 'check') {
    const differences = capture.differences();
    out.write(differences.length === 0 ? 'traffic is captured as it should be\n' : `${differences.join('\n')}\n`);
    return differences.length === 0 ? 0 : DIFFERS;
  }
  if (verb === 'apply') capture.apply();
  else capture.remove();
  out.write(verb === 'apply' ? 'traffic is captured\n' : 'traffic is not captured any more\n');
  return 0;
}
