import { nearestName } from '../base/nearest-name.ts';
import type { Finding } from './finding.ts';
import type { KindDefinition } from './kind.ts';
import { isUntranslated, KINDS, kindOf } from './kinds/kinds.ts';

/** What a document's apiVersion and kind lead to. */
export interface KindLookup {
  /** Also when the version is not known: objects of other versions have the same identity. */
  readonly kind?: KindDefinition;
  readonly version: string;
  /** Why the document is not read. A warning says that it was likely meant for this server. */
  readonly finding?: Finding;
}

const GROUPS: readonly string[] = [...new Set(KINDS.map(({ group }) => group))].filter((group) => group !== '');

/** The kind that a document names; a kind or version that is not read is one finding and never an error. */
export function kindLookup(apiVersion: string, kindName: string): KindLookup {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  const kind = kindOf(group, kindName);
  if (kind === undefined) return { version, finding: unknownKind(group, apiVersion, kindName) };
  if (kind.versions.includes(version)) return { kind, version };
  const message = `"${apiVersion}" is no version of ${kindName} that is read: write "${apiVersionOf(kind)}"`;
  return { kind, version, finding: { severity: 'warning', code: 'VM0107', path: ['apiVersion'], message } };
}

function apiVersionOf({ group, versions }: KindDefinition): string {
  const [newest = 'v1'] = versions;
  return group === '' ? newest : `${group}/${newest}`;
}

function unknownKind(group: string, apiVersion: string, name: string): Finding {
  if (isUntranslated(group, name)) {
    const message = `${name} is known, but nothing is made of it yet`;
    return { severity: 'info', code: 'VM0002', path: ['kind'], message };
  }
  const meant = likelyMeant(group, name);
  if (meant !== undefined) {
    const what = meant.kind === name ? `"apiVersion: ${apiVersionOf(meant)}"` : `"kind: ${meant.kind}"`;
    return {
      severity: 'warning',
      code: 'VM0106',
      path: [meant.kind === name ? 'apiVersion' : 'kind'],
      message: `${apiVersion} ${name} is not known and is ignored; did you mean ${what}?`,
    };
  }
  const severity = group.endsWith('istio.io') ? 'warning' : 'info';
  return { severity, code: 'VM0106', path: ['kind'], message: `${apiVersion} ${name} is not known and is ignored` };
}

/** A kind of nearly this name in the same group, or of this name in a group of nearly this one's name. */
function likelyMeant(group: string, name: string): KindDefinition | undefined {
  const near = GROUPS.includes(group) || group === '' ? group : nearestName(group, GROUPS);
  if (near !== undefined && near !== group) {
    const found = kindOf(near, name);
    if (found !== undefined) return found;
  }
  const isOurs = group === '' || group.endsWith('istio.io') || GROUPS.includes(group);
  if (!isOurs) return undefined;
  const elsewhere = KINDS.find((kind) => kind.kind === name);
  if (elsewhere !== undefined) return elsewhere;
  const names = KINDS.filter((kind) => kind.group === group).map(({ kind }) => kind);
  const nearest = nearestName(name, names);
  return nearest === undefined ? undefined : kindOf(group, nearest);
}
