import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../../src/base/json.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { type LogRecord, OtlpReceiver, type Span } from '../support/otlp-receiver.ts';
import { probe } from '../support/probe.ts';
import { waitFor } from '../support/wait.ts';
import { LocalMesh, localService } from './local-mesh.ts';

const TIMEOUT_MS = 60_000;
/** Envoy sends spans each five seconds, or five at a time. */
const SPANS_WITHIN_MS = 20_000;

/** A Telemetry for the workload. */
const telemetry = (spec: string): string => `apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: client}
spec:
  selector: {matchLabels: {app: client}}
${spec.replace(/^/gm, '  ')}
`;

let receiver: OtlpReceiver;
let backend: HttpBackend;

before(async () => {
  receiver = await OtlpReceiver.start();
  backend = await HttpBackend.start('web');
});

after(async () => {
  await receiver[Symbol.asyncDispose]();
  await backend.stop();
});

/** A mesh with a web server, the receiver, and a Telemetry. */
class TelemetryMesh {
  readonly mesh: LocalMesh;
  readonly #port: number;

  private constructor(mesh: LocalMesh, port: number) {
    this.mesh = mesh;
    this.#port = port;
  }

  static async start(spec: string, version = '1.40.0'): Promise<TelemetryMesh> {
    const [http = 0, grpc = 0, otlpHttp = 0] = await freePorts(3);
    const providers = `extensionProviders:
- {name: logs, envoyOtelAls: {service: otel.shop.internal, port: ${grpc}, logFormat: {text: '%REQ(:METHOD)% %RESPONSE_CODE%', labels: {path: '%REQ(:PATH)%'}}}}
- {name: text, envoyFileAccessLog: {path: access.log, logFormat: {text: '%REQ(:PATH)% %RESPONSE_CODE%'}}}
- {name: json, envoyFileAccessLog: {path: access.json, logFormat: {labels: {path: '%REQ(:PATH)%', code: '%RESPONSE_CODE%'}}}}
- {name: spans, opentelemetry: {service: otel.shop.internal, port: ${grpc}, resourceDetectors: {environment: {}}}}
- {name: spans-over-http, opentelemetry: {service: otel-http.shop.internal, port: ${otlpHttp}, http: {path: /v1/traces, headers: [{name: x-tenant, value: shop}]}}}
- {name: zipkin, zipkin: {service: web.shop.internal, port: ${http}, path: /spans}}
- {name: datadog, datadog: {service: web.shop.internal, port: ${http}}}
- {name: skywalking, skywalking: {service: otel.shop.internal, port: ${grpc}}}
- {name: requests, envoyHttpAls: {service: otel.shop.internal, port: ${grpc}}}
- {name: connections, envoyTcpAls: {service: otel.shop.internal, port: ${grpc}}}
`;
    const mesh = await LocalMesh.start({
      version,
      ip: '192.0.2.1',
      mesh: providers,
      args: ['--file-flush-interval-msec', '20'],
      files: {
        'shop/services.yaml': [
          localService('web', http, backend.port, 'HTTP'),
          localService('otel', grpc, receiver.grpcPort, 'GRPC'),
          localService('otel-http', otlpHttp, receiver.httpPort, 'HTTP'),
        ].join(''),
        'shop/telemetry.yaml': telemetry(spec),
      },
    });
    return new TelemetryMesh(mesh, http);
  }

  /** @returns the status of the answer */
  async ask(path: string, status = 200): Promise<number> {
    backend.status = status;
    return (await probe({ to: `127.0.0.1:${this.#port}`, host: 'web.shop.internal', path })).status;
  }

  /** Resolves when the Envoy listens as the Telemetry says: when its listener has the text. */
  async say(spec: string, marker: string): Promise<void> {
    this.mesh.write('shop/telemetry.yaml', telemetry(spec));
    await waitFor(async () => (await this.#listener()).includes(marker), { what: `listener with ${marker}` });
  }

  async #listener(): Promise<string> {
    const { configs } = await this.mesh.envoy.configDump();
    const listeners = configs.flatMap((config) => (config['dynamic_listeners'] ?? []) as readonly JsonObject[]);
    const found = listeners.find(({ name }) => name === `127.0.0.1_${this.#port}`);
    return JSON.stringify(found?.['active_state'] ?? {});
  }

  /** Lines of a file that its Envoy logs to. */
  lines(file: string): readonly string[] {
    const path = this.mesh.dir.at(file);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    assert.equal(await this.mesh.envoy.rejected(), 0);
    await this.mesh[Symbol.asyncDispose]();
  }
}

function logOf(path: string): Promise<LogRecord> {
  const find = () => receiver.logs().find(({ attributes }) => attributes['path'] === path);
  return waitFor(find, { what: `log record of ${path}` });
}

function spanOf(path: string): Promise<Span> {
  const find = () => receiver.spans().find(({ attributes }) => attributes['http.url']?.endsWith(path));
  return waitFor(find, { what: `span of ${path}`, withinMs: SPANS_WITHIN_MS });
}

test('access logs come to an OpenTelemetry receiver, those that the filter lets through', {
  timeout: TIMEOUT_MS,
}, async () => {
  const spec = "accessLogging: [{providers: [{name: logs}], filter: {expression: 'response.code >= 400'}}]";
  await using mesh = await TelemetryMesh.start(spec);
  assert.equal(await mesh.ask('/otel/fine'), 200);
  assert.equal(await mesh.ask('/otel/missing', 404), 404);
  const { body, resource } = await logOf('/otel/missing');
  assert.equal(body, 'GET 404');
  assert.equal(resource['log_name'], undefined);
  const paths = receiver.logs().map(({ attributes }) => attributes['path']);
  assert.deepEqual(
    paths.filter((path) => path?.startsWith('/otel/')),
    ['/otel/missing'],
  );
});

test('access logs stand in files as text and as JSON, those that the filter lets through', {
  timeout: TIMEOUT_MS,
}, async () => {
  const spec = `accessLogging:
- {providers: [{name: text}], filter: {expression: 'response.code >= 400 && request.url_path.startsWith("/a")'}}
- {providers: [{name: json}]}`;
  await using mesh = await TelemetryMesh.start(spec);
  await mesh.ask('/a/fine');
  await mesh.ask('/a/missing', 404);
  await mesh.ask('/b/missing', 404);
  const json = await waitFor(() => mesh.lines('access.json').length === 3 && mesh.lines('access.json'), {
    what: 'lines',
  });
  assert.deepEqual(
    json.map((line) => JSON.parse(line)),
    [
      { path: '/a/fine', code: 200 },
      { path: '/a/missing', code: 404 },
      { path: '/b/missing', code: 404 },
    ],
  );
  await waitFor(() => mesh.lines('access.log').length > 0, { what: 'line' });
  assert.deepEqual(mesh.lines('access.log'), ['/a/missing 404']);
});

test('spans come to an OpenTelemetry receiver; where none are sampled none come', { timeout: TIMEOUT_MS }, async () => {
  const sampled = (percent: number, marker: string) =>
    `tracing: [{providers: [{name: spans}], randomSamplingPercentage: ${percent}, customTags: {phase: {literal: {value: ${marker}}}, from: {header: {name: x-from, defaultValue: nobody}}}}]`;
  await using mesh = await TelemetryMesh.start(sampled(100, 'phase-1'));
  await mesh.ask('/traced/first');
  const first = await spanOf('/traced/first');
  assert.deepEqual([first.attributes['phase'], first.attributes['from']], ['phase-1', 'nobody']);
  assert.equal(first.resource['service.name'], 'client-1.shop');
  assert.equal(first.attributes['istio.namespace'], 'shop');

  await mesh.say(sampled(0, 'phase-2'), 'phase-2');
  for (let i = 0; i < 20; i++) await mesh.ask(`/traced/none-${i}`);
  await mesh.say(sampled(100, 'phase-3'), 'phase-3');
  await mesh.ask('/traced/last');
  await spanOf('/traced/last');
  const phases = receiver.spans().map(({ attributes }) => attributes['phase']);
  assert.deepEqual([...new Set(phases)], ['phase-1', 'phase-3']);
});

test('spans are sent over HTTP, too, with the headers that mesh.yaml names', { timeout: TIMEOUT_MS }, async () => {
  const spec = 'tracing: [{providers: [{name: spans-over-http}], randomSamplingPercentage: 100}]';
  await using mesh = await TelemetryMesh.start(spec);
  for (let i = 0; i < 5; i++) await mesh.ask(`/over-http/${i}`);
  const span = await spanOf('/over-http/0');
  assert.equal(span.path, '/v1/traces');
  assert.equal(span.headers?.['x-tenant'], 'shop');
});

for (const version of ['1.40.0', '1.36.4']) {
  test(`Envoy ${version} takes every tracer and logger, and requests pass`, { timeout: TIMEOUT_MS }, async () => {
    await using mesh = await TelemetryMesh.start('accessLogging: [{disabled: true}]', version);
    for (const tracer of ['spans', 'spans-over-http', 'zipkin', 'datadog', 'skywalking']) {
      const tags = `{marker: {literal: {value: with-${tracer}}}, path: {formatter: {value: '%REQ(:PATH)%'}}}`;
      await mesh.say(
        `tracing: [{providers: [{name: ${tracer}}], disableContextPropagation: true, customTags: ${tags}}]`,
        `with-${tracer}`,
      );
      assert.equal(await mesh.ask('/taken'), 200);
    }
    for (const [logger, type] of [
      ['logs', 'open_telemetry'],
      ['text', 'access.log'],
      ['requests', 'http_grpc'],
      ['connections', 'tcp_grpc'],
    ] as const) {
      await mesh.say(`accessLogging: [{providers: [{name: ${logger}}]}]`, type);
      assert.equal(await mesh.ask('/taken'), 200);
    }
  });
}
