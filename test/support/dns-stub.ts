import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { decode } from 'dns-packet';
import { answer, type Zone } from './dns-server.ts';

/** A question that came. */
export interface SeenQuestion {
  readonly name: string;
  readonly protocol: 'udp' | 'tcp';
}

/** What becomes of an answer; undefined: none is sent. */
export type Change = (answer: Buffer, protocol: 'udp' | 'tcp') => Buffer | undefined;

/** A name server of a test over UDP and TCP on a port of 127.0.0.1, which knows all names unless it is told others. */
export class DnsStub {
  readonly questions: SeenQuestion[] = [];
  readonly #zone: Zone;
  readonly #change: Change;
  readonly #udp: Socket = createSocket('udp4');
  readonly #tcp: Server;
  #port = 0;
  #isStopped = false;

  constructor(zone: Zone = { '*': ['198.51.100.7'] }, change: Change = (same) => same) {
    this.#zone = zone;
    this.#change = change;
    this.#udp.on('message', (query, { address, port }) => {
      const response = this.#answer(query, 'udp');
      if (response !== undefined) this.#udp.send(response, port, address);
    });
    this.#tcp = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', (bytes: Buffer) => {
        const response = this.#answer(bytes.subarray(2), 'tcp');
        if (response === undefined) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(response.length);
        socket.end(Buffer.concat([length, response]));
      });
    });
  }

  /** `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    for (let left = 20; ; left--) {
      this.#tcp.listen(0, '127.0.0.1');
      await once(this.#tcp, 'listening');
      const bound = this.#tcp.address();
      this.#port = typeof bound === 'object' && bound !== null ? bound.port : 0;
      try {
        this.#udp.bind(this.#port, '127.0.0.1');
        await once(this.#udp, 'listening');
        return;
      } catch (error) {
        // The port is free for one protocol only.
        this.#tcp.close();
        if (left === 1) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#tcp.close();
    await new Promise<void>((resolve) => this.#udp.close(() => resolve()));
  }

  #answer(query: Buffer, protocol: 'udp' | 'tcp'): Buffer | undefined {
    this.questions.push({ name: decode(query).questions?.[0]?.name ?? '', protocol });
    return this.#change(answer(query, this.#zone), protocol);
  }
}
