import type { Sidecar } from '#generated/config/specs.ts';
import { isSubsetOfHost } from '../../base/host.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import type { NeededTracer } from './facts.ts';

/** Whether an egress host (`namespace/host`) takes in the service of a tracer. */
function takesIn(entry: string, own: string, { namespace, host }: NeededTracer): boolean {
  const at = entry.indexOf('/');
  const from = entry.slice(0, at);
  const isThere = from === '*' || from === namespace || (from === '.' && own === namespace);
  return isThere && isSubsetOfHost(host, entry.slice(at + 1));
}

/** Sidecars that leave out where traces go: their proxies get no tracer, as they would refuse one without its cluster. */
export const SIDECAR_TRACERS: Analyzer<Sidecar> = {
  kinds: ['Sidecar'],
  *findings({ spec, namespace }, facts) {
    const egress = spec.egress ?? [];
    if (egress.length === 0) return;
    for (const tracer of facts.neededTracers()) {
      if (egress.some(({ hosts }) => hosts.some((entry) => takesIn(entry, namespace, tracer)))) continue;
      const entry = `${tracer.namespace}/${tracer.host}`;
      yield placeOf(['spec', 'egress']).warning(
        `leaves out "${tracer.host}", so that its proxies send no traces to "${tracer.provider}": add "${entry}" to hosts`,
      );
    }
  },
};
