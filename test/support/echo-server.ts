import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/** What a server tells of a request, or of the first bytes of a connection. */
export interface Echo {
  /** The server's name. */
  readonly backend: string;
  readonly protocol: 'http/1.1' | 'h2' | 'tcp';
  /** Address of the peer. */
  readonly from: string;
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: IncomingHttpHeaders;
  /** The bytes, when they were no HTTP. */
  readonly text?: string;
  readonly tls?: EchoTls;
  /** Where the client asked to be connected to, when it came through a tunnel that ends here. */
  readonly through?: string;
}

export interface EchoTls {
  readonly servername: string;
  /** Empty when none was agreed on. */
  readonly alpn: string;
  /** Alternative names of the client's certificate; empty without one. */
  readonly peer: string;
}

export interface EchoOptions {
  /** `address:port`, with brackets around IPv6, or a path. */
  readonly at: string;
  /** Default: as `at`. */
  readonly name?: string;
  /** PEM. With it the server takes TLS, too, and asks clients for a certificate. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
}

const ALPN = ['h2', 'http/1.1', 'istio-h2', 'istio-http/1.1', 'istio-http/1.0', 'istio'];

/**
 * A server that speaks what it is spoken to, HTTP/1.1, HTTP/2, lines of text, or any of these within TLS, and answers with what
 * it saw, as JSON.
 */
export async function echoServer({ at, name = at, tls }: EchoOptions): Promise<Server> {
  const http = createHttpServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const { method = '', url: path = '', headers, socket } = request;
    request.resume();
    const echo = { ...common(socket), protocol: 'http/1.1', method, path, host: headers.host ?? '', headers };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(echo));
  });
  const http2 = createHttp2Server((request, response) => {
    const { method, url: path, authority: host, headers } = request;
    request.resume();
    const socket = request.stream.session?.socket;
    const echo = { ...common(socket as Socket), protocol: 'h2', method, path, host, headers };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(echo));
  });
  http.on('connect', ({ url = '' }, socket: Socket) => {
    tunnels.set(socket, url);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    take(socket);
  });
  const tunnels = new WeakMap<Socket, string>();
  const common = (socket: Socket): Omit<Echo, 'protocol'> => {
    const through = tunnels.get(socket);
    const seen = { backend: name, ...(through === undefined ? {} : { through }) };
    const from = (socket.remoteAddress ?? '').replace('::ffff:', '');
    if (!(socket instanceof TLSSocket)) return { ...seen, from };
    const peer = socket.getPeerCertificate().subjectaltname ?? '';
    const { servername, alpnProtocol } = socket as TLSSocket & { readonly servername: string | false };
    return { ...seen, from, tls: { servername: servername || '', alpn: alpnProtocol || '', peer } };
  };

  const take = (socket: Socket): void => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.pause();
      const start = first.toString('latin1', 0, 16);
      // A server takes over a connection whose first bytes were put back.
      if (start.startsWith('PRI * HTTP/2') || /^(CONNECT |[A-Z]+ ([/*]|http:))/.test(start)) {
        socket.unshift(first);
        if (start.startsWith('PRI')) http2.emit('connection', socket);
        else http.emit('connection', socket.resume());
      } else if (first[0] === 0x16 && tls) {
        socket.unshift(first);
        const secured = new TLSSocket(socket, {
          isServer: true,
          secureContext: createSecureContext(tls),
          requestCert: true,
          rejectUnauthorized: false,
          SNICallback: (_name, done) => done(null),
          ALPNCallback: ({ protocols }) => protocols.find((protocol) => ALPN.includes(protocol)),
        });
        const through = tunnels.get(socket);
        if (through !== undefined) tunnels.set(secured, through);
        take(secured);
      } else {
        const echo = { ...common(socket), protocol: 'tcp', text: first.toString('latin1') };
        socket.end(`${JSON.stringify(echo)}\n`);
      }
    });
  };

  const server = createServer(take);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const [, host = '', port = ''] = at.match(/^(.*):(\d+)$/) ?? [];
    if (at.startsWith('/')) server.listen(at, resolve);
    else server.listen({ host: host.replace(/[[\]]/g, ''), port: Number(port) }, resolve);
  });
  return server;
}
