import { shownCertificate, TlsConnection } from '../../support/tls-client.ts';
import { text } from '../fields.ts';
import type { Check } from '../scenario.ts';
import { firstOf, type Look } from './check-kind.ts';

const target = ({ connect, sni }: Check) => ({ to: text(connect), servername: text(sni) });

/** The certificate that a server shows to a client that asks for a name. */
export const tls: Look = async (check) => {
  const { serial, cn, handshake } = check.assert;
  const shown = await shownCertificate(target(check)).catch((error: Error) => error);
  if (shown instanceof Error) return handshake === 'fails' ? undefined : `no handshake: ${shown.message}`;
  return firstOf([
    handshake === 'fails' ? `the handshake succeeds with serial ${shown.serial}` : undefined,
    serial === undefined || shown.serial === serial ? undefined : `the serial is ${shown.serial}`,
    cn === undefined || shown.commonName === cn ? undefined : `the common name is ${shown.commonName}`,
  ]);
};

/** Connections that checks want open from some step on. */
export class HeldConnections {
  readonly #held = new Map<Check, TlsConnection | Error>();

  /** Opens those that are to be open from this step on. */
  async open(checks: readonly Check[], at: string): Promise<void> {
    for (const check of checks) {
      if (check.kind !== 'conn_alive' || check.assert['opened_at'] !== at) continue;
      this.#held.set(check, await TlsConnection.open(target(check)).catch((error: Error) => error));
    }
  }

  /** Whether a connection is as open as the check wants it: an open one still carries a request. */
  async verdict(check: Check): Promise<string | undefined> {
    const held = this.#held.get(check);
    if (!(held instanceof TlsConnection)) return `it was not opened: ${held?.message ?? 'nobody asked for it'}`;
    const closed = await held.request(text(check['sni'])).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const wanted = check.assert['closed'] === true;
    if ((closed !== undefined) === wanted) return undefined;
    return closed === undefined ? 'it is open' : `it is closed: ${closed}`;
  }

  close(): void {
    for (const held of this.#held.values()) if (held instanceof TlsConnection) held.close();
  }
}

export const connAlive: Look = (check, world) => world.connections.verdict(check);
