import { z } from 'zod';
import { isTypeName, type TypeName } from '../core/address.ts';
import { FACETS, type Facet } from '../core/facet.ts';
import { type AttributePath, formatPath } from '../core/path.ts';
import type { ResourceType, Traits } from './contract.ts';

/** What an attribute's metadata says; everything but the description has a default. */
export interface AttributeOptions {
  readonly facet?: Facet;
  readonly sensitive?: boolean;
  readonly computed?: boolean;
  readonly immutable?: boolean;
  readonly writeOnly?: boolean;
  readonly kept?: boolean;
  readonly bound?: boolean;
  readonly reads?: boolean;
  readonly compare?: Traits['compare'];
}

/** The key under which an attribute's traits stand in the schema's metadata. JSON Schema shows it as `x-accede`. */
export const TRAITS_KEY = 'x-accede';

/**
 * An attribute of a resource type: a schema with its description and traits. The facet is `configuration` unless said otherwise. Wrap
 * optional schemas whole: `attribute(z.string().optional(), 'what it is', { facet: 'tuning' })`.
 */
export function attribute<T extends z.ZodType>(schema: T, description: string, options: AttributeOptions = {}): T {
  return schema.meta({ description, [TRAITS_KEY]: traitsOf(description, options) }) as T;
}

/** The traits that an attribute with these options has; for members of a normal form that the YAML does not have. */
export function traitsOf(description: string, options: AttributeOptions = {}): Traits {
  return {
    description,
    facet: options.facet ?? 'configuration',
    sensitive: options.sensitive ?? false,
    computed: options.computed ?? false,
    immutable: options.immutable ?? false,
    writeOnly: options.writeOnly ?? false,
    kept: options.kept ?? false,
    bound: options.bound ?? false,
    reads: options.reads ?? false,
    compare: options.compare ?? 'exact',
  };
}

export type TypeDefinition = Omit<ResourceType, 'type' | 'traits' | 'roles' | 'protected' | 'data' | 'schema'> & {
  readonly type: string;
  /** A strict object whose members were made with `attribute`. */
  readonly schema: z.ZodObject;
  readonly roles?: ResourceType['roles'];
  readonly protected?: boolean;
  readonly data?: boolean;
  /** Computed attributes and members that only the normal form has. */
  readonly traits?: Readonly<Record<AttributePath, Traits>>;
};

/** Makes a resource type: gathers the traits from the schema's metadata and refuses a definition with holes. Throws, since only a programmer can cause it. */
export function defineType(definition: TypeDefinition): ResourceType {
  if (!isTypeName(definition.type)) throw new Error(`${definition.type} is not a type name`);
  const traits = new Map<AttributePath, Traits>();
  gather(definition.schema, [], traits);
  for (const name of Object.keys(definition.schema.shape)) {
    if (!traits.has(name)) throw new Error(`${definition.type}: attribute ${name} has no traits`);
  }
  for (const [path, value] of Object.entries(definition.traits ?? {})) traits.set(path, value);
  return { roles: [], protected: false, data: false, ...definition, type: definition.type as TypeName, traits };
}

/** The traits in a schema that is no resource type's, by path: those of a provider's configuration. */
export function schemaTraits(schema: z.ZodType): ReadonlyMap<AttributePath, Traits> {
  const traits = new Map<AttributePath, Traits>();
  gather(schema, [], traits);
  return traits;
}

/** The traits of a path: its own, or those of its nearest parent. Every type has them for every path that its normal form can hold. */
export function traitsAt(type: ResourceType, path: AttributePath): Traits {
  for (let prefix = path; prefix !== ''; prefix = parentOf(prefix)) {
    const traits = type.traits.get(prefix);
    if (traits !== undefined) return traits;
  }
  throw new Error(`${type.type}: no traits at ${path}`);
}

function parentOf(path: AttributePath): AttributePath {
  if (path.endsWith(']')) {
    const quoted = /\["(?:[^"\\]|\\.)*"\]$/.exec(path) ?? /\[\d+\]$/.exec(path);
    return quoted === null ? '' : path.slice(0, quoted.index);
  }
  const dot = path.lastIndexOf('.');
  return dot === -1 ? '' : path.slice(0, dot);
}

function gather(schema: z.ZodType, path: readonly string[], into: Map<AttributePath, Traits>): void {
  const meta = schema.meta()?.[TRAITS_KEY];
  if (path.length > 0 && isTraits(meta)) into.set(formatPath(path), meta);
  for (const inner of innerSchemas(schema)) {
    if (inner instanceof z.ZodObject) {
      for (const [name, member] of Object.entries(inner.shape)) gather(member as z.ZodType, [...path, name], into);
    } else if (inner !== schema) {
      gather(inner, path, into);
    }
  }
}

/** The schemas that stand at the same path: what is optional, defaulted, or one of a union. */
function innerSchemas(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return [schema.unwrap() as z.ZodType];
  if (schema instanceof z.ZodUnion) return schema.options as readonly z.ZodType[];
  return [];
}

function isTraits(value: unknown): value is Traits {
  return typeof value === 'object' && value !== null && 'facet' in value && FACETS.includes(value.facet as Facet);
}
