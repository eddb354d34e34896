import { EXIT } from '../process/failure.ts';

/** A verb of the executable. */
export interface Command {
  /** `istiod check [DIR]`. */
  readonly usage: string;
  /** One line. */
  readonly doc: string;
  /** Exit codes with what each means, beside those that all commands have. */
  readonly exits: Readonly<Record<number, string>>;
  /** Its variables of the environment. */
  readonly variables: readonly string[];
}

/** All of the control plane's; there are no flags. */
export const COMMANDS: readonly Command[] = [
  {
    usage: 'istiod',
    doc: 'run the control plane in the working directory',
    exits: {
      0: 'it was asked to stop, by SIGTERM or SIGINT',
      [EXIT.noInput]: 'a directory or a certificate can not be read',
      [EXIT.unavailable]: 'an address is taken, or another istiod runs in the directory',
      [EXIT.config]: 'istiod.yaml or a certificate is wrong',
    },
    variables: [],
  },
  {
    usage: 'istiod check [DIR]',
    doc: 'validate a directory of configuration',
    exits: { 0: 'no errors', 2: 'errors', [EXIT.noInput]: 'there is no such directory' },
    variables: ['CHECK_FORMAT', 'CHECK_STRICT'],
  },
  {
    usage: 'istiod diff DIR',
    doc: 'what would change for which proxies if DIR were served',
    exits: { 0: 'nothing changes', 1: 'something changes', 2: 'it can not be compared' },
    variables: ['DIFF_FORMAT', 'DIFF_PROXIES'],
  },
  {
    usage: 'istiod status',
    doc: 'proxies, sources and refusals of the istiod that runs here',
    exits: { 0: 'it answers', [EXIT.unavailable]: 'none runs here, or it does not answer' },
    variables: [],
  },
  { usage: 'istiod version', doc: 'print the version', exits: { 0: 'always' }, variables: [] },
];

/** All of the agent's. */
export const AGENT_COMMANDS: readonly Command[] = [
  {
    usage: 'istio-agent',
    doc: 'run the agent of this machine in the working directory',
    exits: {
      0: 'it was asked to stop, by SIGTERM or SIGINT',
      [EXIT.unavailable]: 'an address is taken, or another agent runs in the directory',
      [EXIT.config]: 'a variable is wrong',
    },
    variables: [],
  },
  {
    usage: 'istio-agent check',
    doc: 'what this machine has and what it lacks, each with what to do',
    exits: { 0: 'nothing is missing', 2: 'something is' },
    variables: [],
  },
  {
    usage: 'istio-agent iptables print',
    doc: 'the rules by which traffic comes to the proxy, as iptables-restore takes them',
    exits: { 0: 'always', [EXIT.config]: 'a variable is wrong' },
    variables: [],
  },
  {
    usage: 'istio-agent iptables apply',
    doc: 'put the rules in, in place of earlier ones; needs root',
    exits: { 0: 'they are in', [EXIT.unavailable]: 'iptables refuses', [EXIT.config]: 'a variable is wrong' },
    variables: [],
  },
  {
    usage: 'istio-agent iptables check',
    doc: 'compare the rules that are in with those that should be; needs root',
    exits: { 0: 'they are the same', 2: 'they differ', [EXIT.unavailable]: 'they can not be seen' },
    variables: [],
  },
  {
    usage: 'istio-agent iptables remove',
    doc: 'take the rules out; needs root',
    exits: { 0: 'they are out', [EXIT.unavailable]: 'iptables refuses' },
    variables: [],
  },
  { usage: 'istio-agent version', doc: 'print the version', exits: { 0: 'always' }, variables: [] },
];

/** Exit codes that every command has. */
export const COMMON_EXITS: Readonly<Record<number, string>> = {
  [EXIT.usage]: 'the command line or a variable is wrong',
  [EXIT.software]: 'a fault of the program',
};

/** @param settings what stands below the commands: where settings are */
export function usageText(commands: readonly Command[], settings: string): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  const lines = commands.map(({ usage, doc, exits, variables }, i) => {
    const own = Object.entries(exits).filter(([code]) => Number(code) < EXIT.usage);
    const codes = own.length < 2 ? '' : `; exit ${own.map(([code, what]) => `${code}: ${what}`).join(', ')}`;
    const line = `${i === 0 ? 'usage: ' : '       '}${usage.padEnd(width)}  ${doc}${codes}`;
    return variables.length === 0 ? line : `${line}\n       ${' '.repeat(width)}  (${variables.join(', ')})`;
  });
  return `${lines.join('\n')}\n${settings}\n`;
}
