import { Buffer } from 'node:buffer';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type Address, formatAddress } from '../../base/host-port.ts';
import { HEADER, RCODE, RESPONSE, rcodeOf } from './query.ts';

export type Protocol = 'udp' | 'tcp';

/** Addresses of this process from which questions go out just now, `host:port`, so that one that comes back is known. */
export type OwnAddresses = Pick<Set<string>, 'add' | 'delete'>;

/** One question to one server. */
export interface Exchange {
  /** With an id of its own. */
  readonly message: Buffer;
  /** How many bytes of it are header and question, which an answer repeats. */
  readonly repeated: number;
  readonly server: Address;
  readonly own: OwnAddresses;
  readonly signal: AbortSignal;
}

/**
 * The answer of a server.
 * @throws Error when it can not be reached, or what it sends is no answer; when the signal is aborted
 */
export function exchanged(protocol: Protocol, exchange: Exchange): Promise<Buffer> {
  return protocol === 'udp' ? overUdp(exchange) : overTcp(exchange);
}

type Settle = Pick<PromiseWithResolvers<Buffer>, 'resolve' | 'reject'>;

/** Ends an exchange once: with an answer, an error, or the end of its time. */
class Outcome {
  readonly #exchange: Exchange;
  readonly #settle: Settle;
  readonly #close: () => void;
  readonly #cancel = (): void => this.fail(new Error('it did not answer in time'));
  #from = '';
  #isOver = false;

  /** @param close of the socket */
  constructor(exchange: Exchange, settle: Settle, close: () => void) {
    this.#exchange = exchange;
    this.#settle = settle;
    this.#close = close;
    exchange.signal.addEventListener('abort', this.#cancel, { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The question goes out from there. */
  begin(from: Address): void {
    this.#from = formatAddress(from);
    this.#exchange.own.add(this.#from);
  }

  answer(response: Buffer): void {
    this.#end();
    this.#settle.resolve(response);
  }

  fail(error: Error): void {
    this.#end();
    this.#settle.reject(error);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exchange.signal.removeEventListener('abort', this.#cancel);
    this.#exchange.own.delete(this.#from);
    this.#close();
  }
}

/** A socket of its own for each question: who would forge an answer has to guess its port, too. */
function overUdp(exchange: Exchange): Promise<Buffer> {
  const { message, repeated, server } = exchange;
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
    const outcome = new Outcome(exchange, { resolve, reject }, () => socket.close());
    socket.on('error', (error) => outcome.fail(error));
    // Connected: the kernel drops what others send, and tells when nobody listens there.
    socket.connect(server.port, server.host, () => {
      if (outcome.isOver) return;
      const { address: host, port } = socket.address();
      outcome.begin({ host, port });
      socket.send(message);
    });
    socket.on('message', (response) => {
      if (answers(message, repeated, response)) outcome.answer(response);
    });
  });
}

function overTcp(exchange: Exchange): Promise<Buffer> {
  const { message, repeated, server } = exchange;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.host, port: server.port, noDelay: true });
    const outcome = new Outcome(exchange, { resolve, reject }, () => socket.destroy());
    const parts = new Framed();
    socket.on('error', (error) => outcome.fail(error));
    socket.once('connect', () => {
      outcome.begin({ host: socket.localAddress ?? '', port: socket.localPort ?? 0 });
      socket.write(frame(message));
    });
    socket.on('data', (bytes: Buffer) => {
      for (const response of parts.take(bytes)) {
        if (answers(message, repeated, response)) outcome.answer(response);
        else outcome.fail(new Error('it sent something else than an answer'));
        return;
      }
    });
    socket.once('close', () => outcome.fail(new Error('it closed the connection')));
  });
}

/** A message as it goes over TCP: its length before it. */
export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Messages out of what comes over TCP in pieces. */
export class Framed {
  #rest: Buffer = Buffer.alloc(0);

  /** The length of the message that has begun to come; undefined while that is not known. */
  get announced(): number | undefined {
    return this.#rest.length < 2 ? undefined : this.#rest.readUInt16BE();
  }

  *take(bytes: Buffer): Generator<Buffer> {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (
      let length = this.announced;
      length !== undefined && this.#rest.length >= 2 + length;
      length = this.announced
    ) {
      const message = this.#rest.subarray(2, 2 + length);
      this.#rest = this.#rest.subarray(2 + length);
      yield message;
    }
  }
}

/** Whether a response is one to this message: its id and its question; servers that refuse may leave out the question. */
function answers(message: Buffer, repeated: number, response: Buffer): boolean {
  if (response.length < HEADER || response.readUInt16BE(0) !== message.readUInt16BE(0)) return false;
  if ((response.readUInt16BE(2) & RESPONSE) === 0) return false;
  const questions = response.readUInt16BE(4);
  if (questions === 0) return rcodeOf(response) !== RCODE.noError;
  return (
    questions === 1 &&
    response.length >= repeated &&
    response.toString('latin1', HEADER, repeated).toLowerCase() ===
      message.toString('latin1', HEADER, repeated).toLowerCase()
  );
}
