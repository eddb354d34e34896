import type { HTTPMatchRequest, StringMatch } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { matchedHeaderProblem } from './headers.ts';
import { isDnsLabel, labelFindings, problem } from './names.ts';
import { regexProblem } from './regex.ts';

/** @param mayBePrefix whether an empty prefix is allowed, as it is for paths */
export function* stringMatchFindings(
  at: Place,
  match: StringMatch | undefined,
  mayBePrefix = false,
): Generator<Finding> {
  if (match === undefined) return;
  if (match.prefix === '' && !mayBePrefix) {
    yield at.at('prefix').error('the prefix must not be empty: write "{}" to ask only that it is there');
  }
  if (match.regex !== undefined) yield* problem(at.at('regex'), regexProblem(match.regex));
}

/**
 * Names of gateways, as `namespace/name`, `mesh` or, of old, `name.namespace.svc.domain`. A name without slash ends the check,
 * as it does in Istio: what stands after it may be anything.
 *
 * @see istio/istio pkg/config/validation/validation.go `validateGatewayNames`
 */
export function* gatewayNamesFindings(at: Place, gateways: readonly string[] | undefined): Generator<Finding> {
  for (const [i, gateway] of (gateways ?? []).entries()) {
    const [namespace = '', ...rest] = gateway.split('/');
    if (rest.length === 0) {
      const [name = '', owner = ''] = gateway.split('.');
      if (gateway.includes('.')) yield at.at(i).warning(`"${gateway}" has an old form: write "${owner}/${name}"`);
      yield* problem(at.at(i), gatewayHostProblem(gateway));
      return;
    }
    const name = rest.join('/');
    if (!isDnsLabel(namespace)) yield at.at(i).error(`"${namespace}" is not a namespace: write "namespace/name"`);
    if (!isDnsLabel(name)) yield at.at(i).error(`"${name}" is not the name of a gateway: write "namespace/name"`);
  }
}

function gatewayHostProblem(gateway: string): string | undefined {
  const labels = gateway.split('.');
  const valid = labels.every((label, i) => isDnsLabel(label) || (label === '' && i > 0 && i === labels.length - 1));
  return valid && !/^\d+$/.test(labels.at(-1) ?? '')
    ? undefined
    : `"${gateway}" is not a gateway: write "namespace/name", or "mesh" for the sidecars`;
}

/** @see istio/istio pkg/config/validation/virtualservice.go `validateHTTPRouteMatchRequest` */
export function* httpMatchFindings(at: Place, match: HTTPMatchRequest): Generator<Finding> {
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    yield* problem(at.at('headers', name), matchedHeaderProblem(name));
    yield* stringMatchFindings(at.at('headers', name), value);
  }
  for (const [name, value] of Object.entries(match.withoutHeaders ?? {})) {
    yield* problem(at.at('withoutHeaders', name), matchedHeaderProblem(name));
    // "*" is no expression here: it asks whether the header is there.
    if (value.regex !== '*') yield* stringMatchFindings(at.at('withoutHeaders', name), value);
  }
  yield* stringMatchFindings(at.at('uri'), match.uri, true);
  for (const part of ['scheme', 'method', 'authority'] as const) yield* stringMatchFindings(at.at(part), match[part]);
  for (const [name, value] of Object.entries(match.queryParams ?? {})) {
    yield* stringMatchFindings(at.at('queryParams', name), value);
  }
  yield* labelFindings(at.at('sourceLabels'), match.sourceLabels);
  yield* gatewayNamesFindings(at.at('gateways'), match.gateways);
  const { sourceNamespace = '' } = match;
  if (sourceNamespace !== '' && !isDnsLabel(sourceNamespace)) {
    yield at.at('sourceNamespace').error(`"${sourceNamespace}" is not a namespace`);
  }
}
