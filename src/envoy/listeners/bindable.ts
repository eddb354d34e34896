/** Ports that a proxy's listeners cannot have. */
export interface PortLimits {
  /** The proxy may not bind ports below 1024. */
  readonly unprivileged: boolean;
  /** Ports that the proxy listens on already: its status and statistics, and where traffic is redirected to. */
  readonly reserved: readonly number[];
  /** The address under which reserved ports are taken. */
  readonly wildcard: string;
}

export interface BindRequest {
  readonly toPort: boolean;
  /** Absent: the wildcard for HTTP, and for all other traffic an address of the service, which nothing else has. */
  readonly bind: string | undefined;
  readonly port: number;
  readonly http: boolean;
}

const FIRST_UNPRIVILEGED = 1024;

/** @see istio/istio pilot/pkg/model/context.go `CanBindToPort` */
export function canBind(limits: PortLimits, { toPort, bind, port, http }: BindRequest): boolean {
  if (toPort && limits.unprivileged && port > 0 && port < FIRST_UNPRIVILEGED) return false;
  const atWildcard = bind === undefined || bind === '' ? http : bind === limits.wildcard;
  return !atWildcard || !limits.reserved.includes(port);
}
