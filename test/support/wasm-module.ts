import { Buffer } from 'node:buffer';

/** Value type of WebAssembly's 32 bit integers. */
const I32 = 0x7f;

const unsigned = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
const signed = (value: number): readonly number[] =>
  value >= -64 && value < 64 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
const text = (value: string): readonly number[] => sized([...Buffer.from(value)]);
const sized = (bytes: readonly number[]): readonly number[] => [...unsigned(bytes.length), ...bytes];
const list = (items: readonly (readonly number[])[]): readonly number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, items: readonly (readonly number[])[]): readonly number[] => [id, ...sized(list(items))];

const signature = (parameters: number, results: number): readonly number[] => [
  0x60,
  ...sized(Array<number>(parameters).fill(I32)),
  ...sized(Array<number>(results).fill(I32)),
];
const constant = (value: number): readonly number[] => [0x41, ...signed(value)];
const CALL = 0x10;
const DROP = 0x1a;
const END = 0x0b;

interface Exported {
  readonly name: string;
  /** Numbers of parameters and results. */
  readonly signature: readonly [number, number];
  readonly code: readonly number[];
}

const HTTP_REQUEST_HEADERS = 0;
const CONTINUE = 0;

/**
 * A module for proxies (proxy-wasm ABI 0.2.1) that adds a header to each request.
 * @see proxy-wasm/spec abi-versions/v0.2.1
 */
export function headerModule(name: string, value: string): Uint8Array {
  const start = 1024;
  const data = Buffer.from(name + value);
  const addHeader = [
    ...constant(HTTP_REQUEST_HEADERS),
    ...constant(start),
    ...constant(Buffer.byteLength(name)),
    ...constant(start + Buffer.byteLength(name)),
    ...constant(Buffer.byteLength(value)),
    CALL,
    0,
    DROP,
  ];
  const exported: readonly Exported[] = [
    { name: 'proxy_abi_version_0_2_1', signature: [0, 0], code: [] },
    { name: '_initialize', signature: [0, 0], code: [] },
    { name: 'malloc', signature: [1, 1], code: constant(4096) },
    { name: 'proxy_on_vm_start', signature: [2, 1], code: constant(1) },
    { name: 'proxy_on_configure', signature: [2, 1], code: constant(1) },
    { name: 'proxy_on_context_create', signature: [2, 0], code: [] },
    { name: 'proxy_on_request_headers', signature: [3, 1], code: [...addHeader, ...constant(CONTINUE)] },
  ];
  const signatures = [[5, 1], ...exported.map((one) => one.signature)] as readonly (readonly [number, number])[];
  const imported = [...text('env'), ...text('proxy_add_header_map_value'), 0x00, 0];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(
      1,
      signatures.map(([parameters, results]) => signature(parameters, results)),
    ),
    ...section(2, [imported]),
    ...section(
      3,
      exported.map((_, i) => unsigned(i + 1)),
    ),
    ...section(5, [[0x00, 1]]),
    ...section(7, [
      [...text('memory'), 0x02, 0],
      ...exported.map((one, i) => [...text(one.name), 0x00, ...unsigned(i + 1)]),
    ]),
    ...section(
      10,
      exported.map(({ code }) => sized([0, ...code, END])),
    ),
    ...section(11, [[0x00, ...constant(start), END, ...sized([...data])]]),
  ]);
}
