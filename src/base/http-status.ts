/**
 * HTTP statuses that Envoy can be told to answer with, and their names in its API.
 * @see envoyproxy/envoy api/envoy/type/v3/http_status.proto
 */
const STATUSES = {
  100: 'Continue',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'NonAuthoritativeInformation',
  204: 'NoContent',
  205: 'ResetContent',
  206: 'PartialContent',
  207: 'MultiStatus',
  208: 'AlreadyReported',
  226: 'IMUsed',
  300: 'MultipleChoices',
  301: 'MovedPermanently',
  302: 'Found',
  303: 'SeeOther',
  304: 'NotModified',
  305: 'UseProxy',
  307: 'TemporaryRedirect',
  308: 'PermanentRedirect',
  400: 'BadRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  407: 'ProxyAuthenticationRequired',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'LengthRequired',
  412: 'PreconditionFailed',
  413: 'PayloadTooLarge',
  414: 'URITooLong',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  417: 'ExpectationFailed',
  421: 'MisdirectedRequest',
  422: 'UnprocessableEntity',
  423: 'Locked',
  424: 'FailedDependency',
  426: 'UpgradeRequired',
  428: 'PreconditionRequired',
  429: 'TooManyRequests',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalServerError',
  501: 'NotImplemented',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
  505: 'HTTPVersionNotSupported',
  506: 'VariantAlsoNegotiates',
  507: 'InsufficientStorage',
  508: 'LoopDetected',
  510: 'NotExtended',
  511: 'NetworkAuthenticationRequired',
} as const;

export type HttpStatusName = (typeof STATUSES)[keyof typeof STATUSES];

/** The name of a status, written as a number; undefined when Envoy does not know it. */
export function httpStatusName(status: string): HttpStatusName | undefined {
  return /^\d{3}$/.test(status) ? (STATUSES as Readonly<Record<string, HttpStatusName>>)[status] : undefined;
}

/** Codes of HTTP's registry, as ranges. @see https://pkg.go.dev/net/http#StatusText */
const REGISTERED: readonly (readonly [first: number, last: number])[] = [
  [100, 103],
  [200, 208],
  [226, 226],
  [300, 305],
  [307, 308],
  [400, 418],
  [421, 426],
  [428, 429],
  [431, 431],
  [451, 451],
  [500, 508],
  [510, 511],
];

/** The code of HTTP's registry that a text is, which may have a sign as an integer of Go's may; undefined when it is none. */
export function registeredStatus(text: string): number | undefined {
  const code = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return REGISTERED.some(([first, last]) => code >= first && code <= last) ? code : undefined;
}
