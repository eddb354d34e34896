import { isIpv6, parseCidr } from './address.ts';

/** A block of addresses: the address as written (IPv6 in its shortest form) and the number of bits that count. */
export interface CidrBlock {
  readonly address: string;
  readonly prefixLength: number;
}

function ipv4Bytes(text: string): readonly number[] {
  return text.split('.').map(Number);
}

function ipv6Bytes(text: string): readonly number[] {
  const dotted = text.lastIndexOf('.') < 0 ? undefined : text.slice(text.lastIndexOf(':') + 1);
  const plain = dotted === undefined ? text : `${text.slice(0, -dotted.length)}0:0`;
  const [head = '', tail] = plain.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const bytes = [...left, ...Array<number>(zeros).fill(0), ...right].flatMap((group) => [group >> 8, group & 255]);
  return dotted === undefined ? bytes : [...bytes.slice(0, 12), ...ipv4Bytes(dotted)];
}

/** Four or sixteen bytes of an address that `isIpAddress` takes, without a zone. */
export function addressBytes(address: string): readonly number[] {
  return isIpv6(address) ? ipv6Bytes(address) : ipv4Bytes(address);
}

/** RFC 5952; addresses that stand for IPv4 (`::ffff:10.0.0.1`) keep their dots, as Go's netip has them. */
function ipv6Text(bytes: readonly number[]): string {
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (mapped) return `::ffff:${bytes.slice(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (best.length < 2) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

function addressText(bytes: readonly number[]): string {
  return bytes.length === 4 ? bytes.join('.') : ipv6Text(bytes);
}

/** An address (a block of one) or a block in CIDR notation; undefined when the text is neither. */
export function cidrBlock(text: string): CidrBlock | undefined {
  const parsed = text.includes('%') ? undefined : parseCidr(text);
  if (parsed === undefined) return undefined;
  return { address: addressText(addressBytes(parsed.address)), prefixLength: parsed.prefixLength };
}

/** `10.0.0.0/8` of `10.1.2.3/8`: the same text for every way to write the same block. */
export function networkText({ address, prefixLength }: CidrBlock): string {
  const masked = addressBytes(address).map((byte, i) => {
    const bits = Math.min(8, Math.max(0, prefixLength - 8 * i));
    return byte & (0xff00 >> bits) & 0xff;
  });
  return `${addressText(masked)}/${prefixLength}`;
}

/** Whether an address lies in a block; false when either is none, or they are of different families. */
export function cidrContains(block: string, address: string): boolean {
  const outer = cidrBlock(block);
  const inner = cidrBlock(address);
  if (outer === undefined || inner === undefined || isIpv6(outer.address) !== isIpv6(inner.address)) return false;
  return networkText({ ...inner, prefixLength: outer.prefixLength }) === networkText(outer);
}

/** Orders blocks by address, IPv4 first, then by length of the prefix. */
export function compareBlocks(a: CidrBlock, b: CidrBlock): number {
  const [left, right] = [addressBytes(a.address), addressBytes(b.address)];
  if (left.length !== right.length) return left.length - right.length;
  const at = left.findIndex((byte, i) => byte !== right[i]);
  return at < 0 ? a.prefixLength - b.prefixLength : (left[at] ?? 0) - (right[at] ?? 0);
}
