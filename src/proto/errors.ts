/** A message of which only the type URL is known: no descriptor of it is built in. */
export class UnknownMessageError extends Error {
  readonly code = 'UNKNOWN_MESSAGE';
  /** The full name, without the prefix of the type URL. */
  readonly messageName: string;

  constructor(messageName: string) {
    super(`the message type "${messageName}" is not known`);
    this.name = 'UnknownMessageError';
    this.messageName = messageName;
  }
}

/** An object does not fit the message that it is to be encoded as. */
export class EncodeError extends Error {
  readonly code = 'ENCODE';

  constructor(message: string) {
    super(message);
    this.name = 'EncodeError';
  }
}

/** Bytes are no well-formed message of the expected type. */
export class DecodeError extends Error {
  readonly code = 'DECODE';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DecodeError';
  }
}
