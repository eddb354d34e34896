import { formatLocation, type SourceLocation } from '../base/diagnostic.ts';
import { parseAddress } from '../base/host-port.ts';
import { EXIT, StartError } from '../process/failure.ts';
import type { ListenOption } from './options-schema.ts';
import { portHolder } from './port-holder.ts';
import { OPTIONS_FILE, type Settings } from './settings.ts';

/** An option of `listen` that is on. */
export interface Target {
  readonly option: ListenOption;
  /** As it is written, or its default. */
  readonly text: string;
  /** Where it is written; undefined for a default. */
  readonly place: SourceLocation | undefined;
}

/** Undefined when the option is off. */
export function targetOf({ listen, listenPlaces }: Settings, option: ListenOption): Target | undefined {
  const text = listen[option];
  return text === '' ? undefined : { option, text, place: listenPlaces[option] };
}

/** Why a server can not listen, and what to write in which file. */
export function cannotListen({ option, text, place }: Target, cause: unknown): StartError {
  const port = parseAddress(text)?.port;
  const { why, advice } = explained(cause as NodeJS.ErrnoException, text, port);
  const off = '("" switches it off)';
  const message =
    place === undefined
      ? `listen.${option}: ${text}, its default, ${why}: ${advice}, as "listen: {${option}: …}" in ${OPTIONS_FILE} ${off}`
      : `${formatLocation(place)}: listen.${option}: ${text} ${why}: ${advice} ${off}`;
  return new StartError(EXIT.unavailable, message, { cause });
}

function explained({ code = '', message }: NodeJS.ErrnoException, text: string, port: number | undefined) {
  switch (code) {
    case 'EADDRINUSE': {
      const holder = port === undefined ? undefined : portHolder(port);
      const other = port === undefined ? 'write another path' : 'write another port (0 picks a free one)';
      return { why: `is in use by ${holder ?? 'another process'}`, advice: other };
    }
    case 'EADDRNOTAVAIL':
      return { why: 'is no address of this machine', advice: `write one that is, or :${port} for all` };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { why: 'has a name that nobody knows here', advice: 'write an IP address' };
    case 'EACCES':
    case 'EPERM':
      return port === undefined
        ? { why: 'can not be made by this user', advice: 'write a path in a directory that it may write to' }
        : {
            why: `can not be taken by this user${port < 1024 ? ', as ports below 1024 are for root' : ''}`,
            advice: 'write another port, or give this process the capability CAP_NET_BIND_SERVICE',
          };
    case 'ENOTSOCK':
      return { why: 'is there and no socket', advice: 'write another path, or remove it' };
    case 'ENAMETOOLONG':
      return {
        why: `has ${Buffer.byteLength(text)} bytes, and a socket's path may have 107`,
        advice: 'write a shorter one',
      };
    default:
      return { why: `can not be listened on (${message})`, advice: 'write another address' };
  }
}
