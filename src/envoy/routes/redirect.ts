import type { HTTPDirectResponse, HTTPRedirect } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';

type RedirectAction = envoy.config.route.v3.RedirectAction;
type DirectResponseAction = envoy.config.route.v3.DirectResponseAction;

const RESPONSE_CODES: Readonly<Record<number, RedirectAction['responseCode']>> = {
  0: 'MOVED_PERMANENTLY',
  301: 'MOVED_PERMANENTLY',
  302: 'FOUND',
  303: 'SEE_OTHER',
  307: 'TEMPORARY_REDIRECT',
  308: 'PERMANENT_REDIRECT',
};

/**
 * @param port the port on which the request comes in
 * @returns undefined for a code with which Envoy can't redirect
 * @see istio/istio pilot/pkg/networking/core/route/route.go `ApplyRedirect`
 */
export function redirectAction(redirect: HTTPRedirect, port: number, isTls: boolean): RedirectAction | undefined {
  const { authority, uri, prefixRewrite, scheme, redirectCode } = redirect;
  const responseCode = RESPONSE_CODES[redirectCode ?? 0];
  if (responseCode === undefined) return undefined;
  const portRedirect = redirectPort(redirect, port, isTls);
  return {
    ...(authority && { hostRedirect: authority }),
    ...(prefixRewrite ? { prefixRewrite } : { pathRedirect: uri ?? '' }),
    ...(scheme && { schemeRedirect: scheme }),
    ...(portRedirect !== 0 && { portRedirect }),
    ...(responseCode !== 'MOVED_PERMANENTLY' && { responseCode }),
  };
}

/** 0 where the scheme says the port already. */
function redirectPort({ port, derivePort, scheme }: HTTPRedirect, requestPort: number, isTls: boolean): number {
  const chosen = port ?? (derivePort === 'FROM_REQUEST_PORT' ? requestPort : 0);
  const target = scheme || (isTls ? 'https' : 'http');
  return (chosen === 80 && target === 'http') || (chosen === 443 && target === 'https') ? 0 : chosen;
}

export function directResponseAction({ status, body }: HTTPDirectResponse): DirectResponseAction {
  if (body?.string !== undefined) return { status, body: { inlineString: body.string } };
  if (body?.bytes !== undefined) return { status, body: { inlineBytes: body.bytes } };
  return body === undefined ? { status } : { status, body: {} };
}
