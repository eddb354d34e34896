import { type IncomingHttpHeaders, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A request on a connection of its own. */
export interface Probe {
  /** `address:port`, with brackets around IPv6, or a path of a socket. */
  readonly to: string;
  /** Default http. With tcp a line is sent, and all is read that comes. */
  readonly protocol?: 'http' | 'h2' | 'tcp';
  readonly tls?: {
    readonly servername?: string;
    readonly alpn?: readonly string[];
    /** PEM: a certificate of the client's own. */
    readonly cert?: string;
    readonly key?: string;
  };
  /** Default: as `to`. */
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address to connect from. */
  readonly from?: string;
  /** Says in the first line who connects, as a load balancer does (PROXY protocol, version 1). */
  readonly proxyProtocol?: boolean;
}

export interface ProbeAnswer {
  /** 0 when the protocol has none. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Longest wait for the whole answer, in milliseconds. */
const WITHIN_MS = 8_000;

/** @throws Error when there is no connection, it is closed before the answer is whole, or the answer takes too long */
export async function probe(sent: Probe): Promise<ProbeAnswer> {
  const socket = await connection(sent);
  socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error(`no answer within ${WITHIN_MS} ms`)));
  try {
    const { protocol = 'http' } = sent;
    return await { http: overHttp, h2: overHttp2, tcp: overTcp }[protocol](sent, socket);
  } finally {
    socket.destroy();
  }
}

function connection({ to, tls, from, proxyProtocol }: Probe): Promise<Socket> {
  const [, host = '', port = ''] = to.match(/^(.*):(\d+)$/) ?? [];
  const address = { host: host.replace(/[[\]]/g, ''), port: Number(port) };
  const target = to.startsWith('/') ? { path: to } : { ...address, ...(from ? { localAddress: from } : {}) };
  return new Promise((resolve, reject) => {
    const { alpn, ...rest } = tls ?? {};
    const options = { ...target, ...rest, rejectUnauthorized: false, ...(alpn ? { ALPNProtocols: [...alpn] } : {}) };
    const plain = tls && !proxyProtocol ? undefined : connect(target);
    if (proxyProtocol) plain?.once('connect', () => plain.write(proxyLine(plain)));
    const socket = tls ? connectTls(plain === undefined ? options : { ...options, socket: plain }) : (plain as Socket);
    socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error(`no connection within ${WITHIN_MS} ms`)));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('connection closed')));
    socket.once(tls ? 'secureConnect' : 'connect', () => resolve(socket));
  });
}

/** @see https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt section 2.1 */
function proxyLine({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  const family = localAddress?.includes(':') ? 'TCP6' : 'TCP4';
  return `PROXY ${family} ${localAddress} ${remoteAddress} ${localPort} ${remotePort}\r\n`;
}

function overHttp(
  { to, host = to, path = '/', method = 'GET', headers = {} }: Probe,
  socket: Socket,
): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { method, path, setHost: false, headers: { host, ...headers }, createConnection: () => socket },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

function overHttp2(
  { to, host = to, path = '/', method = 'GET', headers = {} }: Probe,
  socket: Socket,
): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://${host}`, { createConnection: () => socket });
    session.on('error', reject);
    const stream = session.request({ ':method': method, ':path': path, ':authority': host, ...headers });
    let status = 0;
    let received: IncomingHttpHeaders = {};
    let body = '';
    stream.setEncoding('utf8');
    stream.on('response', ({ ':status': code = 0, ...rest }) => {
      status = code;
      received = rest as IncomingHttpHeaders;
    });
    stream.on('data', (text: string) => {
      body += text;
    });
    stream.on('error', reject);
    stream.on('close', () =>
      status === 0 ? reject(new Error('stream closed')) : resolve({ status, headers: received, body }),
    );
    stream.end();
  });
}

function overTcp(_probe: Probe, socket: Socket): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    let body = '';
    socket.setEncoding('utf8');
    socket.on('data', (text) => {
      body += text;
    });
    socket.on('error', reject);
    socket.on('close', () =>
      body === '' ? reject(new Error('connection closed')) : resolve({ status: 0, headers: {}, body }),
    );
    socket.write('hello\n');
  });
}
