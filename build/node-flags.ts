/**
 * Flags of the executable's Node. Nobody who may send a signal opens a debugger's port with it. Young objects have 4 MB: with 16,
 * which V8 would take, no change costs 20 clients less, and 1,000 services take 30 MB more (docs/performance.md).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=4', '--disable-sigusr1'];
