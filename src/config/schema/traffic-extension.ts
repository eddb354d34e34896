import { bounded, type Enum, enumeration, int32, list, type Message, message, one, string, struct } from './schema.ts';
import { PolicyPortSelector, PolicyTargetReference, PolicyWorkloadMode, PolicyWorkloadSelector } from './selector.ts';
import { FailStrategy, PluginType, PullPolicy, VmConfig } from './wasm-plugin.ts';

export const ExecutionPhase: Enum = enumeration('ExecutionPhase', 'Where in the chain a filter stands.', [
  'UNSPECIFIED',
  'AUTHN',
  'AUTHZ',
  'STATS',
]);

export const TrafficSelector: Message = message('TrafficSelector', 'Which traffic.', {
  mode: one(PolicyWorkloadMode, 'Whether the workload is client or server.'),
  ports: list(PolicyPortSelector, 'Ports. None: all.'),
});

export const WasmConfig: Message = message('WasmConfig', 'A WebAssembly module.', {
  url: one(
    bounded(string, { minLength: 1 }),
    'Where the module is: `oci://` (the default), `https://`, `http://` or `file://`.',
    { required: true },
  ),
  sha256: one(bounded(string, { pattern: '(^$|^[a-f0-9]{64}$)' }), 'Its SHA-256.'),
  imagePullPolicy: one(PullPolicy, 'When it is fetched again.'),
  imagePullSecret: one(bounded(string, { minLength: 1, maxLength: 253 }), 'Secret for fetching it.'),
  verificationKey: one(string, 'Key that its signature is checked with.'),
  pluginConfig: one(struct, 'Its configuration.'),
  pluginName: one(bounded(string, { maxLength: 256, minLength: 1 }), 'Its name, as it knows itself.'),
  failStrategy: one(FailStrategy, 'What happens when it fails.'),
  vmConfig: one(VmConfig, 'Its virtual machine.'),
  type: one(PluginType, 'Kind of filter. Default HTTP.'),
});

export const LuaConfig: Message = message('LuaConfig', 'A Lua script.', {
  inlineCode: one(bounded(string, { minLength: 1, maxLength: 65536 }), 'The script.', { required: true }),
});

export const TrafficExtension: Message = message('TrafficExtension', 'A module or script in proxies.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
  phase: one(ExecutionPhase, 'Where in the chain it stands.'),
  priority: one(int32, 'Order within the phase, the highest first. Default 0.'),
  match: list(TrafficSelector, 'Traffic that it sees. None: all.'),
  wasm: one(WasmConfig, 'A WebAssembly module.', { oneof: 'filterConfig' }),
  lua: one(LuaConfig, 'A Lua script.', { oneof: 'filterConfig' }),
});
