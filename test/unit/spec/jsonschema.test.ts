import { Ajv } from 'ajv';
import { compile } from 'json-schema-to-typescript';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { editorSchema } from '../../../src/spec/jsonschema.ts';
import { foldSchema } from '../../../src/spec/jsonschema-fold.ts';
import { fakeRegistry } from './fake-registry.ts';
import { HEAD, IMAGE, PART } from './workbench.ts';

const registry = fakeRegistry();

const REPEATED = {
  type: 'object',
  description: 'A part that is long enough to be worth a name. '.repeat(8),
  properties: { inner: { type: 'string' } },
};

function judge(kind: 'environment' | 'fragment' | 'release', text: string): readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(editorSchema(kind, registry));
  return validate(parse(text)) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('the schema for editors', () => {
  it.each(['environment', 'fragment', 'release'] as const)('must be draft-07 and become types: %s', async (kind) => {
    const schema = editorSchema(kind, registry) as Readonly<Record<string, unknown>>;
    expect(schema['$schema']).toBe('http://json-schema.org/draft-07/schema#');
    const types = await compile(structuredClone({ ...schema, title: kind }) as Parameters<typeof compile>[0], kind, { bannerComment: '' });
    expect(types).toContain('export interface');
  });

  it('must describe every member that a document can have', () => {
    type Schema = Readonly<Record<string, unknown>>;
    const missing: string[] = [];
    const walk = (part: Schema, at: string, definitions: Readonly<Record<string, Schema>>): void => {
      const schema = definitions[String(part['$ref']).replace('#/definitions/', '')] ?? part;
      const isDescribed = (member: Schema) =>
        (definitions[String(member['$ref']).replace('#/definitions/', '')] ?? member)['description'] !== undefined;
      for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>)) {
        if (!isDescribed(member) && !/^\/(state)$/.test(`${at}/${name}`)) missing.push(`${at}/${name}`);
        walk(member, `${at}/${name}`, definitions);
      }
      for (const key of ['anyOf', 'oneOf'] as const)
        for (const branch of (schema[key] ?? []) as readonly Schema[]) walk(branch, at, definitions);
      for (const key of ['items', 'additionalProperties'] as const)
        if (typeof schema[key] === 'object' && schema[key] !== null) walk(schema[key] as Schema, at, definitions);
    };
    for (const kind of ['environment', 'fragment', 'release'] as const) {
      const schema = editorSchema(kind, registry) as Schema;
      walk(schema, kind, (schema['definitions'] ?? {}) as Readonly<Record<string, Schema>>);
    }
    expect(missing.filter((path) => !/fake|dash-ed/.test(path))).toEqual([]);
  });

  it('must say what stands in several places once', () => {
    const folded = foldSchema({
      properties: { a: REPEATED, b: { properties: { a: REPEATED, other: { items: REPEATED } } } },
    });
    expect(folded).toEqual({
      properties: {
        a: { $ref: '#/definitions/A' },
        b: { properties: { a: { $ref: '#/definitions/A' }, other: { items: { $ref: '#/definitions/A' } } } },
      },
      definitions: { A: REPEATED },
    });
    expect(foldSchema({ properties: { a: REPEATED, b: {} } })).toEqual({ properties: { a: REPEATED, b: {} } });
  });

  it('must admit what the loader admits, expressions in place of any value', () => {
    const text = `${HEAD}x-note: 1
variables: { port: { type: integer, default: "\${1 + 1}", x-note: y } }
secrets: { pw: { exec: [a, b], format: json } }
state: { backend: sqlite, path: "\${vars.p}" }
policy: { plan_max_age: 24h }
defaults: { fake.box: { replicas: 2 } }
providers: { fake: { host: x }, "fake:edge": { host: "\${vars.h}" } }
resources:
  x-anchors: {}
  fake.box:
    a: { image: "\${release.services.api.image}", replicas: "\${vars.n}", ports: "\${locals.p}", environment: { A: 1, B: "\${secrets.pw}" }, enabled: "\${vars.on}", timeouts: { create: "\${vars.t}" }, x-note: z }
    b: { image: "${IMAGE}", ports: ["80:80", { target: "\${vars.t}" }], for_each: "\${locals.m}", lifecycle: { ignore_changes: all } }
outputs: { o: { value: [1] } }
`;
    expect(judge('environment', text)).toEqual([]);
    expect(judge('fragment', `${PART}resources: { fake.value: { a: { input: { any: [thing] } } } }\n`)).toEqual([]);
    expect(
      judge(
        'release',
        `apiVersion: accede/v1\nkind: Release\nmetadata: { name: a, version: "1" }\nservices: { api: { image: "${IMAGE}" } }\n`,
      ),
    ).toEqual([]);
  });

  it.each([
    ['an unknown key', `${HEAD}resorces: {}\n`],
    ['an unknown type', `${HEAD}resources: { fake.nope: {} }\n`],
    ['an unknown attribute', `${HEAD}resources: { fake.box: { a: { imge: x } } }\n`],
    ['a wrong type', `${HEAD}resources: { fake.box: { a: { image: "${IMAGE}", replicas: x } } }\n`],
    ['a wrong kind', `${HEAD.replace('Environment', 'Fragment')}`],
    ['an expression for the name', `${HEAD.replace('name: test', 'nam: "${vars.x}"')}`],
  ])('must refuse %s', (_, text) => {
    expect(judge('environment', text).length).toBeGreaterThan(0);
  });
});
