import { bounded, type Enum, enumeration, int32, list, type Message, message, one, string, struct } from './schema.ts';
import { PolicyPortSelector, PolicyTargetReference, PolicyWorkloadMode, PolicyWorkloadSelector } from './selector.ts';
import { FailStrategy, PluginType, PullPolicy, VmConfig } from './wasm-plugin.ts';

export const ExecutionPhase: Enum = enumeration('ExecutionPhase', '', ['UNSPECIFIED', 'AUTHN', 'AUTHZ', 'STATS']);

export const TrafficSelector: Message = message('TrafficSelector', '', {
  mode: one(PolicyWorkloadMode, ''),
  ports: list(PolicyPortSelector, ''),
});

export const WasmConfig: Message = message('WasmConfig', '', {
  url: one(bounded(string, { minLength: 1 }), '', { required: true }),
  sha256: one(bounded(string, { pattern: '(^$|^[a-f0-9]{64}$)' }), ''),
  imagePullPolicy: one(PullPolicy, ''),
  imagePullSecret: one(bounded(string, { minLength: 1, maxLength: 253 }), ''),
  verificationKey: one(string, ''),
  pluginConfig: one(struct, ''),
  pluginName: one(bounded(string, { maxLength: 256, minLength: 1 }), ''),
  failStrategy: one(FailStrategy, ''),
  vmConfig: one(VmConfig, ''),
  type: one(PluginType, ''),
});

export const LuaConfig: Message = message('LuaConfig', '', {
  inlineCode: one(bounded(string, { minLength: 1, maxLength: 65536 }), '', { required: true }),
});

export const TrafficExtension: Message = message('TrafficExtension', '', {
  selector: one(PolicyWorkloadSelector, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  phase: one(ExecutionPhase, ''),
  priority: one(int32, ''),
  match: list(TrafficSelector, ''),
  wasm: one(WasmConfig, '', { oneof: 'filterConfig' }),
  lua: one(LuaConfig, '', { oneof: 'filterConfig' }),
});
