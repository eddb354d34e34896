import type { envoy } from '#generated/proto/types.ts';
import type { JsonObject } from '../../base/json.ts';
import { packed } from '../../proto/message.ts';

type SubstitutionFormatString = envoy.config.core.v3.SubstitutionFormatString;
type TypedExtensionConfig = envoy.config.core.v3.TypedExtensionConfig;

/** A line of a log for which no format is written. */
export const TEXT_FORMAT: string = [
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%"',
  '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS%',
  '"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION%',
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%"',
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER_RAW%',
  '%UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS%',
  '%REQUESTED_SERVER_NAME% %ROUTE_NAME%\n',
].join(' ');

/** The same as an object. */
const JSON_FORMAT: JsonObject = {
  start_time: '%START_TIME%',
  route_name: '%ROUTE_NAME%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  protocol: '%PROTOCOL%',
  response_code: '%RESPONSE_CODE%',
  response_flags: '%RESPONSE_FLAGS%',
  response_code_details: '%RESPONSE_CODE_DETAILS%',
  connection_termination_details: '%CONNECTION_TERMINATION_DETAILS%',
  bytes_received: '%BYTES_RECEIVED%',
  bytes_sent: '%BYTES_SENT%',
  duration: '%DURATION%',
  upstream_service_time: '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
  x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
  user_agent: '%REQ(USER-AGENT)%',
  request_id: '%REQ(X-REQUEST-ID)%',
  authority: '%REQ(:AUTHORITY)%',
  upstream_host: '%UPSTREAM_HOST%',
  upstream_cluster: '%UPSTREAM_CLUSTER_RAW%',
  upstream_local_address: '%UPSTREAM_LOCAL_ADDRESS%',
  downstream_local_address: '%DOWNSTREAM_LOCAL_ADDRESS%',
  downstream_remote_address: '%DOWNSTREAM_REMOTE_ADDRESS%',
  requested_server_name: '%REQUESTED_SERVER_NAME%',
  upstream_transport_failure_reason: '%UPSTREAM_TRANSPORT_FAILURE_REASON%',
};

/** Envoy has this operator in an extension, which is named only where it is used. */
export function formatters(texts: readonly unknown[]): Pick<SubstitutionFormatString, 'formatters'> {
  if (!texts.some((text) => typeof text === 'string' && text.includes('%REQ_WITHOUT_QUERY'))) return {};
  const config = packed('envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery', {});
  const extension: TypedExtensionConfig = { name: 'envoy.formatter.req_without_query', typedConfig: config };
  return { formatters: [extension] };
}

/** Lines of text. @param format empty: the default; a line ends in a newline whether that is written or not */
export function textFormat(format: string): SubstitutionFormatString {
  const inlineString = format === '' ? TEXT_FORMAT : format.endsWith('\n') ? format : `${format}\n`;
  return { textFormatSource: { inlineString }, ...formatters([inlineString]) };
}

/** Lines of JSON. @param fields undefined: the default */
export function jsonFormat(fields: JsonObject = JSON_FORMAT): SubstitutionFormatString {
  return { jsonFormat: fields, jsonFormatOptions: { sortProperties: false }, ...formatters(Object.values(fields)) };
}
