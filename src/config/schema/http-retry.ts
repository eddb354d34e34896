import { bool, bounded, duration, int32, type Message, message, one, string } from './schema.ts';

export const HTTPRetry: Message = message('HTTPRetry', '', {
  attempts: one(int32, ''),
  perTryTimeout: one(bounded(duration, { min: 1 }), ''),
  retryOn: one(string, ''),
  retryRemoteLocalities: one(bool, ''),
  retryIgnorePreviousHosts: one(bool, ''),
  backoff: one(bounded(duration, { min: 1 }), ''),
});
