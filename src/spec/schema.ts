import { z } from 'zod';
import { isPlainName } from '../core/naming.ts';
import type { Registry, ResourceType } from '../providers/contract.ts';
import {
  hooksSchema,
  importSchema,
  movedSchema,
  outputSchema,
  policySchema,
  quiesceSchema,
  releaseReferenceSchema,
  removedSchema,
  secretSchema,
  stateSchema,
  variableSchema,
} from './schema-blocks.ts';
import { COMMON_KEYS } from './schema-resource.ts';

export { releaseSchema } from './schema-release.ts';

const plainName = () => z.string().refine(isPlainName, 'letters, digits, "_", "-" and "."');
/** What expressions read as a member: `vars.NAME`. */
const memberName = () => z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'letters, digits and _, not beginning with a digit');

/** How the parts that depend on providers are checked: fully for the editor, by their outer form while documents are put together. */
interface Parts {
  readonly resources: z.ZodType;
  readonly defaults: z.ZodType;
  readonly providers: z.ZodType;
}

/** The schema of an Environment document with the resource types of a registry. Expressions may stand for any value beside it. */
export function environmentSchema(registry: Registry): z.ZodObject {
  return environment(fullParts(registry));
}

/** The schema of a Fragment document. */
export function fragmentSchema(registry: Registry): z.ZodObject {
  return fragment(fullParts(registry));
}

/** The outer form of a document, blocks of resources and providers left open. */
export function outlineSchema(kind: 'Environment' | 'Fragment'): z.ZodObject {
  const block = z.record(z.string(), z.record(z.string(), z.union([z.record(z.string(), z.unknown()), z.null()])));
  const parts: Parts = {
    resources: block,
    defaults: z.record(z.string(), z.record(z.string(), z.unknown())),
    providers: z.record(z.string(), z.union([z.record(z.string(), z.unknown()), z.null()])),
  };
  return kind === 'Environment' ? environment(parts) : fragment(parts);
}

function environment(parts: Parts): z.ZodObject {
  return z.strictObject({
    apiVersion: z.literal('accede/v1').describe('The version of the format.'),
    kind: z.literal('Environment').describe('This is an environment. A folder holds exactly one.'),
    metadata: z
      .strictObject({ name: plainName().describe('The name of the environment; no expression.') })
      .describe('What the environment is.'),
    include: z.array(z.string()).optional().describe('Paths or globs of documents that belong to it, relative to the folder.'),
    ignore: z.array(z.string()).optional().describe('YAML files of the folder that are none of ours.'),
    ...shared(parts),
    release: releaseReferenceSchema.optional().describe('The release document, relative to the folder.'),
    state: stateSchema.optional(),
    policy: policySchema.optional().describe('What may be applied, and how.'),
    quiesce: quiesceSchema.optional().describe('What is stopped before a change that needs quiet.'),
    hooks: hooksSchema.optional().describe('Programs that run at points of an apply.'),
  });
}

function fragment(parts: Parts): z.ZodObject {
  return z.strictObject({
    apiVersion: z.literal('accede/v1').describe('The version of the format.'),
    kind: z.literal('Fragment').describe('This is a part of an environment.'),
    metadata: z
      .strictObject({ name: plainName().optional().describe('A name for people.') })
      .optional()
      .describe('What the fragment is.'),
    ...shared(parts),
  });
}

function shared(parts: Parts) {
  return {
    variables: z
      .record(memberName(), z.union([variableSchema, z.null()]))
      .optional()
      .describe('What may be set from outside.'),
    locals: z.record(memberName(), z.unknown()).optional().describe('Named values.'),
    secrets: z.record(memberName(), secretSchema).optional().describe('Where secrets come from.'),
    defaults: parts.defaults.optional().describe('By type: what is merged under every resource of that type in this document.'),
    providers: parts.providers.optional().describe('Configuration of providers, by name or name:alias.'),
    resources: parts.resources.optional().describe('By type and name: what the environment consists of.'),
    outputs: z.record(memberName(), outputSchema).optional().describe('Values for the outside.'),
    moved: z.array(movedSchema).optional().describe('Addresses that changed.'),
    removed: z.array(removedSchema).optional().describe('What is let go of without its object being destroyed, or destroyed on purpose.'),
    import: z.array(importSchema).optional().describe('Objects that exist already and become managed.'),
    overrides: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The same keys as a document: maps merge, scalars and lists replace, null removes.'),
  };
}

function fullParts(registry: Registry): Parts {
  const byType = (shape: (type: ResourceType) => z.ZodType) =>
    z.strictObject(Object.fromEntries(registry.types.map((type) => [type.type, shape(type).optional().describe(type.summary)])));
  return {
    resources: byType((type) => z.record(plainName(), resourceSchema(type))),
    defaults: byType((type) => resourceSchema(type).partial()),
    providers: providersSchema(registry),
  };
}

/** A block of one resource: the type's attributes and the common keys. */
export function resourceSchema(type: ResourceType): z.ZodObject {
  return z.strictObject({ ...attributesOf(type), ...COMMON_KEYS });
}

function attributesOf(type: ResourceType): z.ZodRawShape {
  if (!(type.schema instanceof z.ZodObject)) throw new Error(`${type.type}: the schema is no object`);
  return type.schema.shape as z.ZodRawShape;
}

function providersSchema(registry: Registry): z.ZodType {
  const names = [...registry.providers.values()];
  return z
    .object(Object.fromEntries(names.map((provider) => [provider.name, provider.config.optional().describe(provider.summary)])))
    .catchall(z.record(z.string(), z.unknown()));
}
