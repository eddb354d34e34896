import type { Percent } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';

type FractionalPercent = envoy.type.v3.FractionalPercent;

/** Up to four digits after the point count; what is finer is cut off. */
export function fractionalPercent({ value = 0 }: Percent): FractionalPercent {
  return { numerator: Math.trunc(value * 10_000), denominator: 'MILLION' };
}

export function wholePercent(value: number): FractionalPercent {
  return { numerator: value };
}
