import type { Hostname } from '../../base/host.ts';

/** Where a provider of mesh.yaml is reached. */
export interface ProviderService {
  readonly hostname: Hostname;
  readonly cluster: string;
}

/**
 * Looks up the service of a provider, written as `host` or `namespace/host`.
 *
 * @returns undefined when there is none, or several of the name and no namespace tells which
 */
export type FindService = (service: string, port: number) => ProviderService | undefined;
