import type { JsonObject } from '../../src/base/json.ts';
import { Child } from './child.ts';
import { waitFor } from './wait.ts';

/** Attributes of a record or span, and of the resource that it is from. */
type Attributes = Readonly<Record<string, string>>;

export interface LogRecord {
  readonly body: string;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  /** Of the request that brought it, where that came over HTTP. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

function attributesOf(list: readonly KeyValue[] = []): Attributes {
  return Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? JSON.stringify(value)]));
}

// biome-ignore lint/suspicious/noExplicitAny: what another program prints
type Printed = any;

/** A receiver of OpenTelemetry's protocol over gRPC and HTTP, made of OpenTelemetry's own service definitions. */
export class OtlpReceiver {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly #child: Child;

  private constructor(child: Child, { grpc, http }: JsonObject) {
    this.#child = child;
    this.grpcPort = Number(grpc);
    this.httpPort = Number(http);
  }

  static async start(): Promise<OtlpReceiver> {
    const child = new Child(['scripts/otlp-receiver']);
    try {
      const ports = await waitFor(() => child.exit !== undefined || /^\{"grpc".*\n/m.exec(child.output)?.[0], {
        what: 'ports of the receiver',
        withinMs: 60_000,
      });
      child.assertRunning();
      return new OtlpReceiver(child, JSON.parse(String(ports)));
    } catch (error) {
      await child.stop('SIGKILL');
      throw error;
    }
  }

  #printed(): readonly Printed[] {
    const lines = this.#child.output.split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  }

  /** All that came so far. */
  logs(): readonly LogRecord[] {
    return this.#printed().flatMap(({ logs }) =>
      (logs?.resourceLogs ?? []).flatMap(({ resource, scopeLogs }: Printed) =>
        scopeLogs.flatMap(({ logRecords }: Printed) =>
          logRecords.map(({ body, attributes }: Printed) => ({
            body: body?.stringValue ?? '',
            attributes: attributesOf(attributes),
            resource: attributesOf(resource?.attributes),
          })),
        ),
      ),
    );
  }

  /** All that came so far. */
  spans(): readonly Span[] {
    return this.#printed().flatMap(({ traces, path, headers }) =>
      (traces?.resourceSpans ?? []).flatMap(({ resource, scopeSpans }: Printed) =>
        scopeSpans.flatMap(({ spans }: Printed) =>
          spans.map(({ name, traceId, attributes }: Printed) => ({
            name,
            traceId,
            attributes: attributesOf(attributes),
            resource: attributesOf(resource?.attributes),
            ...(path === undefined ? {} : { path, headers }),
          })),
        ),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stop('SIGKILL');
  }
}
