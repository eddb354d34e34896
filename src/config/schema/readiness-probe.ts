import { bounded, int32, list, type Message, message, one, string, uint32 } from './schema.ts';

export const HTTPHeader: Message = message('HTTPHeader', '', {
  name: one(bounded(string, { pattern: '^[-_A-Za-z0-9]+$' }), ''),
  value: one(string, ''),
});

export const HTTPHealthCheckConfig: Message = message('HTTPHealthCheckConfig', '', {
  path: one(string, ''),
  port: one(bounded(uint32, { min: 1, max: 65535 }), '', { required: true }),
  host: one(string, ''),
  scheme: one(string, ''),
  httpHeaders: list(HTTPHeader, ''),
});

export const TCPHealthCheckConfig: Message = message('TCPHealthCheckConfig', '', {
  host: one(string, ''),
  port: one(bounded(uint32, { min: 1, max: 65535 }), '', { required: true }),
});

export const ExecHealthCheckConfig: Message = message('ExecHealthCheckConfig', '', {
  command: list(bounded(string, { minLength: 1 }), '', { required: true }),
});

export const GrpcHealthCheckConfig: Message = message('GrpcHealthCheckConfig', '', {
  port: one(bounded(uint32, { min: 1, max: 65535 }), ''),
  service: one(string, ''),
});

export const ReadinessProbe: Message = message('ReadinessProbe', '', {
  initialDelaySeconds: one(bounded(int32, { min: 0 }), ''),
  timeoutSeconds: one(bounded(int32, { min: 0 }), ''),
  periodSeconds: one(bounded(int32, { min: 0 }), ''),
  successThreshold: one(bounded(int32, { min: 0 }), ''),
  failureThreshold: one(bounded(int32, { min: 0 }), ''),
  httpGet: one(HTTPHealthCheckConfig, '', { oneof: 'healthCheckMethod' }),
  tcpSocket: one(TCPHealthCheckConfig, '', { oneof: 'healthCheckMethod' }),
  exec: one(ExecHealthCheckConfig, '', { oneof: 'healthCheckMethod' }),
  grpc: one(GrpcHealthCheckConfig, '', { oneof: 'healthCheckMethod' }),
});
