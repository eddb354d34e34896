import {
  bool,
  bounded,
  double,
  duration,
  type Enum,
  enumeration,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
  uint64,
} from './schema.ts';

export const SimpleLB: Enum = enumeration('SimpleLB', '', [
  'UNSPECIFIED',
  'LEAST_CONN',
  'RANDOM',
  'PASSTHROUGH',
  'ROUND_ROBIN',
  'LEAST_REQUEST',
]);

export const HTTPCookieAttribute: Message = message('HTTPCookieAttribute', '', {
  name: one(string, '', { required: true }),
  value: one(string, ''),
});

export const HTTPCookie: Message = message('HTTPCookie', '', {
  name: one(string, '', { required: true }),
  path: one(string, ''),
  ttl: one(duration, ''),
  attributes: list(HTTPCookieAttribute, ''),
});

export const RingHash: Message = message('RingHash', '', {
  minimumRingSize: one(uint64, ''),
});

export const MagLev: Message = message('MagLev', '', {
  tableSize: one(uint64, ''),
});

export const ConsistentHashLB: Message = message('ConsistentHashLB', '', {
  httpHeaderName: one(string, '', { oneof: 'hashKey' }),
  httpCookie: one(HTTPCookie, '', { oneof: 'hashKey' }),
  useSourceIp: one(bool, '', { oneof: 'hashKey' }),
  httpQueryParameterName: one(string, '', { oneof: 'hashKey' }),
  ringHash: one(RingHash, '', { oneof: 'hashAlgorithm' }),
  maglev: one(MagLev, '', { oneof: 'hashAlgorithm' }),
  minimumRingSize: one(uint64, '', { deprecated: '' }),
});

export const LocalityLoadBalancerSettingDistribute: Message = message('LocalityLoadBalancerSettingDistribute', '', {
  from: one(string, ''),
  to: map(uint32, ''),
});

export const LocalityLoadBalancerSettingFailover: Message = message('LocalityLoadBalancerSettingFailover', '', {
  from: one(string, ''),
  to: one(string, ''),
});

export const LocalityLoadBalancerSetting: Message = message('LocalityLoadBalancerSetting', '', {
  distribute: list(LocalityLoadBalancerSettingDistribute, ''),
  failover: list(LocalityLoadBalancerSettingFailover, ''),
  failoverPriority: list(string, ''),
  enabled: one(bool, ''),
});

export const ZoneAwareLoadBalancerSettingFailover: Message = message('ZoneAwareLoadBalancerSettingFailover', '', {
  from: one(string, ''),
  to: one(string, ''),
});

export const ZoneAwareLoadBalancerSetting: Message = message('ZoneAwareLoadBalancerSetting', '', {
  enabled: one(bool, ''),
  failover: list(ZoneAwareLoadBalancerSettingFailover, ''),
  failoverPriority: list(string, ''),
  minClusterSize: one(bounded(uint64, { min: 1 }), ''),
});

export const WarmupConfiguration: Message = message('WarmupConfiguration', '', {
  duration: one(bounded(duration, { min: 1 }), '', { required: true }),
  minimumPercent: one(bounded(double, { max: 100, min: 0 }), ''),
  aggression: one(bounded(double, { min: 0 }), ''),
});

export const LoadBalancerSettings: Message = message('LoadBalancerSettings', '', {
  simple: one(SimpleLB, '', { oneof: 'lbPolicy' }),
  consistentHash: one(ConsistentHashLB, '', { oneof: 'lbPolicy' }),
  localityLbSetting: one(LocalityLoadBalancerSetting, ''),
  zoneAwareLbSetting: one(ZoneAwareLoadBalancerSetting, ''),
  warmupDurationSecs: one(bounded(duration, { min: 1 }), ''),
  warmup: one(WarmupConfiguration, ''),
});
