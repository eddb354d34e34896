import { type LookupAddress, lookup } from 'node:dns';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { isIpAddress } from '../base/address.ts';
import { cidrBlock, cidrContains } from '../base/cidr.ts';

/** Why a text could not be had, in words that follow the URL: `http://a/keys answers with status 503`. */
export class FetchError extends Error {}

export interface FetchLimits {
  /** Of all attempts together, redirections too. Milliseconds. */
  readonly timeoutMs: number;
  /** The longest answer. Bytes. */
  readonly maxBytes: number;
  /** Blocks of addresses that are not asked, beside those that nobody should ask. */
  readonly blocked: readonly string[];
  /** The URL that led to this one. */
  readonly from?: string;
  /** Take certificates that nobody vouches for. */
  readonly insecure: boolean;
}

const MAX_REDIRECTIONS = 5;

/** Link-local addresses, and those by which machines of clouds ask for their credentials. */
const NEVER: readonly string[] = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
];

/** Roots that the machine trusts beside Node's own. Read once, when the first connection needs them. */
let roots: readonly string[] | undefined;

function trustedRoots(): string[] {
  roots ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return [...roots];
}

function isRefused(address: string, { blocked }: FetchLimits): boolean {
  // An IPv4 address may be written as IPv6.
  const plain = (cidrBlock(address)?.address ?? address).replace(/^::ffff:(?=\d+\.)/, '');
  return [...NEVER, ...blocked].some((block) => cidrContains(block, plain));
}

/** Looks at what a name stands for when the connection is made, so that nobody can change it in between. */
function guardedLookup(limits: FetchLimits): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const found: readonly LookupAddress[] = addresses ?? [];
      const allowed = found.filter(({ address }) => !isRefused(address, limits));
      const [first] = allowed;
      if (error !== null) callback(error, '', 0);
      else if (first === undefined) callback(new FetchError(refusedAddress(found[0]?.address ?? hostname)), '', 0);
      else if (options.all) callback(null, [...allowed]);
      else callback(null, first.address, first.family);
    });
  };
}

function refusedAddress(address: string): string {
  return `is not asked, as ${address} is an address that only the machine itself should ask`;
}

/** @throws FetchError for a URL that is not asked */
function askedUrl(text: string, from: string | undefined): URL {
  const url = URL.parse(text, from);
  if (url === null) throw new FetchError('is no URL: write one that begins with https:// or http://');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError(`leads to ${url.protocol}//, and only http:// and https:// are asked`);
  }
  if (from?.startsWith('https:') && url.protocol === 'http:') {
    throw new FetchError('leads from https:// to http://, where anybody on the way could answer');
  }
  return url;
}

function answer(url: URL, limits: FetchLimits, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isRefused(host, limits)) throw new FetchError(refusedAddress(host));
  const options = {
    agent: false,
    signal,
    headers: { accept: 'application/json, */*;q=0.5', 'user-agent': 'istiod-vm' },
    ...(isIpAddress(host) ? {} : { lookup: guardedLookup(limits) }),
  } as const;
  return new Promise((resolve, reject) => {
    const asked =
      url.protocol === 'https:'
        ? tlsRequest(url, {
            ...options,
            ca: trustedRoots(),
            minVersion: 'TLSv1.2',
            rejectUnauthorized: !limits.insecure,
          })
        : plainRequest(url, options);
    asked.on('response', resolve);
    asked.on('error', reject);
    asked.end();
  });
}

async function body(response: IncomingMessage, { maxBytes }: FetchLimits): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw new FetchError(`answers with more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function followed(url: URL, limits: FetchLimits, signal: AbortSignal, left = MAX_REDIRECTIONS): Promise<string> {
  const response = await answer(url, limits, signal);
  const { statusCode = 0, headers } = response;
  if (statusCode >= 200 && statusCode < 300) return await body(response, limits);
  response.destroy();
  if (statusCode < 300 || statusCode >= 400 || headers.location === undefined) {
    throw new FetchError(`answers with status ${statusCode}`);
  }
  if (left === 0) throw new FetchError(`leads on more than ${MAX_REDIRECTIONS} times`);
  return await followed(askedUrl(headers.location, url.href), limits, signal, left - 1);
}

/** Systems' and TLS's reasons, in words; others as they are. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections: nothing listens there',
  ECONNRESET: 'closed the connection',
  EHOSTUNREACH: 'can not be reached',
  ENETUNREACH: 'can not be reached',
  ETIMEDOUT: 'can not be reached in time',
  ENOTFOUND: 'has a host that DNS does not know',
  EAI_AGAIN: 'has a host that DNS can not be asked about now',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate that no root of this machine vouches for',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate that no root of this machine vouches for',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate that no root of this machine vouches for',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate that no root of this machine vouches for',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for other hosts',
};

function reason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0]);
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `can not be read: ${message}`;
}

/**
 * The text at a URL of http or https. It follows redirections, never to another scheme, nor from https to http.
 *
 * @throws FetchError
 */
export async function fetchText(text: string, limits: FetchLimits, stop: AbortSignal): Promise<string> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  try {
    return await followed(askedUrl(text, limits.from), limits, AbortSignal.any([late, stop]));
  } catch (error) {
    if (error instanceof FetchError) throw error;
    if (late.aborted) throw new FetchError(`does not answer within ${limits.timeoutMs} ms`, { cause: error });
    throw new FetchError(reason(error), { cause: error });
  }
}
