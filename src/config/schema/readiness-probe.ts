import { bounded, int32, list, type Message, message, one, string, uint32 } from './schema.ts';

export const HTTPHeader: Message = message('HTTPHeader', 'A header.', {
  name: one(bounded(string, { pattern: '^[-_A-Za-z0-9]+$' }), 'Its name.'),
  value: one(string, 'Its value.'),
});

export const HTTPHealthCheckConfig: Message = message(
  'HTTPHealthCheckConfig',
  'A request whose answer must be 2xx or 3xx.',
  {
    path: one(string, 'Path.'),
    port: one(bounded(uint32, { min: 1, max: 65535 }), 'Port.', { required: true }),
    host: one(string, "Host. Default: the instance's address."),
    scheme: one(string, '`HTTP` or `HTTPS`. Default `HTTP`.'),
    httpHeaders: list(HTTPHeader, 'Headers.'),
  },
);

export const TCPHealthCheckConfig: Message = message('TCPHealthCheckConfig', 'A connection that must succeed.', {
  host: one(string, 'Host. Default: localhost.'),
  port: one(bounded(uint32, { min: 1, max: 65535 }), 'Port.', { required: true }),
});

export const ExecHealthCheckConfig: Message = message('ExecHealthCheckConfig', 'A command that must end with 0.', {
  command: list(bounded(string, { minLength: 1 }), 'The command and its arguments.', { required: true }),
});

export const GrpcHealthCheckConfig: Message = message(
  'GrpcHealthCheckConfig',
  "A question by gRPC's health protocol.",
  {
    port: one(bounded(uint32, { min: 1, max: 65535 }), 'Port.'),
    service: one(string, 'Name of the service that is asked for.'),
  },
);

export const ReadinessProbe: Message = message('ReadinessProbe', 'How the agent tells that an instance is ready.', {
  initialDelaySeconds: one(bounded(int32, { min: 0 }), 'Seconds before the first probe.'),
  timeoutSeconds: one(bounded(int32, { min: 0 }), 'Seconds that a probe may take. Default 1.'),
  periodSeconds: one(bounded(int32, { min: 0 }), 'Seconds between probes. Default 10.'),
  successThreshold: one(bounded(int32, { min: 0 }), 'Good probes in a row that make it ready. Default 1.'),
  failureThreshold: one(bounded(int32, { min: 0 }), 'Bad probes in a row that make it unready. Default 3.'),
  httpGet: one(HTTPHealthCheckConfig, 'An HTTP request.', { oneof: 'healthCheckMethod' }),
  tcpSocket: one(TCPHealthCheckConfig, 'A TCP connection.', { oneof: 'healthCheckMethod' }),
  exec: one(ExecHealthCheckConfig, 'A command.', { oneof: 'healthCheckMethod' }),
  grpc: one(GrpcHealthCheckConfig, "A question by gRPC's health protocol.", { oneof: 'healthCheckMethod' }),
});
