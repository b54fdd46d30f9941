import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { formatPath } from '../../../src/core/path.ts';
import { Sensitive, Unknown, type Value } from '../../../src/core/value.ts';
import type { TypeContext } from '../../../src/providers/contract.ts';
import { checkAttributes, checkValue } from '../../../src/providers/validate.ts';
import { fakeRegistry } from './fake-registry.ts';
import { IMAGE } from './workbench.ts';

const unknown = new Unknown('x.y.z');
const secret = (value: Value) => Sensitive.open(value, ['s']);
const context: TypeContext = { environment: 'e', address: 'fake.box.a' as ResourceAddress, name: 'a', folder: '/', config: {} };

function problems(attributes: Readonly<Record<string, Value>>): readonly string[] {
  const type = fakeRegistry().find('fake.box')?.type;
  if (type === undefined) throw new Error('no type');
  return checkAttributes(type, attributes, context).map(({ code, path, detail }) => `${code} ${formatPath(path ?? [])}: ${detail}`);
}

describe('attributes', () => {
  it.each<[string, Readonly<Record<string, Value>>]>([
    ['plain ones', { image: IMAGE, ports: ['80:80', { target: 80 }], environment: { A: 1, B: 'b', C: true } }],
    ['unknown leaves', { image: unknown, replicas: unknown, ports: [unknown, { target: unknown }], environment: { A: unknown } }],
    ['unknown wholes', { image: IMAGE, ports: unknown, environment: unknown, ready: unknown }],
    ['unknowns in unions', { image: { repository: unknown, digest: 'x' }, ports: [{ target: 80, published: unknown }] }],
    ['secrets that fit', { image: secret(IMAGE), environment: { A: secret('x') }, replicas: secret(3) }],
    [
      'secrets that hide',
      { image: Sensitive.skipped(['s']), replicas: Sensitive.sealed('hmac-sha256:1'), environment: Sensitive.skipped(['s']) },
    ],
    ['secrets with an unknown inside', { image: secret(unknown), environment: secret({ A: unknown }) }],
    ['files that were read', { image: IMAGE, env_file: { path: 'a', sha256: 'x', text: 'A=1' } }],
    ['several files that were read', { image: IMAGE, env_file: [{ path: 'a', sha256: 'x', base64: '' }, unknown] }],
  ])('must be accepted: %s', (_, attributes) => {
    expect(problems(attributes)).toEqual([]);
  });

  it.each<[Readonly<Record<string, Value>>, readonly string[]]>([
    [{}, ['MISSING_KEY image: The key image is required and is missing.']],
    [{ image: 5 }, ['WRONG_TYPE image: image must be text, or a map with repository, digest, and is 5.']],
    [{ image: 'x' }, ['BAD_VALUE image: image must be an image with a digest, and is the text "x".']],
    [{ image: { repository: 'r' } }, ['MISSING_KEY image.digest: The key digest is required in image and is missing.']],
    [{ image: { repository: 'r', digest: 'd', tga: 'x' } }, ['UNKNOWN_KEY image.tga: There is no key tga here. Did you mean tag?']],
    [{ image: IMAGE, replicas: 1.5 }, ['WRONG_TYPE replicas: replicas must be an integer, and is 1.5.']],
    [{ image: IMAGE, replicas: 0 }, ['BAD_VALUE replicas: replicas must be a number of at least 1, and is 0.']],
    [{ image: IMAGE, ports: '80:80' }, ['WRONG_TYPE ports: ports must be a list, and is the text "80:80".']],
    [
      { image: IMAGE, ports: ['80:80', { target: 70000 }] },
      ['BAD_VALUE ports[1].target: ports[1].target must be a number of at most 65535, and is 70000.'],
    ],
    [
      { image: IMAGE, environment: { A: null } },
      ['WRONG_TYPE environment.A: environment.A must be text, or a number, or true or false, and is null.'],
    ],
    [{ image: IMAGE, environment: [] }, ['WRONG_TYPE environment: environment must be a map, and is an empty list.']],
    [
      { image: IMAGE, id: 'x', nope: 1 },
      [
        'COMPUTED_ATTRIBUTE id: id is computed by the provider and can only be read. Remove it.',
        'UNKNOWN_KEY nope: There is no key nope here.',
      ],
    ],
    [{ image: IMAGE, privileged: true, restart: 'always' }, ['BOX_UNSAFE privileged: A privileged box may not restart always.']],
    [
      { image: IMAGE, ready: { timeout: '5 s', htpp: 'x' } },
      [
        'UNKNOWN_KEY ready.htpp: There is no key htpp here. Did you mean http?',
        'BAD_VALUE ready.timeout: ready.timeout must be a duration such as 60s, and is the text "5 s".',
      ],
    ],
    [
      { image: secret('canary'), restart: secret('canary'), replicas: secret('canary') },
      [
        'BAD_VALUE image: image must be an image with a digest, and is a secret.',
        'BAD_VALUE restart: restart must be one of "no", "always", "unless-stopped", and is a secret.',
        'WRONG_TYPE replicas: replicas must be an integer, and is a secret.',
      ],
    ],
    [
      { image: IMAGE, environment: secret({ A: ['canary'] }) },
      ['WRONG_TYPE environment.A: environment.A must be text, or a number, or true or false, and is a secret.'],
    ],
  ])('must be refused: %j', (attributes, expected) => {
    expect(problems(attributes)).toEqual(expected);
  });
});

describe('a value', () => {
  it.each<[z.ZodType, Value, readonly string[]]>([
    [
      z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a'), x: z.int() }), z.strictObject({ kind: z.literal('b') })]),
      { kind: 'c' },
      ['BAD_VALUE kind one of "a", "b"'],
    ],
    [
      z.discriminatedUnion('kind', [z.strictObject({ kind: z.literal('a'), x: z.int() }), z.strictObject({ kind: z.literal('b') })]),
      { kind: unknown },
      [],
    ],
    [z.record(z.string().regex(/^[a-z]+$/, 'lower-case letters'), z.string()), { A: 'x' }, ['BAD_KEY A lower-case letters']],
    [z.array(z.string()).min(1), [], ['BAD_VALUE  a list of at least 1 members']],
    [z.string().min(2), 'a', ['BAD_VALUE  text of at least 2 characters']],
    [z.literal(true), false, ['BAD_VALUE  true']],
    [z.union([z.literal('none'), z.strictObject({ run: z.string() })]), 'non', ['BAD_VALUE  "none"']],
    [z.union([z.literal('none'), z.strictObject({ run: z.string() })]), { rnu: 'x' }, ['UNKNOWN_KEY rnu one of run']],
    [z.number().gt(0), 0, ['BAD_VALUE  a number above 0']],
  ])('must be judged by its schema', (schema, value, expected) => {
    expect(checkValue(schema, value).map((problem) => `${problem.code} ${formatPath(problem.path)} ${problem.expected}`)).toEqual(expected);
  });
});
