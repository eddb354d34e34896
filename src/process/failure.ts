/** Exit codes of sysexits(3), by which a caller tells why the process did not start. */
export const EXIT = { usage: 64, noInput: 66, unavailable: 69, software: 70, config: 78 } as const;

/** Why the process can't go on; `message` says what to change and is shown without a stack. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}
