import type { HTTPRewrite } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { RouteSemantics } from '../../model/virtual-service.ts';
import { quoteRegex } from '../filters/rbac-matchers.ts';

type RouteMatch = envoy.config.route.v3.RouteMatch;
type RouteAction = envoy.config.route.v3.RouteAction;

/** How the path of a request is changed before it is forwarded. */
export function pathRewrite(
  { uri, uriRegexRewrite }: HTTPRewrite,
  { pathSeparatedPrefix = '' }: RouteMatch,
  semantics: RouteSemantics,
): Pick<RouteAction, 'regexRewrite' | 'prefixRewrite'> {
  if (uriRegexRewrite !== undefined) {
    const { match = '', rewrite = '' } = uriRegexRewrite;
    return { regexRewrite: { pattern: { regex: match }, substitution: rewrite } };
  }
  if (!uri) return {};
  if (semantics !== 'gateway' || uri !== '/') return { prefixRewrite: uri };
  // The prefix goes away, and one slash stays even when nothing stood behind it.
  const regex = `^${quoteRegex(pathSeparatedPrefix)}(/?)(.*)`;
  return { regexRewrite: { pattern: { regex }, substitution: '/\\2' } };
}
