import { FOR_AGENT } from './ignored.ts';
import { bounded, ignored, int32, type Message, map, message, one, string } from './schema.ts';
import { PolicyWorkloadSelector } from './selector.ts';

export const ProxyImage: Message = message('ProxyImage', 'Image of a proxy.', {
  imageType: one(string, 'Its type, as `default`, `debug` or `distroless`.'),
});

export const ProxyConfigSpec: Message = message('ProxyConfigSpec', 'Settings of some proxies.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  concurrency: ignored(one(bounded(int32, { min: 0 }), 'Worker threads; 0 for one per core.'), FOR_AGENT),
  environmentVariables: ignored(
    map(bounded(string, { maxLength: 2048 }), 'Environment of the proxy, by name.'),
    FOR_AGENT,
  ),
  image: ignored(one(ProxyImage, 'Image of the proxy.'), FOR_AGENT),
});
