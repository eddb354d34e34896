import { shortType } from '../admin/short-type.ts';
import { type Diagnostic, formatDiagnostic } from '../base/diagnostic.ts';
import type { Logger } from '../process/log.ts';
import type { DiscoveryEvents } from '../xds/events.ts';
import type { FileFindings } from './findings.ts';
import { refusalAdvice } from './refusal-advice.ts';
import type { SourcesOf } from './refused-from.ts';

/** Several observers of the same server, in order. */
export function bothEvents(first: DiscoveryEvents, second: DiscoveryEvents): DiscoveryEvents {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]) as Set<keyof DiscoveryEvents>;
  const all = [...names].map((name) => [
    name,
    (...args: readonly unknown[]) => {
      (first[name] as ((...a: readonly unknown[]) => void) | undefined)?.(...args);
      (second[name] as ((...a: readonly unknown[]) => void) | undefined)?.(...args);
    },
  ]);
  return Object.fromEntries(all) as DiscoveryEvents;
}

/** Logs what happens on streams, and counts it. */
export function logEvents(log: Logger, counted: DiscoveryEvents, sourcesOf: SourcesOf = () => []): DiscoveryEvents {
  return bothEvents(counted, {
    onStreamOpen: ({ proxy, peer, variant, onlyType }) =>
      log.info({ proxy, peer: peer.address, variant, ...(onlyType ? { type: shortType(onlyType) } : {}) }, 'connected'),
    onStreamClose: ({ proxy }, reason) => log.info({ proxy, reason }, 'disconnected'),
    onPush: ({ proxy }, { typeUrl, resources, removed, bytes }) =>
      log.debug({ proxy, type: shortType(typeUrl), resources, removed, bytes }, 'sent'),
    onNack: ({ proxy }, typeUrl, { message, resources }) =>
      log.warn(
        {
          proxy,
          type: shortType(typeUrl),
          resources: resources.slice(0, 10).map(({ name }) => name),
          from: sourcesOf(proxy, { typeUrl, names: resources.map(({ name }) => name), message }),
          refused: message,
          advice: refusalAdvice(message),
        },
        'a proxy refused what it was sent; it keeps what it has, and is not sent the same again',
      ),
    onReject: ({ peer, proxy, code, message }) => log.warn({ peer, proxy, code }, `stream refused: ${message}`),
    onUnservedType: ({ proxy }, typeUrl) => log.debug({ proxy, typeUrl }, 'asked for a type that is not served'),
    onThrottle: ({ proxy }, delayMs) => log.warn({ proxy, delayMs }, 'sends more requests than it may'),
    onError: (error, stream) => log.error({ err: error, proxy: stream?.proxy }, 'a fault of the server ended a stream'),
  });
}

const LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const;

/** One line for each finding that is new, and one for each file that has none any more. */
export function logFindings(log: Logger, changes: readonly FileFindings[]): void {
  for (const { file, before, now } of changes) {
    const known = new Set(before.map(formatDiagnostic));
    for (const finding of now) if (!known.has(formatDiagnostic(finding))) logDiagnostic(log, finding);
    if (now.length === 0 && before.length > 0) log.info(`${file}: nothing is wrong any more`);
  }
}

export function logDiagnostic(log: Logger, finding: Diagnostic): void {
  log[LEVELS[finding.severity]](formatDiagnostic(finding));
}
