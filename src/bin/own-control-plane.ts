import type { ControlPlane, ControlPlaneOrder } from '../agent/run.ts';
import { formatDiagnostic } from '../base/diagnostic.ts';
import { EXIT, StartError } from '../process/failure.ts';

/**
 * A control plane in the agent's own process, for the Envoy beside it: it serves the configuration of this machine over a socket,
 * and at the addresses that istiod.yaml names.
 *
 * @throws StartError when it can not start
 */
export async function ownControlPlane({ root, env, socket, log }: ControlPlaneOrder): Promise<ControlPlane> {
  const { readSettings } = await import('../istiod/settings.ts');
  const { startIstiod } = await import('../istiod/istiod.ts');
  const { settings, diagnostics } = readSettings(root);
  if (settings === undefined) throw new StartError(EXIT.config, diagnostics.map(formatDiagnostic).join('\n'));
  for (const finding of diagnostics) log.warn(formatDiagnostic(finding));
  const written = Object.entries(settings.listen).map(([option, address]) => [
    option,
    option in settings.listenPlaces ? address : '',
  ]);
  const listen = { ...settings.listen, ...Object.fromEntries(written), grpcUnix: socket };
  return await startIstiod({ root, settings: { ...settings, listen }, env, log });
}
