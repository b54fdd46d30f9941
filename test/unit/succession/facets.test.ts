import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMON_FACETS, ENVIRONMENT_FACETS, facetAt, RELEASE_FACETS } from '../../../src/core/document-facets.ts';
import { FACETS } from '../../../src/core/facet.ts';
import { CLASS_NAMES, needsAllowance, OPEN_CLASS_NAMES } from '../../../src/core/successor-class.ts';
import { schemaTraits, TRAITS_KEY, traitsAt } from '../../../src/providers/define.ts';
import { fakeProvider } from '../../../src/providers/fake/provider.ts';
import { ROLE_TYPES } from '../../../src/providers/fake/role-types.ts';
import { FakeWorld } from '../../../src/providers/fake/world.ts';
import { createRegistry, defaultRegistry } from '../../../src/providers/registry.ts';
import { environmentSchema, releaseSchema } from '../../../src/spec/schema.ts';
import { COMMON_KEYS } from '../../../src/spec/schema-resource.ts';

const registries = [defaultRegistry(), createRegistry([fakeProvider(new FakeWorld(), ROLE_TYPES)])];

/** The objects that stand at the place of a schema. */
function objectsIn(schema: z.ZodType): readonly z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectsIn(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) return (schema.options as readonly z.ZodType[]).flatMap(objectsIn);
  return [];
}

function recordsIn(schema: z.ZodType): readonly z.ZodType[] {
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return recordsIn(schema.unwrap() as z.ZodType);
  return [];
}

/** Paths of all leaves, `name` standing for any key. */
function leaves(schema: z.ZodType, at: readonly string[] = []): readonly (readonly string[])[] {
  const members = objectsIn(schema).flatMap(({ shape }) =>
    Object.entries(shape).flatMap(([name, member]) => leaves(member as z.ZodType, [...at, name])),
  );
  const entries = recordsIn(schema).flatMap((value) => leaves(value, [...at, 'name']));
  const below = [...members, ...entries];
  return below.length === 0 ? [at] : below;
}

describe('facets', () => {
  it('must be told of every attribute of every type, in its own words', () => {
    for (const type of registries.flatMap(({ types }) => types)) {
      const [schema] = objectsIn(type.schema);
      expect(schema, type.type).toBeDefined();
      for (const [name, member] of Object.entries(schema?.shape ?? {})) {
        expect((member as z.ZodType).meta()?.[TRAITS_KEY], `${type.type}.${name}`).toMatchObject({ facet: expect.any(String) });
        expect(FACETS, `${type.type}.${name}`).toContain(traitsAt(type, name).facet);
      }
    }
  });

  it('must be told of every attribute of a provider block', () => {
    for (const provider of registries.flatMap(({ providers }) => [...providers.values()])) {
      const traits = schemaTraits(provider.config);
      for (const { shape } of objectsIn(provider.config)) {
        for (const name of Object.keys(shape)) expect(traits.get(name)?.facet, `${provider.name}.${name}`).toBeDefined();
      }
    }
  });

  it('must be told of every common key and every block of an environment, and of nothing else', () => {
    expect(
      Object.keys(COMMON_FACETS)
        .filter((name) => !name.includes('.'))
        .sort(),
    ).toEqual(Object.keys(COMMON_KEYS).sort());
    const blocks = Object.keys(environmentSchema(defaultRegistry()).shape);
    expect(Object.keys(ENVIRONMENT_FACETS).sort()).toEqual(blocks.sort());
  });

  it('must be told of every place of a release', () => {
    for (const path of leaves(releaseSchema())) expect(facetAt(RELEASE_FACETS, path), path.join('.')).toBeDefined();
    expect(facetAt(RELEASE_FACETS, ['services', 'api', 'image', 'repository'])).toBe('identity');
    expect(facetAt(RELEASE_FACETS, ['nothing', 'of', 'ours'])).toBeUndefined();
  });
});

describe('the names of classes', () => {
  it('must need a place in allow but for those that do nothing or end what was begun', () => {
    const free = [...CLASS_NAMES, ...OPEN_CLASS_NAMES].filter((name) => !needsAllowance(name));
    expect(free).toEqual(['no-op', 'annotation', 'refuse', 'resume', 'revert']);
  });
});
