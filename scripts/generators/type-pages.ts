import { z } from 'zod';
import type { Registry, ResourceType, Traits } from '../../src/providers/contract.ts';
import { type Attribute, attributesOf, type JsonSchema } from './attributes.ts';
import { document, table } from './markdown.ts';

/** A reference page for every resource type and a page that lists them, by path below the root. */
export function typePages(registry: Registry): ReadonlyMap<string, string> {
  const files = new Map([['specs/types/README.md', overview(registry)]]);
  for (const type of registry.types) files.set(`specs/types/${type.type}.md`, page(type));
  return files;
}

function overview(registry: Registry): string {
  const rows = registry.types.map((type) => [`[\`${type.type}\`](${type.type}.md)`, type.role, type.stage, type.summary]);
  return document('# Resource types', 'Generated from the schemas of the providers.', table(['type', 'role', 'stage', 'what it is'], rows));
}

function page(type: ResourceType): string {
  const schema = z.toJSONSchema(type.schema, { target: 'draft-7', io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const attributes = attributesOf(schema, type.traits);
  const written = new Set(attributes.map((attribute) => attribute.path));
  const computed = [...type.traits].filter(([path, traits]) => traits.computed && !written.has(path)).sort(([a], [b]) => (a < b ? -1 : 1));
  return document(
    `# ${type.type}`,
    `${type.summary.replace(/\.$/, '')}.`,
    table(
      ['', ''],
      [
        ['role', [type.role, ...type.roles.map((role) => `${role} with \`role:\``)].join(', or ')],
        ['stage', type.stage],
        ['holds data', type.protected ? 'yes: an object is removed only after `prevent_destroy: false` was applied' : 'no'],
        ['there, but not ours', `\`${type.foreignCode}\``],
      ],
    ),
    '## Attributes',
    table(
      ['attribute', 'type', 'facet', '', 'description'],
      attributes.map((attribute) => [
        `\`${attribute.path}\``,
        attribute.type,
        attribute.traits?.facet ?? '',
        flags(attribute).join(', '),
        attribute.description,
      ]),
    ),
    ...(computed.length === 0
      ? []
      : [
          '## Computed attributes',
          'Set by the provider; other resources may refer to them.',
          table(
            ['attribute', 'description'],
            computed.map(([path, traits]) => [
              `\`${path}\``,
              `${traits.description}${traits.kept ? ' Secret, kept encrypted in the state.' : traits.sensitive ? ' Secret.' : ''}`,
            ]),
          ),
        ]),
    '## Example',
    `\`\`\`yaml\n${type.example.trimEnd()}\n\`\`\``,
  );
}

function flags({ required, traits }: Attribute): readonly string[] {
  return [...(required ? ['required'] : []), ...(traits === undefined ? [] : traitFlags(traits))];
}

function traitFlags(traits: Traits): readonly string[] {
  const named = [
    [traits.sensitive, 'secret'],
    [traits.immutable, 'replaces'],
    [traits.writeOnly, 'never read back'],
    [traits.kept, 'kept encrypted where it is a secret'],
    [traits.bound, 'replaced with what it refers to'],
    [traits.reads, 'names a file'],
    [traits.compare === 'set', 'in any order'],
  ] as const;
  const keyed = typeof traits.compare === 'object' ? [`paired by \`${traits.compare.keyedBy}\``] : [];
  return [...named.filter(([holds]) => holds).map(([, name]) => name), ...keyed];
}
