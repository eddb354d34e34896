import type { HTTPRoute, Percent } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { type Destinations, destinationCluster } from './destination.ts';
import { fractionalPercent, wholePercent } from './percentage.ts';

type FractionalPercent = envoy.type.v3.FractionalPercent;
type MirrorPolicy = envoy.config.route.v3.RouteAction.RequestMirrorPolicy;

/** All requests unless a share is given; undefined for none. */
function share(percentage: Percent | undefined): FractionalPercent | undefined {
  if (percentage === undefined) return wholePercent(100);
  return (percentage.value ?? 0) > 0 ? fractionalPercent(percentage) : undefined;
}

function shareOfMirror({ mirrorPercentage, mirrorPercent }: HTTPRoute): FractionalPercent | undefined {
  if (mirrorPercentage !== undefined || mirrorPercent === undefined) return share(mirrorPercentage);
  return mirrorPercent > 0 ? wholePercent(mirrorPercent) : undefined;
}

/** Where copies of requests go: `mirror`, then `mirrors`, without those whose share is nothing. */
export function mirrorPolicies(
  route: HTTPRoute,
  destinations: Destinations,
  listenPort: number,
): readonly MirrorPolicy[] {
  const mirrors = [
    ...(route.mirror ? [{ destination: route.mirror, part: shareOfMirror(route) }] : []),
    ...(route.mirrors ?? []).map(({ destination, percentage }) => ({ destination, part: share(percentage) })),
  ];
  return mirrors.flatMap(({ destination, part }) =>
    part === undefined || destination === undefined
      ? []
      : {
          cluster: destinationCluster(destination, destinations, listenPort),
          runtimeFraction: { defaultValue: part },
          traceSampled: false,
          disableShadowHostSuffixAppend: true,
        },
  );
}
