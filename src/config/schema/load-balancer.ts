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

export const SimpleLB: Enum = enumeration('SimpleLB', 'How an endpoint is chosen.', [
  'UNSPECIFIED',
  'LEAST_CONN',
  'RANDOM',
  'PASSTHROUGH',
  'ROUND_ROBIN',
  'LEAST_REQUEST',
]);

export const HTTPCookieAttribute: Message = message('HTTPCookieAttribute', 'An attribute of the cookie.', {
  name: one(string, 'Its name.', { required: true }),
  value: one(string, 'Its value.'),
});

export const HTTPCookie: Message = message(
  'HTTPCookie',
  'A cookie that decides; it is made when absent and `ttl` is set.',
  {
    name: one(string, 'Name of the cookie.', { required: true }),
    path: one(string, 'Path for which it is set.'),
    ttl: one(duration, 'How long it lives; 0s for a session cookie.'),
    attributes: list(HTTPCookieAttribute, 'Further attributes when it is made.'),
  },
);

export const RingHash: Message = message('RingHash', 'A ring of hashes.', {
  minimumRingSize: one(uint64, 'Fewest virtual nodes on the ring. Default 1024.'),
});

export const MagLev: Message = message('MagLev', 'A Maglev table.', {
  tableSize: one(uint64, 'Size of the table, a prime number below 5000011. Default 65537.'),
});

export const ConsistentHashLB: Message = message(
  'ConsistentHashLB',
  'The same key goes to the same endpoint as long as it is there.',
  {
    httpHeaderName: one(string, 'The key is this header.', { oneof: 'hashKey' }),
    httpCookie: one(HTTPCookie, 'The key is a cookie.', { oneof: 'hashKey' }),
    useSourceIp: one(bool, "The key is the client's address.", { oneof: 'hashKey' }),
    httpQueryParameterName: one(string, 'The key is this query parameter.', { oneof: 'hashKey' }),
    ringHash: one(RingHash, 'Choose by a ring of hashes.', { oneof: 'hashAlgorithm' }),
    maglev: one(MagLev, 'Choose by a Maglev table.', { oneof: 'hashAlgorithm' }),
    minimumRingSize: one(uint64, 'Fewest virtual nodes on the ring.', {
      deprecated: 'write `ringHash.minimumRingSize`.',
      deprecatedCode: 'IST0133',
    }),
  },
);

export const BackendUtilizationLB: Message = message(
  'BackendUtilizationLB',
  'Endpoints get traffic by the load that they report.',
  {
    weightStabilizationPeriod: one(duration, 'How long a new endpoint reports before its load counts.'),
    weightExpirationPeriod: one(duration, 'After this time without a report its load no longer counts.'),
    weightUpdatePeriod: one(duration, 'How often weights are computed.'),
    errorUtilizationPenaltyPercent: one(bounded(uint32, { min: 0 }), 'How much errors add to the load, in percent.'),
    metricNamesForComputingUtilization: list(string, 'Reported metrics that make up the load.'),
  },
);

export const LocalityLoadBalancerSettingDistribute: Message = message(
  'LocalityLoadBalancerSettingDistribute',
  'Where traffic from one locality goes.',
  {
    from: one(string, 'Locality of the client, as `region/zone/subzone`; `*` at its end matches any.'),
    to: map(bounded(uint32, { min: 1, max: 100 }), 'Percentages by locality of the endpoint; their sum is 100.'),
  },
);

export const LocalityLoadBalancerSettingFailover: Message = message(
  'LocalityLoadBalancerSettingFailover',
  'Where traffic goes when a region fails.',
  {
    from: one(string, 'The region of the client.'),
    to: one(string, 'The region to use instead.'),
  },
);

export const LocalityLoadBalancerSetting: Message = message(
  'LocalityLoadBalancerSetting',
  'Preference for endpoints that are near.',
  {
    distribute: list(LocalityLoadBalancerSettingDistribute, 'Fixed shares. Not together with `failover`.'),
    failover: list(LocalityLoadBalancerSettingFailover, 'Region to use when the own one fails.'),
    failoverPriority: list(
      string,
      'Labels by which endpoints are ranked: the more of them are equal, from the first on, the better.',
    ),
    enabled: one(bool, 'Whether it is on.'),
  },
);

export const ZoneAwareLoadBalancerSettingFailover: Message = message(
  'ZoneAwareLoadBalancerSettingFailover',
  'Where traffic goes when a region fails.',
  {
    from: one(string, 'The region of the client.'),
    to: one(string, 'The region to use instead.'),
  },
);

export const ZoneAwareLoadBalancerSetting: Message = message(
  'ZoneAwareLoadBalancerSetting',
  'Preference for the own zone that keeps zones evenly loaded.',
  {
    enabled: one(bool, 'Whether it is on.'),
    failover: list(ZoneAwareLoadBalancerSettingFailover, 'Region to use when the own one fails.'),
    failoverPriority: list(string, 'Labels by which endpoints are ranked, as long as they are not labels of locality.'),
    minClusterSize: one(bounded(uint32, { min: 1 }), 'Fewest endpoints for which it works. Default 6.'),
  },
);

export const WarmupConfiguration: Message = message(
  'WarmupConfiguration',
  'A new endpoint gets its full share little by little.',
  {
    duration: one(bounded(duration, { min: 1 }), 'How long it takes.', { required: true }),
    minimumPercent: one(
      bounded(double, { max: 100, min: 0 }),
      'Percentage of its share that it begins with. Default 10.',
    ),
    aggression: one(bounded(double, { min: 0 }), 'How steeply the share grows; 1 is linear. Default 1.'),
  },
);

export const LoadBalancerSettings: Message = message('LoadBalancerSettings', 'How endpoints are chosen.', {
  simple: one(SimpleLB, 'By a simple rule.', { oneof: 'lbPolicy' }),
  consistentHash: one(ConsistentHashLB, 'By a key of the request.', { oneof: 'lbPolicy' }),
  backendUtilization: one(BackendUtilizationLB, 'By the load that endpoints report.', { oneof: 'lbPolicy' }),
  localityLbSetting: one(LocalityLoadBalancerSetting, 'Preference for near endpoints, instead of that of mesh.yaml.'),
  zoneAwareLbSetting: one(
    ZoneAwareLoadBalancerSetting,
    'Preference for the own zone. Not together with `localityLbSetting`.',
  ),
  warmupDurationSecs: one(bounded(duration, { min: 1 }), 'How long a new endpoint takes to its full share.', {
    deprecated: 'write `warmup.duration`.',
  }),
  warmup: one(WarmupConfiguration, 'A new endpoint gets its full share little by little.'),
});
