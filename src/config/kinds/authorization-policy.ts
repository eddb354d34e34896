import type { AuthorizationPolicy, Condition, Operation, Rule, Source } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { AuthorizationPolicy as schema } from '../schema/authorization-policy.ts';
import {
  attributeCheck,
  ipBlock,
  nonEmpty,
  path,
  port,
  serviceAccount,
  trustDomain,
  type ValueCheck,
  valuesFindings,
} from './authorization-values.ts';
import { targetedFindings } from './selectors.ts';

const SOURCE_CHECKS: Readonly<Record<keyof Source, ValueCheck>> = {
  principals: nonEmpty,
  notPrincipals: nonEmpty,
  requestPrincipals: nonEmpty,
  notRequestPrincipals: nonEmpty,
  namespaces: nonEmpty,
  notNamespaces: nonEmpty,
  serviceAccounts: serviceAccount,
  notServiceAccounts: serviceAccount,
  ipBlocks: ipBlock,
  notIpBlocks: ipBlock,
  remoteIpBlocks: ipBlock,
  notRemoteIpBlocks: ipBlock,
  trustDomains: trustDomain,
  notTrustDomains: trustDomain,
};

const OPERATION_CHECKS: Readonly<Record<keyof Operation, ValueCheck>> = {
  hosts: nonEmpty,
  notHosts: nonEmpty,
  ports: port,
  notPorts: port,
  methods: nonEmpty,
  notMethods: nonEmpty,
  paths: path,
  notPaths: path,
};

/** What an authorizer that is asked by Envoy can not be selected by. */
const NOT_CUSTOM = /^(?:not)?(?:Namespaces|ServiceAccounts|TrustDomains|Principals|RequestPrincipals)$/i;
const NOT_CUSTOM_ATTRIBUTES = /^(?:source\.(?:namespace|serviceAccount|trustDomain|principal)$|request\.auth\.)/;

/** What is also known of connections that are not HTTP. */
const TCP_SOURCES = /^(?:not)?(?:Principals|Namespaces|ServiceAccounts|IpBlocks|RemoteIpBlocks)$/i;

function* checkedFields<Fields extends object>(
  at: Place,
  fields: Fields,
  checks: Readonly<Record<keyof Fields, ValueCheck>>,
): Generator<Finding> {
  if (Object.keys(fields).length === 0) yield at.error('is empty: name a condition, or leave it out');
  for (const name of Object.keys(fields) as (keyof Fields & string)[]) {
    yield* valuesFindings(at.at(name), fields[name] as readonly string[], checks[name]);
  }
}

function* sourceFindings(at: Place, source: Source, custom: boolean): Generator<Finding> {
  yield* checkedFields(at, source, SOURCE_CHECKS);
  const accounts = source.serviceAccounts ?? source.notServiceAccounts;
  const others = ['principals', 'notPrincipals', 'namespaces', 'notNamespaces'] as const;
  const other = others.find((name) => source[name] !== undefined);
  if (accounts !== undefined && other !== undefined) {
    yield at
      .at(other)
      .error('can not stand beside serviceAccounts, which say namespace and identity: remove one of them');
  }
  if (!custom) return;
  for (const name of Object.keys(source)) {
    if (NOT_CUSTOM.test(name)) yield at.at(name).error('is not supported with the action CUSTOM');
  }
}

function* conditionFindings(at: Place, condition: Condition, custom: boolean): Generator<Finding> {
  const { key, values, notValues } = condition;
  if (key === '') {
    yield at.at('key').error('the condition needs a key');
    return;
  }
  if ((values ?? notValues) === undefined) {
    yield at.error(`the condition on "${key}" needs values or notValues`);
    return;
  }
  if (custom && NOT_CUSTOM_ATTRIBUTES.test(key))
    yield at.at('key').error(`${key} is not supported with the action CUSTOM`);
  const check = attributeCheck(key);
  if (typeof check !== 'function') {
    yield at.at('key').error(check.unknown);
    return;
  }
  yield* valuesFindings(at.at('values'), values, check);
  yield* valuesFindings(at.at('notValues'), notValues, check);
}

/** Whether a rule that denies asks for what only HTTP has, so that it denies every other connection, too. */
function deniesTcp({ from = [], to = [] }: Rule): boolean {
  const tcpSource = from.some(({ source = {} }) => Object.keys(source).some((name) => TCP_SOURCES.test(name)));
  const tcpTarget = to.some(({ operation }) => (operation?.ports ?? operation?.notPorts) !== undefined);
  return to.length > 0 ? !tcpTarget : from.length > 0 && !tcpSource;
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateAuthorizationPolicy` */
function* ruleFindings(at: Place, rule: Rule, action: string): Generator<Finding> {
  const custom = action === 'CUSTOM';
  for (const [i, { source }] of (rule.from ?? []).entries()) {
    if (source === undefined) yield at.at('from', i).error('needs "source"');
    else yield* sourceFindings(at.at('from', i, 'source'), source, custom);
  }
  for (const [i, { operation }] of (rule.to ?? []).entries()) {
    if (operation === undefined) yield at.at('to', i).error('needs "operation"');
    else yield* checkedFields(at.at('to', i, 'operation'), operation, OPERATION_CHECKS);
  }
  for (const [i, condition] of (rule.when ?? []).entries()) {
    yield* conditionFindings(at.at('when', i), condition, custom);
  }
  if (action === 'DENY' && deniesTcp(rule)) {
    yield at.warning('the rule asks for what only HTTP has, so it denies every other connection: name the ports, too');
  }
}

export const AUTHORIZATION_POLICY: KindDefinition<AuthorizationPolicy> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'AuthorizationPolicy',
  plural: 'authorizationpolicies',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    const { action = 'ALLOW', rules, provider } = spec;
    yield* targetedFindings(at(), spec);
    if (rules === undefined && (action === 'DENY' || action === 'CUSTOM')) {
      yield at().error(`${action} without rules never applies: write "rules: [{}]" to apply it to every request`);
    }
    if (action === 'CUSTOM' && rules !== undefined && (provider?.name ?? '') === '') {
      yield at('provider', 'name').error('CUSTOM needs the name of a provider in mesh.yaml');
    }
    if (action !== 'CUSTOM' && provider !== undefined) {
      yield at('provider').error(`${action} has no provider: remove it, or write the action CUSTOM`);
    }
    for (const [i, rule] of (rules ?? []).entries()) yield* ruleFindings(at('rules', i), rule, action);
  },
});
