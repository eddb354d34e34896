import type { Gateway, VirtualService } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import { isDelegate } from '../delegate.ts';
import { routeSemantics } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import { objectName } from './names.ts';

/** Parts of rules that no rule takes in. */
export const UNUSED_DELEGATES: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings(config, facts) {
    if (routeSemantics(config) !== 'istio' || !isDelegate(config) || facts.isDelegatedTo(objectName(config))) return;
    yield placeOf(['metadata', 'name']).warning(
      'no VirtualService delegates to this one, and without hosts it has no effect by itself',
      'VM0212',
    );
  },
};

/** Gateways that answer all with 404, or take no connections. */
export const UNUSED_GATEWAYS: Analyzer<Gateway> = {
  kinds: ['Gateway'],
  *findings({ group, namespace, name, spec }, facts) {
    if (group !== 'networking.istio.io') return;
    const isRouted = ({ tls }: NonNullable<Gateway['servers']>[number]) =>
      tls?.mode === 'AUTO_PASSTHROUGH' || tls?.httpsRedirect === true;
    if ((spec.servers ?? []).every(isRouted) || facts.isRoutedTo(`${namespace}/${name}`)) return;
    yield placeOf(['metadata', 'name']).info('no VirtualService names this Gateway: it routes nothing', 'VM0212');
  },
};
