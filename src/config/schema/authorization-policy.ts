import { bounded, type Enum, enumeration, list, type Message, message, one, string } from './schema.ts';
import { PolicyTargetReference, PolicyWorkloadSelector } from './selector.ts';

export const Source: Message = message('Source', '', {
  principals: list(string, ''),
  notPrincipals: list(string, ''),
  requestPrincipals: list(string, ''),
  notRequestPrincipals: list(string, ''),
  namespaces: list(string, ''),
  notNamespaces: list(string, ''),
  serviceAccounts: list(bounded(string, { maxLength: 320 }), '', { maxItems: 16 }),
  notServiceAccounts: list(bounded(string, { maxLength: 320 }), '', { maxItems: 16 }),
  ipBlocks: list(string, ''),
  notIpBlocks: list(string, ''),
  remoteIpBlocks: list(string, ''),
  notRemoteIpBlocks: list(string, ''),
  trustDomains: list(string, ''),
  notTrustDomains: list(string, ''),
});

export const RuleFrom: Message = message('RuleFrom', '', {
  source: one(Source, ''),
});

export const Operation: Message = message('Operation', '', {
  hosts: list(string, ''),
  notHosts: list(string, ''),
  ports: list(string, ''),
  notPorts: list(string, ''),
  methods: list(string, ''),
  notMethods: list(string, ''),
  paths: list(string, ''),
  notPaths: list(string, ''),
});

export const RuleTo: Message = message('RuleTo', '', {
  operation: one(Operation, ''),
});

export const Condition: Message = message('Condition', '', {
  key: one(string, '', { required: true }),
  values: list(string, ''),
  notValues: list(string, ''),
});

export const Rule: Message = message('Rule', '', {
  from: list(RuleFrom, '', { maxItems: 512 }),
  to: list(RuleTo, ''),
  when: list(Condition, ''),
});

export const AuthorizationPolicyAction: Enum = enumeration('AuthorizationPolicyAction', '', [
  'ALLOW',
  'DENY',
  'AUDIT',
  'CUSTOM',
]);

export const AuthorizationPolicyExtensionProvider: Message = message('AuthorizationPolicyExtensionProvider', '', {
  name: one(string, ''),
});

export const AuthorizationPolicy: Message = message('AuthorizationPolicy', '', {
  selector: one(PolicyWorkloadSelector, ''),
  targetRef: one(PolicyTargetReference, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  rules: list(Rule, '', { maxItems: 512 }),
  action: one(AuthorizationPolicyAction, ''),
  provider: one(AuthorizationPolicyExtensionProvider, '', { oneof: 'actionDetail' }),
});
