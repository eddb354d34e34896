import { Buffer } from 'node:buffer';
import { ENCODERS } from '#generated/proto/encoder.ts';
import type { google, MessageTypes } from '#generated/proto/types.ts';
import { EncodeError, UnknownMessageError } from './errors.ts';
import { anySize, Frame } from './frame.ts';
import { misfit } from './misfit.ts';
import { typeUrl } from './type-urls.ts';
import { EncodedMessage, Writer } from './writer.ts';

/** What a message of this name holds; any object when the name is only known at run time. */
export type MessageOf<Name extends string> = Name extends keyof MessageTypes ? MessageTypes[Name] : object;

// Encoding never yields, so one buffer serves every call.
const writer: Writer = new Writer(ENCODERS);

/**
 * A message as bytes. Equal messages give equal bytes: fields in order of their numbers, maps in order of their keys, defaults
 * left out.
 *
 * @param message in proto JSON, lowerCamelCase; at any depth it may be `encoded` already
 * @throws UnknownMessageError when the type, or one inside an Any, is not known
 * @throws EncodeError when a key is no field of its message, or a value not of its field's type
 */
export function encodeMessage<Name extends string>(fullName: Name, message: MessageOf<Name>): Uint8Array {
  const encoder = ENCODERS.get(fullName);
  if (encoder === undefined) throw new UnknownMessageError(fullName);
  writer.clear();
  try {
    encoder.write(writer, message, 0);
  } catch (error) {
    if (error instanceof EncodeError)
      throw new EncodeError(misfit(fullName, message) ?? `${fullName}: ${error.message}`);
    throw error;
  }
  return writer.result();
}

/** The bytes of an Any that holds the message. See `encodeMessage`. */
export function encodeAny<Name extends string>(fullName: Name, message: MessageOf<Name>): Uint8Array {
  return encodeMessage('google.protobuf.Any', packed(fullName, message));
}

/** A message as an Any holds it in proto JSON, for a `typedConfig` or the like. Not for well-known types. */
export function packed<Name extends string>(fullName: Name, message: MessageOf<Name>): google.protobuf.Any {
  return { '@type': typeUrl(fullName), ...(message as object) };
}

/** The same around a message that is encoded already. */
export function packedBytes(url: string, bytes: Uint8Array): google.protobuf.Any {
  const name = Buffer.from(url);
  const frame = new Frame(anySize(name, { bytes }), 0);
  frame.bytes(0x0a, name);
  if (bytes.length > 0) frame.bytes(0x12, bytes);
  return encoded('google.protobuf.Any', frame.buffer);
}

/** Stands for a message that `encodeMessage` has encoded already, so that it is copied and not encoded again. */
export function encoded<Name extends string>(_fullName: Name, bytes: Uint8Array): MessageOf<Name> {
  return new EncodedMessage(bytes) as unknown as MessageOf<Name>;
}
