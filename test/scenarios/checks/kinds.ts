import { csr } from './certificates.ts';
import type { Look } from './check-kind.ts';
import { dns } from './dns.ts';
import { configDump, envoy, envoyStat, traffic } from './envoys.ts';
import { diag, status } from './findings.ts';
import { inboundTls, rbac } from './identities.ts';
import { nds } from './names.ts';
import { cli, debug, metric, processState } from './product.ts';
import { grpcScript, push } from './pushes.ts';
import { ldsRemoved, sameAs, xds, xdsSet } from './resources.ts';
import { ldsRoute, rdsRoute } from './routes.ts';
import { connAlive, tls } from './tls.ts';

/** How each kind of check is looked at. `load` is not here: it runs around a step. */
export const KINDS: Readonly<Record<string, Look>> = {
  cli,
  conn_alive: connAlive,
  config_dump: configDump,
  csr,
  debug,
  diag,
  dns,
  envoy,
  envoy_stat: envoyStat,
  grpc_script: grpcScript,
  inbound_tls: inboundTls,
  lds_removed: ldsRemoved,
  lds_route: ldsRoute,
  metric,
  nds,
  process: processState,
  push,
  rbac,
  rds_route: rdsRoute,
  same_as: sameAs,
  status,
  tls,
  traffic,
  xds,
  xds_set: xdsSet,
};

/** Kinds that do something, so that they are performed once. */
export const ONCE: ReadonlySet<string> = new Set(['grpc_script', 'cli']);
