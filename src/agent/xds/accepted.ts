import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '../../proto/discovery.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import type { XdsCache } from './cache.ts';
import { encodedResources } from './cache-file.ts';

/** Responses of one type that are not answered, and what the stream's client has of it. */
interface OfType {
  /** What it had when the stream began; undefined: that is in the cache. */
  staged: Map<string, EncodedResource> | undefined;
  readonly open: Map<string, DeltaDiscoveryResponse>;
}

/**
 * Keeps in the cache what one client takes over on one incremental stream. What it refuses is not kept, and what it had from an
 * earlier stream counts as far as it says that it has it.
 */
export class Accepted {
  readonly #cache: XdsCache;
  readonly #types = new Map<string, OfType>();

  constructor(cache: XdsCache) {
    this.#cache = cache;
  }

  request(request: DeltaDiscoveryRequest): void {
    const { typeUrl, responseNonce, errorDetail, resourceNamesUnsubscribe } = request;
    const ofType = this.#ofType(request);
    const response = ofType.open.get(responseNonce);
    ofType.open.delete(responseNonce);
    if (response !== undefined && errorDetail === undefined) this.#take(ofType, response);
    if (resourceNamesUnsubscribe.length === 0) return;
    if (ofType.staged === undefined) this.#cache.update(typeUrl, [], resourceNamesUnsubscribe);
    else for (const name of resourceNamesUnsubscribe) ofType.staged.delete(name);
  }

  response(response: DeltaDiscoveryResponse): void {
    this.#types.get(response.typeUrl)?.open.set(response.nonce, response);
  }

  #ofType({ typeUrl, initialResourceVersions }: DeltaDiscoveryRequest): OfType {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const had = [...this.#cache.resources(typeUrl)].filter(
      ([name, { version }]) => initialResourceVersions.get(name) === version,
    );
    const ofType: OfType = { staged: new Map(had), open: new Map() };
    this.#types.set(typeUrl, ofType);
    return ofType;
  }

  #take(ofType: OfType, { typeUrl, resources, removedResources }: DeltaDiscoveryResponse): void {
    const changed = resources.flatMap((one) => encodedResources(one, typeUrl));
    if (ofType.staged === undefined) {
      this.#cache.update(typeUrl, changed, removedResources);
      return;
    }
    // With its first answer the server has said what holds now.
    for (const resource of changed) ofType.staged.set(resource.name, resource);
    for (const name of removedResources) ofType.staged.delete(name);
    this.#cache.replace(typeUrl, ofType.staged);
    ofType.staged = undefined;
  }
}
