/**
 * What becomes of each item, in order of the items, while `width` workers each take the next one.
 * @throws the error of the first item that fails, when it is that item's turn
 */
export async function* inParallel<T, R>(
  items: readonly T[],
  width: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const outcomes = items.map(() => Promise.withResolvers<R>());
  // Errors are thrown at their turn; until then they are nobody's.
  for (const { promise } of outcomes) promise.catch(() => {});
  const rest = items.entries();
  const worker = async () => {
    for (const [i, item] of rest) {
      try {
        outcomes[i]?.resolve(await run(item));
      } catch (error) {
        outcomes[i]?.reject(error);
      }
    }
  };
  for (let i = 0; i < width; i++) void worker();
  for (const { promise } of outcomes) yield await promise;
}
