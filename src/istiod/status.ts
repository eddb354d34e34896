import type { Writable } from 'node:stream';
import { type Diagnostic, formatDiagnostic, oneLine } from '../base/diagnostic.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { type RunningIstiod, runningIstiod } from './running.ts';

/** What `/debug/syncz` says of one type of one stream. */
interface TypeState {
  readonly state: string;
  readonly subscribed: number;
  readonly withheld: number;
  readonly refused?: string;
}

/** Of `/debug/statusz`, what is read here. */
interface ObjectStatus {
  readonly resource: string;
  readonly accepted: boolean;
  readonly serving: 'current' | 'last-good' | 'none';
  readonly source: string;
  readonly location: string;
  readonly findings: readonly string[];
  readonly refusedBy?: readonly { readonly proxy: string; readonly type: string; readonly message: string }[];
}

const COLUMNS = ['cluster', 'endpoint', 'listener', 'route'] as const;
const HEADS = { cluster: 'CDS', endpoint: 'EDS', listener: 'LDS', route: 'RDS' } as const;

/**
 * Prints how the istiod does that runs in a working directory: its proxies with what each has taken over, its sources, and what
 * was refused by it and by proxies.
 *
 * @returns exit code: 0
 * @throws StartError when none runs there
 */
export async function status(root: string, out: Writable): Promise<number> {
  const istiod = runningIstiod(root);
  if (istiod === undefined) {
    const advice = 'go to its working directory, or start it; it needs listen.http or listen.monitoring to be asked';
    throw new StartError(EXIT.unavailable, `no istiod runs here: ${advice}`);
  }
  out.write(`${(await statusLines(istiod)).join('\n')}\n`);
  return 0;
}

async function statusLines(istiod: RunningIstiod): Promise<readonly string[]> {
  const { version } = await istiod.get<{ readonly version: string }>('/version');
  const streams = await istiod.get<readonly JsonObject[]>('/debug/syncz');
  const objects = await istiod.get<readonly ObjectStatus[]>('/debug/statusz');
  const findings = await istiod.get<readonly Diagnostic[]>('/debug/diagnosticsz');
  const addresses = Object.entries(istiod.addresses).map(([option, address]) => `${option} ${address}`);
  return [
    `istiod-vm ${version} serves: ${addresses.join(', ')}`,
    '',
    ...proxyLines(streams),
    '',
    ...sourceLines(objects),
    ...findings.flatMap(unknownLines),
    ...objects.flatMap(refusalLines),
  ];
}

function proxyLines(streams: readonly JsonObject[]): readonly string[] {
  if (streams.length === 0) return ['no proxy is connected'];
  const rows = streams.map((stream) => [
    oneLine(String(stream['proxy'])),
    ...COLUMNS.map((column) => stateText(stream[`${column}_status`])),
    String(stream['since'] ?? ''),
  ]);
  return table([['PROXY', ...COLUMNS.map((column) => HEADS[column]), 'CONNECTED'], ...rows]);
}

/** Empty when the proxy has not asked for the type. */
function stateText(value: JsonValue | undefined): string {
  if (value === undefined) return '-';
  const { state, withheld } = value as unknown as TypeState;
  return state === 'nacked' ? `REFUSED (${withheld})` : state;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function sourceLines(objects: readonly ObjectStatus[]): readonly string[] {
  if (objects.length === 0) return ['nothing is configured'];
  return [...Map.groupBy(objects, ({ source }) => source)].map(([source, own]) => {
    const refused = own.filter(({ accepted }) => !accepted).length;
    const left = own.filter(({ accepted, serving }) => accepted && serving === 'none').length;
    const parts = [
      `${own.length} objects`,
      ...(refused === 0 ? [] : [`${refused} of them not taken`]),
      ...(left === 0 ? [] : [`${left} of them in namespaces that are not served`]),
    ];
    return `${source}: ${parts.join(', ')}`;
  });
}

const INSTEAD = {
  current: 'served nevertheless',
  'last-good': 'its last good version is served',
  none: 'nothing is served in its place',
} as const;

/** Of what nobody can tell which object it is, as of a file that can not be read. */
function unknownLines(finding: Diagnostic): readonly string[] {
  return finding.severity === 'error' && finding.resource === undefined
    ? [`not taken: ${formatDiagnostic(finding)}`]
    : [];
}

function refusalLines({ resource, accepted, serving, location, findings, refusedBy = [] }: ObjectStatus) {
  const own = accepted ? [] : [`not taken: ${resource}, ${location}; ${INSTEAD[serving]}`, ...findings.map(indented)];
  const byProxies = refusedBy.map(({ proxy, type, message }) => {
    const what = `refused by ${proxy} (${type.toUpperCase()}): ${resource}, ${location}`;
    return oneLine(`${what}: ${message.trim()}`);
  });
  return [...own, ...byProxies];
}

function indented(text: string): string {
  return `  ${text}`;
}
