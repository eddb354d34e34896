import { bounded, int32, type Message, map, message, one, string } from './schema.ts';
import { PolicyWorkloadSelector } from './selector.ts';

export const ProxyImage: Message = message('ProxyImage', '', {
  imageType: one(string, ''),
});

export const ProxyConfigSpec: Message = message('ProxyConfigSpec', '', {
  selector: one(PolicyWorkloadSelector, ''),
  concurrency: one(bounded(int32, { min: 0 }), ''),
  environmentVariables: map(bounded(string, { maxLength: 2048 }), ''),
  image: one(ProxyImage, ''),
});
