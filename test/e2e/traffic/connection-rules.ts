import { cidrContains } from '../../../src/base/cidr.ts';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { object, objects } from '../../support/json-fields.ts';

/**
 * Whether the network RBAC filters of a chain refuse a connection from `source`, as far as that is known before a byte is read:
 * conditions on anything but addresses do not hold.
 *
 * @see envoy api envoy/config/rbac/v3/rbac.proto
 */
export function isRefused(chain: JsonObject, source: string): boolean {
  const filters = objects(chain['filters']).map(({ typedConfig }) => object(typedConfig));
  return filters
    .filter((config) => String(config['@type']).endsWith('.network.rbac.v3.RBAC') && isJsonObject(config['rules']))
    .some(({ rules }) => {
      const { action = 'ALLOW', policies } = object(rules);
      const isMatched = Object.values(object(policies)).some((policy) => {
        const { permissions, principals } = object(policy);
        const isTrue = (rule: JsonObject): boolean => holds(rule, source);
        return objects(permissions).some(isTrue) && objects(principals).some(isTrue);
      });
      return action === 'DENY' ? isMatched : action === 'ALLOW' && !isMatched;
    });
}

/** Of a `Permission` or a `Principal`: their connectives have the same form. */
function holds(rule: JsonObject, source: string): boolean {
  const [[kind, value] = ['', undefined]] = Object.entries(rule);
  const inner = object(value);
  const isTrue = (part: JsonObject): boolean => holds(part, source);
  switch (kind) {
    case 'any':
      return value === true;
    case 'andRules':
      return objects(inner['rules']).every(isTrue);
    case 'orRules':
      return objects(inner['rules']).some(isTrue);
    case 'andIds':
      return objects(inner['ids']).every(isTrue);
    case 'orIds':
      return objects(inner['ids']).some(isTrue);
    case 'notRule':
    case 'notId':
      return !isTrue(inner);
    case 'remoteIp':
    case 'directRemoteIp':
      return cidrContains(`${inner['addressPrefix']}/${inner['prefixLen'] ?? 0}`, source);
    default:
      return false;
  }
}
