import { bounded, type Enum, enumeration, list, type Message, message, one, string } from './schema.ts';
import { PolicyTargetReference, PolicyWorkloadSelector } from './selector.ts';

export const Source: Message = message(
  'Source',
  'Conditions on who sends a request, all of which must hold. `*` at either end of a text matches any.',
  {
    principals: list(string, 'Identities from client certificates, as `trust.domain/ns/name/sa/name`.'),
    notPrincipals: list(string, 'Identities that are excepted.'),
    requestPrincipals: list(string, 'Identities from tokens, as `issuer/subject`.'),
    notRequestPrincipals: list(string, 'Identities from tokens that are excepted.'),
    namespaces: list(string, 'Namespaces from client certificates.'),
    notNamespaces: list(string, 'Namespaces that are excepted.'),
    serviceAccounts: list(
      bounded(string, { maxLength: 320 }),
      'Service accounts from client certificates, as `name` or `namespace/name`.',
      { maxItems: 16 },
    ),
    notServiceAccounts: list(bounded(string, { maxLength: 320 }), 'Service accounts that are excepted.', {
      maxItems: 16,
    }),
    ipBlocks: list(string, 'Addresses or blocks that the packets come from.'),
    notIpBlocks: list(string, 'Addresses or blocks that are excepted.'),
    remoteIpBlocks: list(string, 'Addresses or blocks of the client, as X-Forwarded-For or the PROXY protocol say.'),
    notRemoteIpBlocks: list(string, 'Such addresses or blocks that are excepted.'),
    trustDomains: list(string, 'Trust domains from client certificates.'),
    notTrustDomains: list(string, 'Trust domains that are excepted.'),
  },
);

export const RuleFrom: Message = message('RuleFrom', 'Who sends a request.', {
  source: one(Source, 'Conditions on it.'),
});

export const Operation: Message = message(
  'Operation',
  'Conditions on what is asked for, all of which must hold. `*` at either end of a text matches any.',
  {
    hosts: list(string, 'Hosts.'),
    notHosts: list(string, 'Hosts that are excepted.'),
    ports: list(string, 'Ports.'),
    notPorts: list(string, 'Ports that are excepted.'),
    methods: list(string, 'Methods.'),
    notMethods: list(string, 'Methods that are excepted.'),
    paths: list(string, 'Paths; `{*}` is one segment, `{**}` any number of them at the end.'),
    notPaths: list(string, 'Paths that are excepted.'),
  },
);

export const RuleTo: Message = message('RuleTo', 'What is asked for.', {
  operation: one(Operation, 'Conditions on it.'),
});

export const Condition: Message = message('Condition', 'A condition on an attribute.', {
  key: one(string, 'The attribute, as `request.headers[x-role]`.', { required: true }),
  values: list(string, 'Values, one of which it must have.'),
  notValues: list(string, 'Values that it must not have.'),
});

export const Rule: Message = message('Rule', 'A rule: one of `from`, one of `to` and all of `when` must hold.', {
  from: list(RuleFrom, 'Who sends the request. None: anybody.', { maxItems: 512 }),
  to: list(RuleTo, 'What is asked for. None: anything.'),
  when: list(Condition, 'Further conditions.'),
});

export const AuthorizationPolicyAction: Enum = enumeration(
  'AuthorizationPolicyAction',
  'What happens to requests that match.',
  ['ALLOW', 'DENY', 'AUDIT', 'CUSTOM'],
);

export const AuthorizationPolicyExtensionProvider: Message = message(
  'AuthorizationPolicyExtensionProvider',
  'Who decides.',
  {
    name: one(string, 'Name of a provider in mesh.yaml.'),
  },
);

export const AuthorizationPolicy: Message = message('AuthorizationPolicy', 'Who may do what.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  targetRef: one(PolicyTargetReference, 'Gateway or service that it is for.'),
  targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
  rules: list(Rule, 'Rules, one of which must match. None: nothing matches.', { maxItems: 512 }),
  action: one(AuthorizationPolicyAction, 'What happens to requests that match. Default ALLOW.'),
  provider: one(AuthorizationPolicyExtensionProvider, 'Who decides, for the action CUSTOM.', { oneof: 'actionDetail' }),
});
