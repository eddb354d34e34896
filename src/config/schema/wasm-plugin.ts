import { bounded, type Enum, enumeration, int32, list, type Message, message, one, string, struct } from './schema.ts';
import { PolicyPortSelector, PolicyTargetReference, PolicyWorkloadMode, PolicyWorkloadSelector } from './selector.ts';

export const PullPolicy: Enum = enumeration('PullPolicy', '', ['UNSPECIFIED_POLICY', 'IfNotPresent', 'Always']);

export const PluginPhase: Enum = enumeration('PluginPhase', '', ['UNSPECIFIED_PHASE', 'AUTHN', 'AUTHZ', 'STATS']);

export const FailStrategy: Enum = enumeration('FailStrategy', '', ['FAIL_CLOSE', 'FAIL_OPEN', 'FAIL_RELOAD']);

export const EnvValueSource: Enum = enumeration('EnvValueSource', '', ['INLINE', 'HOST']);

export const EnvVar: Message = message('EnvVar', '', {
  name: one(bounded(string, { maxLength: 256, minLength: 1 }), '', { required: true }),
  valueFrom: one(EnvValueSource, ''),
  value: one(bounded(string, { maxLength: 2048 }), ''),
});

export const VmConfig: Message = message('VmConfig', '', {
  env: list(EnvVar, '', { maxItems: 256 }),
});

export const WasmPluginTrafficSelector: Message = message('WasmPluginTrafficSelector', '', {
  mode: one(PolicyWorkloadMode, ''),
  ports: list(PolicyPortSelector, ''),
});

export const PluginType: Enum = enumeration('PluginType', '', ['UNSPECIFIED_PLUGIN_TYPE', 'HTTP', 'NETWORK']);

export const WasmPlugin: Message = message('WasmPlugin', '', {
  selector: one(PolicyWorkloadSelector, ''),
  targetRef: one(PolicyTargetReference, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  url: one(bounded(string, { minLength: 1 }), '', { required: true }),
  sha256: one(bounded(string, { pattern: '(^$|^[a-f0-9]{64}$)' }), ''),
  imagePullPolicy: one(PullPolicy, ''),
  imagePullSecret: one(bounded(string, { minLength: 1, maxLength: 253 }), ''),
  verificationKey: one(string, ''),
  pluginConfig: one(struct, ''),
  pluginName: one(bounded(string, { maxLength: 256, minLength: 1 }), ''),
  phase: one(PluginPhase, ''),
  priority: one(int32, ''),
  failStrategy: one(FailStrategy, ''),
  vmConfig: one(VmConfig, ''),
  match: list(WasmPluginTrafficSelector, ''),
  type: one(PluginType, ''),
});
