import type { Diagnostic } from '../base/diagnostic.ts';
import type { Config } from './config.ts';
import { resourceName } from './parse.ts';
import type { ParsedFile } from './parsed.ts';

/** On an object: the revision of the control plane that it is for. On a node: the one that it wants to be served by. */
export const REVISION_LABEL = 'istio.io/rev';

/** Whether somebody said that the object is for one revision. Where it was let through, it is this control plane's. */
export function namesRevision({ labels }: Pick<Config, 'labels'>): boolean {
  return (labels[REVISION_LABEL] ?? '') !== '';
}

/**
 * What of a file is for a revision: what names it, and what names none. Of two versions of an object in one file the one that
 * names it counts.
 *
 * @see istio/istio pkg/config/model.go `ObjectInRevision`
 */
export function ofRevision(parsed: ParsedFile, revision: string): ParsedFile {
  if (!parsed.configs.some(namesRevision)) return parsed;
  const mine = (config: Config): boolean => !namesRevision(config) || config.labels[REVISION_LABEL] === revision;
  const own = new Set(parsed.configs.filter((config) => namesRevision(config) && mine(config)).map(({ key }) => key));
  const configs = parsed.configs.filter((config) => mine(config) && (namesRevision(config) || !own.has(config.key)));
  const others = parsed.configs.filter((config) => !mine(config));
  const kept = new Set(configs.map(nameOf));
  const gone = new Set(others.map(nameOf).filter((name) => !kept.has(name)));
  const diagnostics = parsed.diagnostics.filter(({ resource }) => resource === undefined || !gone.has(resource));
  return { ...parsed, configs, diagnostics: [...diagnostics, ...others.map((config) => forAnother(config, revision))] };
}

function nameOf({ kind, namespace, name }: Config): string {
  return resourceName(kind, namespace, name);
}

function forAnother(config: Config, revision: string): Diagnostic {
  return {
    severity: 'info',
    code: 'VM0220',
    message: `it is for the revision ${config.labels[REVISION_LABEL]}, and this control plane is ${revision}: see its label ${REVISION_LABEL}`,
    location: config.location,
    resource: nameOf(config),
  };
}
