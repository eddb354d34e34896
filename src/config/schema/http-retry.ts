import { bool, bounded, duration, int32, type Message, message, one, string } from './schema.ts';

export const HTTPRetry: Message = message('HTTPRetry', 'When and how often a request is tried again.', {
  attempts: one(bounded(int32, { min: 0 }), 'How often. 0: never.'),
  perTryTimeout: one(bounded(duration, { min: 1 }), 'How long each try may take. Default: as the whole request.'),
  retryOn: one(string, "When, as `5xx,reset`: Envoy's conditions or status codes, with commas."),
  retryRemoteLocalities: one(bool, 'Also in other localities.'),
  retryIgnorePreviousHosts: one(bool, 'Not at an endpoint that was tried before. Default true.'),
  backoff: one(bounded(duration, { min: 1 }), 'How long to wait before the first retry. Default 25ms.'),
});
