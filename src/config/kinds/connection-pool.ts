import type { ConnectionPoolSettings, OutlierDetection } from '#generated/config/specs.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Finding, Place } from '../finding.ts';

/** @see istio/istio pkg/config/validation/validation.go `validateConnectionPool` */
export function* connectionPoolFindings(at: Place, settings: ConnectionPoolSettings | undefined): Generator<Finding> {
  if (settings === undefined) return;
  const { http, tcp } = settings;
  if (http === undefined && tcp === undefined) yield at.error('set "tcp" or "http", or leave connectionPool out');
  if (http?.h2UpgradePolicy === 'UPGRADE' && http.useClientProtocol === true) {
    yield at.at('http', 'useClientProtocol').error('the protocol is HTTP/2 with h2UpgradePolicy UPGRADE: set only one');
  }
  const idle = tcp?.idleTimeout === undefined ? 0 : (parseDuration(tcp.idleTimeout) ?? 0);
  if (Math.abs(idle) >= 1 && (idle < 1 || !Number.isInteger(Math.round(idle * 1e6) / 1e6))) {
    yield at.at('tcp', 'idleTimeout').error('must be 0s or a duration of whole milliseconds');
  }
}

/** @see istio/istio pkg/config/validation/validation.go `validateOutlierDetection` */
export function* outlierDetectionFindings(at: Place, outlier: OutlierDetection | undefined): Generator<Finding> {
  if (outlier === undefined) return;
  const { consecutiveLocalOriginFailures = 0, splitExternalLocalOriginErrors = false } = outlier;
  if (consecutiveLocalOriginFailures > 0 && !splitExternalLocalOriginErrors) {
    yield at
      .at('consecutiveLocalOriginFailures')
      .error('counts only with "splitExternalLocalOriginErrors: true": add that, or remove it');
  }
}
