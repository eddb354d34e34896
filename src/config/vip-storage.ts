/** The address that a host was given, as it outlives the process. */
export interface StoredVip {
  /** `namespace/hostname`. */
  readonly host: string;
  /** IPv4; the IPv6 address follows from it. */
  readonly address: string;
  /** Nobody has the host any more: the address is kept for its return. */
  readonly reserved: boolean;
}

/** Where allocated addresses outlive the process. Failures are its own concern: they are logged, and never stop a change. */
export interface VipStorage {
  /** Reserved ones in the order in which their hosts went away. */
  load(): readonly StoredVip[];
  /** @param vips all there are, asked for when they are written */
  save(vips: () => readonly StoredVip[]): void;
}
