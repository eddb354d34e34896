import type { KindDefinition } from '../../src/config/kind.ts';
import { KINDS } from '../../src/config/kinds/kinds.ts';
import type { Field, Message } from '../../src/config/schema/schema.ts';
import { API_KINDS, declaredSupport, type Support } from './support.ts';

const MARKS: Readonly<Record<Support['is'], string>> = { supported: 'yes', ignored: '**no**', refused: '**refused**' };

function typeText({ type, shape }: Field): string {
  const name =
    type.kind === 'message'
      ? `[${type.name}](#${type.name.toLowerCase()})`
      : type.kind === 'enum'
        ? type.name
        : type.kind;
  return shape === 'list' ? `list of ${name}` : shape === 'map' ? `map to ${name}` : name;
}

function note({ doc, deprecated }: Field, support: Support): string {
  const parts = [support.is === 'supported' ? doc : `${doc} ${sentence(support.why)}`];
  if (deprecated !== undefined) parts.push(`Deprecated: ${deprecated}`);
  return parts.join(' ').replaceAll('|', '\\|');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function rows(message: Message, supports: ReadonlyMap<string, Support>): string {
  const lines = Object.entries(message.fields).map(([name, field]) => {
    const support = supports.get(`${message.name}.${name}`) ?? { is: 'supported' };
    return `| \`${name}\` | ${typeText(field)} | ${MARKS[support.is]} | ${note(field, support)} |`;
  });
  return ['| field | type | effect | |', '|---|---|---|---|', ...lines].join('\n');
}

/** A message and those in it that have not been told of. */
function sections(message: Message, told: Set<Message>, supports: ReadonlyMap<string, Support>): readonly string[] {
  if (told.has(message)) return [];
  told.add(message);
  const own = Object.keys(message.fields).length === 0 ? 'It has no fields.' : rows(message, supports);
  const below = Object.values(message.fields).flatMap(({ type }) =>
    type.kind === 'message' ? sections(type, told, supports) : [],
  );
  return [`#### ${message.name}\n\n${message.doc}\n\n${own}\n`, ...below];
}

function kindTitle({ kind, group, versions }: KindDefinition): string {
  if (group === 'mesh.istio.io') return kind === 'MeshNetworks' ? 'meshNetworks.yaml' : 'mesh.yaml';
  return `${kind} (\`${group}/${versions.join('`, `')}\`)`;
}

function readFields({ kind, group, versions, schema }: KindDefinition): string {
  const fields = Object.keys(schema.fields).map((name) => `\`${name}\``);
  return `| ${kind} | \`${group === '' ? '' : `${group}/`}${versions.join('`, `')}\` | ${fields.join(', ')} |`;
}

/** docs/istio-api.md: what of Istio's API has an effect. */
export function istioApiPage(): string {
  const supports = declaredSupport();
  const told = new Set<Message>();
  const kinds = API_KINDS.map(
    (kind) => `### ${kindTitle(kind)}\n\n${sections(kind.schema, told, supports).join('\n')}`,
  );
  const count = (is: Support['is']) => [...supports.values()].filter((support) => support.is === is).length;
  const kubernetes = KINDS.filter(({ schema }) => schema.style === 'kubernetes').map(readFields);
  return `# Istio's API

<!-- Made from src/config/schema by npm run reference. -->

Of ${supports.size} fields ${count('supported')} have their effect, ${count('ignored')} have none and are a finding when they are set (VM0004, of the Gateway API VM0304), and
${count('refused')} are refused. A field that is not listed is unknown and a warning (VM0001), in security policies an error. So no field is
ignored in silence. Objects of the Gateway API and Ingresses are made into kinds of Istio ([how](guides/gateway-api.md)).

That a field has its effect is tried by \`test/api\`: each is changed in a mesh, and what proxies are sent must change with it.

| effect | |
|---|---|
| yes | as in Istio |
| **no** | understood, but nothing is made of it; the reason stands beside it |
| **refused** | the object is not taken while it is set |

## Kinds

${kinds.join('\n')}
## Kinds of Kubernetes

Of these the named fields are read; others are for Kubernetes alone and are passed over.

| kind | versions | fields |
|---|---|---|
${kubernetes.join('\n')}
`;
}
