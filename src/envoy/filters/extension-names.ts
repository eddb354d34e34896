/** Whether a message names one of these extensions, at any depth. */
export function namesExtension(message: unknown, names: readonly string[]): boolean {
  if (names.length === 0 || typeof message !== 'object' || message === null) return false;
  if (Array.isArray(message)) return message.some((item) => namesExtension(item, names));
  return Object.entries(message).some(([field, value]) =>
    field === 'name' && typeof value === 'string' ? names.includes(value) : namesExtension(value, names),
  );
}
