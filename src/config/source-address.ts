import type { ConfigSource } from '#generated/config/specs.ts';

/** The directory of configuration, which alone is read of files. */
const DIRECTORY = 'etc/istio/conf';

/** An entry of `configSources`. */
export interface SourceAddress {
  /** `fs`, `xds`, which is meant where there is none, or another that is not known. */
  readonly scheme: string;
  /** A path, or `host:port`. */
  readonly rest: string;
}

export function sourceAddress(address: string): SourceAddress {
  const [, scheme = 'xds', rest = ''] = /^(?:([a-z0-9]+):\/\/)?(.*)$/.exec(address) ?? [];
  return { scheme, rest };
}

/** Why a source can not be read, and which field of it says so; undefined when it can. */
export function sourceProblem({
  address = '',
  tlsSettings,
}: ConfigSource): { readonly field: 'address' | 'tlsSettings'; readonly message: string } | undefined {
  const { scheme, rest } = sourceAddress(address);
  if ((tlsSettings?.mode ?? 'DISABLE') !== 'DISABLE') {
    return { field: 'tlsSettings', message: 'the source is not read: sources are read in plaintext only' };
  }
  const isKnown =
    scheme === 'xds' ? rest !== '' : scheme === 'fs' && `/${rest}`.replace(/\/+$/, '').endsWith(`/${DIRECTORY}`);
  const advice = `write fs:// with the path of ${DIRECTORY}, or xds://host:port`;
  return isKnown ? undefined : { field: 'address', message: `"${address}" is not read: ${advice}` };
}
