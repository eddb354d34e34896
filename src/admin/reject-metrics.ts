import { Counter, Gauge, type Registry } from 'prom-client';
import type { StreamInfo } from '../xds/events.ts';
import type { Nack } from '../xds/provider.ts';
import { SHORT_TYPES, typeLabel } from './short-type.ts';

/** Counts refusals: for good by type, and by proxy as long as its stream is open. */
export interface RejectMetrics {
  rejected(stream: StreamInfo, typeUrl: string, nack: Nack): void;
  closed(stream: StreamInfo): void;
}

/** Names of `google.rpc.Code`, as Go's gRPC writes them. */
const CODES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

export function rejectMetrics(registry: Registry): RejectMetrics {
  const registers = [registry];
  const total = new Counter({
    name: 'pilot_total_xds_rejects',
    help: 'Responses that proxies refused, by type.',
    labelNames: ['type'],
    registers,
  });
  const perProxy = SHORT_TYPES.map((type) => {
    const name = `pilot_xds_${type}_reject`;
    const help = `${type.toUpperCase()} responses that a connected proxy refused, by its name and its error code.`;
    return [type, new Gauge({ name, help, labelNames: ['node', 'err'], registers })] as const;
  });
  const gauges = new Map<string, Gauge<'node' | 'err'>>(perProxy);
  const open = new Map<StreamInfo, Set<string>>();
  for (const type of SHORT_TYPES) total.inc({ type }, 0);
  return {
    rejected(stream, typeUrl, nack) {
      const type = typeLabel(typeUrl);
      const err = CODES[nack.code] ?? 'Unknown';
      total.inc({ type });
      gauges.get(type)?.inc({ node: stream.proxy, err });
      open.set(stream, (open.get(stream) ?? new Set()).add(err));
    },
    closed(stream) {
      for (const err of open.get(stream) ?? [])
        for (const [, gauge] of perProxy) gauge.remove({ node: stream.proxy, err });
      open.delete(stream);
    },
  };
}
