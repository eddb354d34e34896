import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

export const collectGarbage = runInNewContext('gc') as () => void;

/** Long after whatever runs beside the program, a compiler or a collection under way, has let go of what it looks at. */
const ROUNDS = 50;

/**
 * Lets go of what nobody holds, until these are gone. Not in the turn of the event loop in which a WeakRef was read, for that
 * holds it to its end.
 *
 * @returns how many of them are still held
 */
export async function stillHeld(objects: readonly WeakRef<object>[]): Promise<number> {
  let held = objects.length;
  for (let round = 0; held > 0 && round < ROUNDS; round++) {
    await setImmediate();
    collectGarbage();
    held = objects.filter((object) => object.deref() !== undefined).length;
  }
  return held;
}
