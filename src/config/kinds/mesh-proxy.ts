import type { PrivateKeyProvider, ProxyConfig, Tracing } from '#generated/config/specs.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Finding, Place } from '../finding.ts';
import { serverAddressProblem } from './addresses.ts';
import { clientTlsFindings } from './client-tls.ts';
import { problem } from './names.ts';

function* addressFindings(at: Place, address: string | undefined): Generator<Finding> {
  if ((address ?? '') === '') return;
  yield* problem(at, serverAddressProblem((address ?? '').replace('$(HOST_IP)', '127.0.0.1')));
}

function* tracingFindings(at: Place, tracing: Tracing): Generator<Finding> {
  for (const name of ['zipkin', 'datadog', 'lightstep'] as const) {
    const tracer = tracing[name];
    if (tracer === undefined) continue;
    const { address = '' } = tracer;
    if (address === '') yield at.at(name, 'address').error('a tracer needs its address, as host:port');
    yield* addressFindings(at.at(name, 'address'), address);
  }
  if (tracing.lightstep !== undefined && (tracing.lightstep.accessToken ?? '') === '') {
    yield at.at('lightstep', 'accessToken').error('is required');
  }
  yield* clientTlsFindings(at.at('tlsSettings'), tracing.tlsSettings, '');
}

function* privateKeyFindings(at: Place, provider: PrivateKeyProvider): Generator<Finding> {
  if ((provider.cryptomb ?? provider.qat) === undefined) yield at.error('says nothing: set cryptomb or qat');
  for (const name of ['cryptomb', 'qat'] as const) {
    const settings = provider[name];
    if (settings === undefined) continue;
    if (parseDuration(settings.pollDelay ?? '0') === 0) yield at.at(name, 'pollDelay').error('must be set, and not 0');
  }
}

/** @see istio/istio pkg/config/validation/agent/validation.go `ValidateMeshConfigProxyConfig` */
export function* meshProxyFindings(at: Place, config: ProxyConfig | undefined): Generator<Finding> {
  if (config === undefined) return;
  for (const name of ['configPath', 'binaryPath', 'serviceCluster', 'discoveryAddress'] as const) {
    if (config[name] === '') yield at.at(name).error('must not be empty: leave it out to have its default');
  }
  if (Math.round(parseDuration(config.drainDuration ?? '0') ?? 0) % 1000 !== 0) {
    yield at.at('drainDuration').error(`"${config.drainDuration}" must be whole seconds`);
  }
  yield* addressFindings(at.at('discoveryAddress'), config.discoveryAddress);
  if (config.tracing !== undefined) yield* tracingFindings(at.at('tracing'), config.tracing);
  yield* addressFindings(at.at('statsdUdpAddress'), config.statsdUdpAddress);
  yield* addressFindings(at.at('envoyMetricsServiceAddress'), config.envoyMetricsServiceAddress);
  yield* addressFindings(at.at('envoyMetricsService', 'address'), config.envoyMetricsService?.address);
  yield* addressFindings(at.at('envoyAccessLogService', 'address'), config.envoyAccessLogService?.address);
  if (config.controlPlaneAuthPolicy === 'INHERIT') {
    yield at.at('controlPlaneAuthPolicy').error('must be NONE or MUTUAL_TLS');
  }
  if (config.proxyMetadata?.['ISTIO_META_DNS_AUTO_ALLOCATE'] !== undefined) {
    yield at
      .at('proxyMetadata', 'ISTIO_META_DNS_AUTO_ALLOCATE')
      .warning('addresses are allocated by the control plane nowadays: remove it', 'IST0002');
  }
  if (config.privateKeyProvider !== undefined) {
    yield* privateKeyFindings(at.at('privateKeyProvider'), config.privateKeyProvider);
  }
}
