import { bounded, type Enum, enumeration, int32, list, type Message, message, one, string, struct } from './schema.ts';
import { PolicyPortSelector, PolicyTargetReference, PolicyWorkloadMode, PolicyWorkloadSelector } from './selector.ts';

export const PullPolicy: Enum = enumeration('PullPolicy', 'When a module is fetched.', [
  'UNSPECIFIED_POLICY',
  'IfNotPresent',
  'Always',
]);

export const PluginPhase: Enum = enumeration('PluginPhase', 'Where in the chain a filter stands.', [
  'UNSPECIFIED_PHASE',
  'AUTHN',
  'AUTHZ',
  'STATS',
]);

export const FailStrategy: Enum = enumeration('FailStrategy', 'What happens when a module fails.', [
  'FAIL_CLOSE',
  'FAIL_OPEN',
  'FAIL_RELOAD',
]);

export const EnvValueSource: Enum = enumeration('EnvValueSource', 'Where a value comes from.', ['INLINE', 'HOST']);

export const EnvVar: Message = message('EnvVar', "A variable of a module's environment.", {
  name: one(bounded(string, { maxLength: 256, minLength: 1 }), 'Its name.', { required: true }),
  valueFrom: one(EnvValueSource, 'Written here, or taken from the proxy.'),
  value: one(bounded(string, { maxLength: 2048 }), 'Its value, when written here.'),
});

export const VmConfig: Message = message('VmConfig', "A module's virtual machine.", {
  env: list(EnvVar, 'Its environment.', { maxItems: 256 }),
});

export const WasmPluginTrafficSelector: Message = message('WasmPluginTrafficSelector', 'Which traffic.', {
  mode: one(PolicyWorkloadMode, 'Whether the workload is client or server.'),
  ports: list(PolicyPortSelector, 'Ports. None: all.'),
});

export const PluginType: Enum = enumeration('PluginType', 'Kind of filter.', [
  'UNSPECIFIED_PLUGIN_TYPE',
  'HTTP',
  'NETWORK',
]);

export const WasmPlugin: Message = message('WasmPlugin', 'A WebAssembly module in proxies.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  targetRef: one(PolicyTargetReference, 'Gateway or service that it is for.'),
  targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
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
  phase: one(PluginPhase, 'Where in the chain it stands.'),
  priority: one(int32, 'Order within the phase, the highest first. Default 0.'),
  failStrategy: one(FailStrategy, 'What happens when it fails.'),
  vmConfig: one(VmConfig, 'Its virtual machine.'),
  match: list(WasmPluginTrafficSelector, 'Traffic that it sees. None: all.'),
  type: one(PluginType, 'Kind of filter. Default HTTP.'),
});
