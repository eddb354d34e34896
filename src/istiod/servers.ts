import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { debugForLocals } from '../admin/access.ts';
import { type Route, requestListener } from '../admin/http.ts';
import type { Logger } from '../process/log.ts';
import { assertFree, freeSocket, listenGrpc, listenGrpcUnix, listenHttp } from './listen.ts';
import { type Target, targetOf } from './listen-failure.ts';
import { Listeners, type Opening } from './listeners.ts';
import type { ListenOption } from './options-schema.ts';
import { type OwnAuthority, ServingCertificate } from './serving-certificate.ts';
import type { Settings } from './settings.ts';

/** What calls come over: TCP in the clear, a socket of this machine alone, or TLS. */
export type ServerTransport = 'plaintext' | 'local' | 'tls';

export interface ServersOptions {
  readonly root: string;
  readonly settings: Settings;
  readonly log: Logger;
  /** What is answered for people and scripts, and what beside it for monitoring. */
  readonly http: readonly Route[];
  readonly monitoring: readonly Route[];
  /** Adds the services for proxies to a server. */
  readonly register: (server: Server, transport: ServerTransport) => void;
  /** What gives the certificate for TLS where no files do; undefined: nothing. */
  readonly authority?: OwnAuthority | undefined;
  /** Told when an address is listened on later than the others. */
  readonly changed: () => void;
}

/** All that a control plane listens on. */
export class Servers {
  /** Undefined when TLS is switched off. */
  readonly certificate: ServingCertificate | undefined;
  readonly #options: ServersOptions;
  readonly #listeners = new Listeners();
  readonly #stop = new AbortController();

  /** @throws StartError when there is a certificate that can not be used */
  constructor(options: ServersOptions) {
    this.#options = options;
    const { root, settings, log, authority } = options;
    this.certificate = settings.listen.grpcTls === '' ? undefined : new ServingCertificate(root, log, authority);
  }

  /** By option of `listen`. */
  get addresses(): Readonly<Record<string, string>> {
    return this.#listeners.addresses;
  }

  /** Answers people, and makes sure that proxies can be answered. @throws StartError which names all that can not be taken */
  async openForPeople(): Promise<void> {
    const { root, http, monitoring, log } = this.#options;
    const answering = (routes: readonly Route[]) =>
      debugForLocals(
        requestListener(routes, (error) =>
          log.error({ err: error }, 'a fault of the server while it answered over HTTP'),
        ),
      );
    const free = async (target: Target): Promise<undefined> => void (await assertFree(target));
    await this.#listeners.open([
      this.#opening('http', (target) => listenHttp(target, answering(http))),
      this.#opening('monitoring', (target) => listenHttp(target, answering([...monitoring, ...http]))),
      this.#opening('grpc', free),
      this.#opening('grpcUnix', async (target) => void (await freeSocket(root, target))),
      this.#needsTls() ? this.#opening('grpcTls', free) : undefined,
    ]);
  }

  /** @throws StartError which names all that can not be taken */
  async openForProxies(): Promise<void> {
    const { root, log } = this.#options;
    const register = (server: Server): void => this.#options.register(server, 'plaintext');
    const registerLocal = (server: Server): void => this.#options.register(server, 'local');
    this.certificate?.look();
    const plain = ServerCredentials.createInsecure();
    await this.#listeners.open([
      this.#opening('grpc', (target) => listenGrpc(target, plain, register)),
      this.#opening('grpcUnix', (target) => listenGrpcUnix(root, target, registerLocal)),
      this.#needsTls() ? this.#tls() : undefined,
    ]);
    if (!this.#needsTls()) await this.#openTls('');
    if (this.certificate !== undefined && this.certificate.credentials === undefined)
      log.info('TLS is off until there are etc/certs/cert-chain.pem and etc/certs/key.pem');
    this.certificate?.follow(() => void this.#openTls('there is a certificate: TLS is on'), this.#stop.signal);
  }

  /** Ends what proxies are connected to; people may ask until the end how it goes. */
  closeForProxies(): Promise<void> {
    this.#stop.abort();
    return this.#listeners.close((option) => option.startsWith('grpc'));
  }

  close(): Promise<void> {
    this.#stop.abort();
    return this.#listeners.close();
  }

  #opening(option: ListenOption, open: (target: Target) => ReturnType<Opening[1]>): Opening | undefined {
    const target = targetOf(this.#options.settings, option);
    return target && [option, () => open(target)];
  }

  #tls(): Opening | undefined {
    const credentials = this.certificate?.credentials;
    if (credentials === undefined) return undefined;
    return this.#opening('grpcTls', async (target) => {
      await assertFree(target);
      return listenGrpc(target, credentials, (server) => this.#options.register(server, 'tls'));
    });
  }

  /** Whether somebody has asked for TLS: by its address, or by a certificate. Nothing else may keep the process from starting. */
  #needsTls(): boolean {
    return this.certificate?.isOfFiles === true || this.#options.settings.listenPlaces.grpcTls !== undefined;
  }

  /** @param told when it is on, for those who wait for it */
  async #openTls(told: string): Promise<void> {
    const { log, changed } = this.#options;
    const opening = this.#tls();
    if (opening === undefined) return;
    try {
      await this.#listeners.open([opening]);
      if (this.#stop.signal.aborted) await this.#listeners.close();
      else if (told !== '') {
        log.info({ grpcTls: this.addresses['grpcTls'] }, told);
        changed();
      }
    } catch (error) {
      log.error(`there is a certificate, but TLS stays off: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
