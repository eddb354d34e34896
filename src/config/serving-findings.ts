import { type Diagnostic, formatLocation } from '../base/diagnostic.ts';
import type { Config, ConfigKey } from './config.ts';
import type { HeldFile, Occurrence } from './held-file.ts';
import { resourceName } from './parse.ts';
import { namesRevision } from './revision.ts';
import type { Standing } from './source-state.ts';

/** What of an object is served, and why not what stands in a file. */
export interface Served {
  readonly standing: Standing;
  readonly source: string;
}

/** Names in one message; more are counted. */
const MOST_NAMES = 5;

/** Findings about objects of a file that are served in another version than the one that stands in it. */
export function servingFindings(
  source: string,
  { parsed, objects, overridden }: HeldFile,
  served: (key: ConfigKey) => Served | undefined,
): readonly Diagnostic[] {
  const findings = overridden.map(({ config, by }) =>
    shadowed(config, `it stands again at ${formatLocation(by.location)}, which counts as it comes later in the file`),
  );
  const presumed: Config[] = [];
  for (const [key, occurrence] of objects) {
    const now = served(key);
    const isServed = now?.source === source && now.standing.file === parsed.file;
    if (isServed && occurrence.state === 'valid') continue;
    if (!isServed) {
      if (now !== undefined && occurrence.state !== 'presumed' && !givesWay(occurrence.config, now))
        findings.push(elsewhere(source, occurrence, now));
    } else if (occurrence.refusedAt !== undefined) findings.push(held(occurrence.config, occurrence.refusedAt));
    else presumed.push(occurrence.config);
  }
  const [refused] = parsed.refused.filter(({ key }) => key === undefined);
  if (presumed.length > 0 && refused !== undefined) findings.push(heldWith(presumed, refused.location));
  return findings;
}

/** For all revisions, where there is one for this revision. */
function givesWay(config: Config, { standing }: Served): boolean {
  return namesRevision(standing.config) && !namesRevision(config);
}

function nameOf({ kind, namespace, name }: Config): string {
  return resourceName(kind, namespace, name);
}

function shadowed(config: Config, why: string): Diagnostic {
  return {
    severity: 'warning',
    code: 'VM0201',
    message: `${nameOf(config)} is not served from here: ${why}; remove one of them`,
    location: config.location,
    resource: nameOf(config),
  };
}

function elsewhere(source: string, { config, refusedAt }: Occurrence, { standing, source: other }: Served): Diagnostic {
  const place = formatLocation(standing.config.location);
  const why =
    other === source
      ? `it stands at ${place}, too, which counts as its path comes later`
      : `it stands at ${place}, too, and the source ${other} comes first`;
  return { ...shadowed(config, why), location: refusedAt ?? config.location };
}

function version({ location, hash }: Config): string {
  return `${formatLocation(location)}, hash ${hash}`;
}

function held(config: Config, location: Diagnostic['location']): Diagnostic {
  return {
    severity: 'warning',
    code: 'VM0202',
    message: `${nameOf(config)} stays as it was last right (${version(config)}) until this version is right`,
    location,
    resource: nameOf(config),
  };
}

function heldWith(configs: readonly Config[], location: Diagnostic['location']): Diagnostic {
  const named = configs.slice(0, MOST_NAMES).map((config) => `${nameOf(config)} (${version(config)})`);
  const more = configs.length > MOST_NAMES ? ` and ${configs.length - MOST_NAMES} more` : '';
  return {
    severity: 'warning',
    code: 'VM0202',
    message: `what this file held before stays until it can be read: ${named.join(', ')}${more}`,
    location,
    ...(configs.length === 1 && configs[0] !== undefined && { resource: nameOf(configs[0]) }),
  };
}
