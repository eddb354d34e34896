import type { IpFamilies } from '../../model/scope.ts';
import type { PortLimits } from './bindable.ts';
import type { L4Client } from './l4-routes.ts';
import type { AddressView } from './service-address.ts';

/** What of a proxy decides which outbound listeners it has. */
export interface PlanView extends L4Client {
  readonly families: IpFamilies;
  readonly addresses: AddressView;
  /** Nothing redirects the workload's connections, so every listener is bound. */
  readonly bindsAll: boolean;
  readonly limits: PortLimits;
  readonly dnsDomain: string;
  /** HTTP/1.0 is accepted, so it is looked for. */
  readonly http10: boolean;
  /** The workload's own address: it does not reach itself through a listener for its endpoint. */
  readonly ownAddress?: string;
}
