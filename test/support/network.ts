import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { onExit } from './on-exit.ts';

/** Ports that Istio captures traffic on. */
export const OUTBOUND_PORT = 15001;
export const INBOUND_PORT = 15006;
/** Whom an Envoy runs as in a namespace: traffic of this user is not captured. */
export const PROXY_UID = 1337;

/** The mark and the routing table by which TPROXY brings packets for other addresses to a local socket. */
const MARK = '1337';
const TABLE = '133';
/** The next hop of every machine. */
export const GATEWAY = '169.254.0.1';
const GATEWAY_V6 = 'fe80::1';
/** Addresses of the world that machines ask for names: the second when they have no IPv4. */
export const NAME_SERVERS: readonly [string, string] = ['169.254.0.53', 'fd53::53'];

/** Why there are no network namespaces here; undefined when there are. */
export function noNamespaces(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  return TOOLS.every(has) ? undefined : `network namespaces need ${TOOLS.filter((tool) => !has(tool)).join(', ')}`;
}

const TOOLS = ['ip', 'iptables', 'setpriv'];

function has(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((directory) => existsSync(`${directory}/${tool}`));
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
}

const PREFIX = 'istiod-e2e';
const ENTER = ['ip', 'netns', 'exec'];
const DIE_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL'];

/** Namespaces that a run which was killed has left behind. */
function sweep(): void {
  for (const line of run('ip', 'netns', 'list').split('\n')) {
    const [name = ''] = line.split(' ');
    const [, pid] = name.match(/^istiod-e2e-(\d+)-/) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) run('ip', 'netns', 'delete', name);
  }
}

const isV6 = (address: string): boolean => address.includes(':');

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** One network namespace: a machine, or all that is not one. */
export class Namespace {
  readonly name: string;
  readonly #addresses = new Set<string>();
  readonly #nameServer: string;

  constructor(name: string, nameServer: string = NAME_SERVERS[0]) {
    this.name = name;
    this.#nameServer = nameServer;
    run('ip', 'netns', 'add', name);
    this.ip('link', 'set', 'lo', 'up');
    this.sysctl('net/ipv6/conf/all/disable_ipv6', '0');
    this.sysctl('net/ipv6/conf/default/accept_dad', '0');
    this.sysctl('net/ipv4/ip_unprivileged_port_start', '0');
  }

  /** Put before a command that shall run here. It dies with this process. */
  get prefix(): readonly string[] {
    return [...ENTER, this.name, ...DIE_WITH_PARENT];
  }

  /**
   * As `prefix`, for a proxy: its user is exempt from capture, it may open transparent sockets, it asks the world's name server,
   * and it has a `/run`, an `/etc` and a `/var/log` of its own, as configuration names sockets and files there.
   *
   * @param etc a directory whose files are put over those of `/etc`
   * @param opt a directory whose files are those of `/opt`
   */
  proxyPrefix(etc?: string, opt?: string): readonly string[] {
    const ownFiles = [
      'mount -t tmpfs -o mode=1777 tmpfs /run',
      'mount -t tmpfs -o mode=1777 tmpfs /var/log',
      'mkdir /run/.upper /run/.work',
      'mount -t overlay -o lowerdir=/etc,upperdir=/run/.upper,workdir=/run/.work overlay /etc',
      'rm -f /etc/resolv.conf',
      `echo nameserver ${this.#nameServer} > /etc/resolv.conf`,
      ...(etc === undefined ? [] : [`cp -r ${etc}/. /etc/`]),
      ...(opt === undefined ? [] : ['mount -t tmpfs tmpfs /opt', `cp -r ${opt}/. /opt/`]),
      'exec "$@"',
    ].join(' && ');
    const user = ['--reuid', String(PROXY_UID), '--regid', String(PROXY_UID), '--clear-groups'];
    const capabilities = ['--inh-caps', '+net_admin', '--ambient-caps', '+net_admin'];
    return [...ENTER, this.name, 'sh', '-c', ownFiles, 'sh', ...DIE_WITH_PARENT, ...user, ...capabilities];
  }

  /** Makes addresses local here. */
  addAddresses(addresses: Iterable<string>): void {
    for (const address of addresses) {
      if (this.#addresses.has(address) || address.startsWith('127.') || address === '::1') continue;
      this.#addresses.add(address);
      this.ip('addr', 'add', `${address}/${isV6(address) ? 128 : 32}`, 'dev', 'lo');
    }
  }

  ip(...args: string[]): void {
    run('ip', '-n', this.name, ...args);
  }

  iptables(rules: readonly string[]): void {
    for (const rule of rules) run('ip', 'netns', 'exec', this.name, 'iptables', '-w', ...rule.split(' '));
  }

  ip6tables(rules: readonly string[]): void {
    for (const rule of rules) run('ip', 'netns', 'exec', this.name, 'ip6tables', '-w', ...rule.split(' '));
  }

  sysctl(path: string, value: string): void {
    run('ip', 'netns', 'exec', this.name, 'sh', '-c', `echo ${value} > /proc/sys/${path}`);
  }

  /** Ends what still runs here, too. */
  delete(): void {
    for (const pid of run('ip', 'netns', 'pids', this.name).split('\n').filter(Boolean)) kill(Number(pid));
    run('ip', 'netns', 'delete', this.name);
  }
}

/** Machines with a world between them, each a network namespace of its own. Needs root. */
export class Network {
  /** All that is not a machine: endpoints without a sidecar, clients from elsewhere. */
  readonly world: Namespace;
  readonly #id: string;
  readonly #machines: Namespace[] = [];
  readonly #forget: () => void;

  constructor() {
    sweep();
    this.#id = `${PREFIX}-${process.pid}-${counter.next().value}`;
    this.world = new Namespace(`${this.#id}-world`);
    this.#forget = onExit(() => this[Symbol.dispose]());
    this.world.sysctl('net/ipv4/ip_forward', '1');
    this.world.sysctl('net/ipv6/conf/all/forwarding', '1');
    this.world.addAddresses([GATEWAY, ...NAME_SERVERS]);
  }

  /** A machine with these addresses, the first of each family its source address. */
  machine(addresses: readonly string[]): Namespace {
    const number = this.#machines.length;
    const nameServer = NAME_SERVERS[addresses.every(isV6) ? 1 : 0];
    const machine = new Namespace(`${this.#id}-m${number}`, nameServer);
    this.#machines.push(machine);
    const link = `to-m${number}`;
    machine.ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', link, 'netns', this.world.name);
    this.world.ip('link', 'set', link, 'up');
    this.world.ip('addr', 'add', `${GATEWAY_V6}/64`, 'dev', link, 'nodad');
    machine.ip('link', 'set', 'eth0', 'up');
    machine.ip('route', 'add', GATEWAY, 'dev', 'eth0');
    for (const address of addresses) {
      const length = isV6(address) ? 128 : 32;
      machine.ip('addr', 'add', `${address}/${length}`, 'dev', 'eth0', ...(isV6(address) ? ['nodad'] : []));
      this.world.ip('route', 'add', `${address}/${length}`, 'dev', link);
    }
    const source = (v6: boolean): readonly string[] => {
      const found = addresses.find((address) => isV6(address) === v6);
      return found === undefined ? [] : ['src', found];
    };
    machine.ip('route', 'add', 'default', 'via', GATEWAY, 'dev', 'eth0', ...source(false));
    machine.ip('-6', 'route', 'add', 'default', 'via', GATEWAY_V6, 'dev', 'eth0', ...source(true));
    return machine;
  }

  [Symbol.dispose](): void {
    this.#forget();
    for (const namespace of [...this.#machines, this.world]) namespace.delete();
    this.#machines.length = 0;
  }
}

const counter = (function* () {
  for (let number = 0; ; number++) yield number;
})();

/** What leaves a machine and what arrives there goes through its proxy, as the rules of Istio have it. */
export function capture(machine: Namespace, mode: 'REDIRECT' | 'TPROXY'): void {
  const outbound = [
    '-t nat -N TO_PROXY',
    `-t nat -A TO_PROXY -p tcp -j REDIRECT --to-ports ${OUTBOUND_PORT}`,
    `-t nat -A OUTPUT -p tcp -o lo -m owner --uid-owner ${PROXY_UID} -j RETURN`,
    `-t nat -A OUTPUT -p tcp -m owner --uid-owner ${PROXY_UID} -j RETURN`,
    '-t nat -A OUTPUT -p tcp -d LOOPBACK -j RETURN',
    '-t nat -A OUTPUT -p tcp -j TO_PROXY',
  ];
  const redirect = [`-t nat -A PREROUTING -p tcp -i eth0 -j REDIRECT --to-ports ${INBOUND_PORT}`];
  // Packets of a connection that a transparent socket has are marked, and come to it by the table; so do the answers of the
  // application, which go to the address of the client.
  const transparent = [
    '-t mangle -N DIVERT',
    `-t mangle -A DIVERT -j MARK --set-mark ${MARK}`,
    '-t mangle -A DIVERT -j ACCEPT',
    '-t mangle -A PREROUTING -p tcp -i eth0 -m conntrack --ctstate RELATED,ESTABLISHED -j DIVERT',
    `-t mangle -A PREROUTING -p tcp -i eth0 -j TPROXY --tproxy-mark ${MARK} --on-port ${INBOUND_PORT}`,
    `-t mangle -A PREROUTING -p tcp -m mark --mark ${MARK} -j CONNMARK --save-mark`,
    `-t mangle -A OUTPUT -p tcp -m connmark --mark ${MARK} -j CONNMARK --restore-mark`,
  ];
  const rules = [...outbound, ...(mode === 'TPROXY' ? transparent : redirect)];
  machine.iptables(rules.map((rule) => rule.replace('LOOPBACK', '127.0.0.0/8')));
  machine.ip6tables(rules.map((rule) => rule.replace('LOOPBACK', '::1/128')));
  if (mode === 'REDIRECT') return;
  for (const family of ['-4', '-6']) {
    machine.ip(family, 'rule', 'add', 'fwmark', MARK, 'lookup', TABLE);
    machine.ip(family, 'route', 'add', 'local', 'default', 'dev', 'lo', 'table', TABLE);
  }
  machine.sysctl('net/ipv4/conf/all/route_localnet', '1');
}
