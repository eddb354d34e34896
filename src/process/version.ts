/** The build writes the package's version in place of the variable. */
export const VERSION: string = process.env['ISTIOD_VM_VERSION'] ?? 'dev';
