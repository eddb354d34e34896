const cleanups = new Set<() => void>();
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

function cleanUp(): void {
  for (const cleanup of cleanups) cleanup();
  cleanups.clear();
}

/**
 * Has something done when this process ends, also when it is told to by a signal.
 * @returns takes that back
 */
export function onExit(cleanup: () => void): () => void {
  if (cleanups.size === 0 && !process.listeners('exit').includes(cleanUp)) {
    process.once('exit', cleanUp);
    for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));
  }
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}
