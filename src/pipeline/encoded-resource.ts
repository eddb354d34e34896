import { contentVersion } from '../base/hash.ts';
import { encodeMessage, type MessageOf } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';

/** A message as it is sent, with the version that its content gives it. */
export function encodedResource<Name extends string>(
  fullName: Name,
  name: string,
  message: MessageOf<Name>,
): EncodedResource {
  const bytes = encodeMessage(fullName, message);
  return { name, version: contentVersion(bytes), bytes };
}

/** Whether two resources are the same, so that nobody needs to be sent the second. */
export function sameVersion(a: EncodedResource | undefined, b: EncodedResource | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.version === b.version && a.name === b.name);
}
