import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

export const collectGarbage = runInNewContext('gc') as () => void;

/** Lets go of what nobody holds: not in the turn of the event loop in which a WeakRef was read, for that holds it to its end. */
export async function letGo(): Promise<void> {
  await setImmediate();
  collectGarbage();
  await setImmediate();
}
