import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import type { AuthorityTimes, CertificateEvents } from '../admin/certificate-metrics.ts';
import { certificatesIn } from '../base/certificate.ts';
import type { Diagnostic } from '../base/diagnostic.ts';
import { isLoopback, parseAddress } from '../base/host-port.ts';
import type { Environment } from '../process/environment.ts';
import { interfaceAddresses } from '../process/interfaces.ts';
import type { Logger } from '../process/log.ts';
import { Authenticator, type TrustDomains } from '../security/authenticator.ts';
import { CertificateAuthority } from '../security/authority.ts';
import type { JoinToken } from '../security/join-tokens.ts';
import { ServingPair } from '../security/serving-pair.ts';
import { WatchedFiles } from '../sources/watched-files.ts';
import type { Clock } from '../xds/limits.ts';
import { authoritySettings } from './authority-settings.ts';
import { type Callers, callers } from './callers.ts';
import { registerCertificateService } from './certificate-service.ts';
import { authenticatesClients } from './environment.ts';
import { JOIN_TOKENS_FILE } from './join-token-file.ts';
import { jwksSource } from './jwks.ts';
import { authorityPlaces, expiryFindings, finding, readJoinTokens, readText } from './security-files.ts';
import { OUTSIDE_ROOTS, type OwnAuthority } from './serving-certificate.ts';
import type { Settings } from './settings.ts';
import { STATE_DIRECTORY } from './state.ts';
import { type TokenIssuers, tokenIssuers } from './token-issuers.ts';

const NOT_KEPT =
  'nobody gets certificates: a root of its own could not be kept, and no authority is plugged in (etc/cacerts)';

/** Where a root of our own stands, below the working directory. */
const OWN_DIRECTORY = join(STATE_DIRECTORY, 'ca');

export interface SecurityOptions {
  /** The working directory. */
  readonly root: string;
  readonly settings: Settings;
  readonly env: Environment;
  readonly log: Logger;
  readonly clock: Clock;
  /** Whether the state can be written: a root that is not kept is worse than none. */
  readonly isKept: boolean;
  readonly trustDomains: () => TrustDomains;
  /** Whether TLS has roots by which clients are verified. */
  readonly verifiesClients: () => boolean;
  readonly events: CertificateEvents;
}

/** Told of what is read, at once and when it changes. */
export interface SecurityListener {
  /** Roots by which workloads verify each other, in PEM; none when nobody here vouches for any. */
  roots(pem: readonly string[]): void;
  /** All that is wrong with the files. */
  findings(all: readonly Diagnostic[]): void;
}

/** Certificates of the mesh, and who callers are. Does nothing before `start`. */
export class Security {
  readonly callers: Callers;
  /** Undefined when certificates are made for nobody. */
  readonly authority: CertificateAuthority | undefined;
  /** What TLS is served with where no files say. */
  readonly own: OwnAuthority | undefined;
  readonly #options: SecurityOptions;
  readonly #authenticator: Authenticator;
  readonly #issuers: TokenIssuers;
  #joinTokens: readonly JoinToken[] = [];
  #tokenFindings: readonly Diagnostic[] = [];
  #watched: WatchedFiles | undefined;
  #cancelFindings: () => void = () => {};
  #listener: SecurityListener = { roots: () => {}, findings: () => {} };

  constructor(options: SecurityOptions) {
    this.#options = options;
    const { env, clock, log, trustDomains, verifiesClients } = options;
    const inMemory = { load: () => new Map(), save: () => undefined };
    this.#issuers = tokenIssuers(env, log, () => jwksSource(env, inMemory, log));
    this.#authenticator = new Authenticator({
      trustDomains,
      joinTokens: () => this.#joinTokens,
      tokenRules: this.#issuers.rules,
      now: () => clock.date(),
    });
    this.authority = this.#createAuthority();
    const { authority } = this;
    this.callers = callers(this.#authenticator, () => verifiesClients() && authenticatesClients(env));
    if (authority === undefined) return;
    const pair = new ServingPair(authority, () => serverNames(options), clock);
    if (options.settings.listen.grpcTls === '') return;
    this.own = { pair: () => pair.current(), roots: () => authority.issuer?.roots };
  }

  /** Reads what there is, and follows it, unless callers come over plaintext alone. */
  start(listener: SecurityListener): void {
    const { root, settings, log, clock, isKept } = this.#options;
    // Nobody can prove anything over plaintext.
    if (settings.listen.grpcTls === '' && settings.listen.grpcUnix === '') return;
    this.#listener = listener;
    const watched = new WatchedFiles({ base: root, log, clock, changed: (paths) => this.#look(paths) });
    this.#watched = watched;
    // Watched before they are read, so that no write in between is lost.
    watched.watch(new Set([...(this.authority?.paths ?? []), OUTSIDE_ROOTS, JOIN_TOKENS_FILE]));
    this.#readTokens();
    this.authority?.start();
    this.#tellFindings();
    this.#tellIssuer();
    this.#tellRoots();
    this.#planFindings();
    if (this.own !== undefined && this.authority?.issuer === undefined && !isKept) log.warn(NOT_KEPT);
  }

  /** Adds the service that gives certificates. */
  register(server: Server): void {
    const { authority } = this;
    const { events, log } = this.#options;
    if (authority === undefined) return;
    registerCertificateService(server, {
      authority,
      authenticate: this.callers.certificates,
      ownIdentity: (uri) => this.#authenticator.ownIdentity(uri),
      events,
      log,
    });
  }

  /** Until when what signs holds; undefined while nothing does. */
  times(): AuthorityTimes | undefined {
    const { issuer } = this.authority ?? {};
    return issuer && { chain: issuer.chainUntil, root: issuer.rootUntil };
  }

  close(): void {
    this.#watched?.close();
    this.#cancelFindings();
    this.#issuers.close();
    this.authority?.close();
  }

  #createAuthority(): CertificateAuthority | undefined {
    const { root, settings, env, log, clock, isKept, trustDomains } = this.#options;
    const { listen } = settings;
    const own = authoritySettings(env, log);
    if (!own.isOn || (listen.grpcTls === '' && listen.grpcUnix === '')) return undefined;
    return new CertificateAuthority({
      read: (path) => readText(root, path),
      places: authorityPlaces(own.directory),
      generated: isKept
        ? {
            root,
            directory: OWN_DIRECTORY,
            organization: () => trustDomains().own,
            ttlMs: own.rootTtlMs,
            gracePercent: own.gracePercent,
            rsaBits: own.rsaBits,
          }
        : undefined,
      isLazy: listen.grpcTls === '',
      defaultTtlMs: own.defaultTtlMs,
      maxTtlMs: own.maxTtlMs,
      checkMs: own.checkMs,
      clock,
      changed: () => this.#changed(),
    });
  }

  #look(paths: ReadonlySet<string>): void {
    if (paths.has(JOIN_TOKENS_FILE)) {
      this.#readTokens();
      this.#tellFindings();
    }
    if ([...paths].some((path) => path !== JOIN_TOKENS_FILE)) this.authority?.look();
    if (paths.has(OUTSIDE_ROOTS)) this.#tellRoots();
  }

  #readTokens(): void {
    const { tokens, diagnostics } = readJoinTokens(this.#options.root);
    this.#tokenFindings = diagnostics;
    if (tokens !== undefined) this.#joinTokens = tokens;
  }

  #changed(): void {
    this.#tellFindings();
    this.#tellIssuer();
    this.#tellRoots();
  }

  #tellRoots(): void {
    const { issuer } = this.authority ?? {};
    const all = [issuer?.roots ?? '', this.#outsideRoots()].flatMap(certificatesIn);
    const each = new Map(all.map((one) => [one.fingerprint256, one.toString()]));
    this.#listener.roots([...each.values()]);
  }

  /** Roots of an outside authority, beside the server's certificate of it; what is wrong with them TLS says. */
  #outsideRoots(): string {
    try {
      return readText(this.#options.root, OUTSIDE_ROOTS) ?? '';
    } catch {
      return '';
    }
  }

  #tellIssuer(): void {
    const { issuer } = this.authority ?? {};
    if (issuer === undefined) return;
    const subject = issuer.certificate.subject.replaceAll('\n', ', ');
    const until = new Date(issuer.until).toISOString();
    this.#options.log.info({ authority: subject, until }, 'workloads get certificates from the authority');
  }

  #tellFindings(): void {
    const { authority } = this;
    const { problem, issuer } = authority ?? {};
    this.#listener.findings([
      ...(problem === undefined ? [] : [finding('error', 'VM0505', problem.file, problem.message)]),
      ...(issuer === undefined ? [] : expiryFindings(authority?.file ?? '', issuer, this.#options.clock.date())),
      ...this.#tokenFindings,
    ]);
  }

  /** What ends soon does so without a file that changes. */
  #planFindings(): void {
    this.#cancelFindings = this.#options.clock.after(FINDINGS_EVERY, () => {
      this.#tellFindings();
      this.#planFindings();
    });
  }
}

/** Milliseconds. */
const FINDINGS_EVERY = 3_600_000;

/**
 * Names by which proxies reach this server: Istio's, the machine's, and what it listens on.
 * @see istio/istio pilot/pkg/bootstrap/server.go `getDNSNames`
 */
function serverNames({ settings, env }: SecurityOptions): readonly string[] {
  const { namespace, revision, listen } = settings;
  const host = parseAddress(listen.grpcTls)?.host ?? '';
  const isEverywhere = host === '0.0.0.0' || host === '::';
  const services = [
    'istiod',
    'istiod-remote',
    'istio-pilot',
    ...(revision === 'default' ? [] : [`istiod-${revision}`]),
  ];
  const custom = (env['ISTIOD_CUSTOM_HOST'] ?? '').split(',').map((name) => name.trim());
  const addresses = interfaceAddresses().map(({ address }) => address);
  return [
    ...services.map((name) => `${name}.${namespace}.svc`),
    ...custom,
    hostname(),
    'localhost',
    '127.0.0.1',
    '::1',
    ...(isEverywhere ? addresses.filter((address) => !isLoopback(address)).sort() : [host]),
  ].filter((name) => name !== '');
}
