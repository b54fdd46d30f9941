import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { evaluateTemplate } from '../../../src/core/template.ts';
import { Unknown } from '../../../src/core/value.ts';
import type { Environment } from '../../../src/spec/environment.ts';
import { HEAD, IMAGE, load, loaded, PART, workbench } from './workbench.ts';

/** What a plan sees of the resources, without places. */
function resources(environment: Environment): string {
  return JSON.stringify(
    environment.resources.map(({ address, role, provider, attributes, references, dependsOn, lifecycle }) => {
      const value = evaluateTemplate(attributes, (type, name) => new Unknown(`${type}.${name}`));
      return [
        address,
        role,
        provider,
        sorted(value.ok && typeof value.value !== 'symbol' ? JSON.parse(JSON.stringify(value.value)) : null),
        references,
        dependsOn,
        sorted(JSON.parse(JSON.stringify(lifecycle))),
      ];
    }),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}

const BASE = {
  variables: { port: { type: 'integer', default: 80 }, name: { default: 'n' } },
  secrets: { pw: { env: 'PW' } },
  locals: { a: 1, b: { x: '${vars.port}', y: '${secrets.pw}' } },
  resources: {
    'fake.value': {
      one: { input: '${locals.b}' },
      two: { input: '${fake.value.one.output}', depends_on: ['fake.value.one'] },
      many: { for_each: { k: 1, l: 2 }, input: '${each.value}' },
    },
    'fake.box': {
      api: { image: IMAGE, environment: { A: 'a', B: '${file("note")}' }, env_file: 'note', lifecycle: { ignore_changes: ['ports'] } },
    },
  },
  outputs: { o: { value: '${fake.value.one.output}' } },
  policy: { plan_max_age: '1h' },
};

/** The sections in another order of keys, cut into fragments with other names. */
const layout = fc.record({
  seed: fc.array(fc.nat(1000), { minLength: 12, maxLength: 12 }),
  names: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 3, maxLength: 3 }),
  style: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const),
});

function shuffled(value: unknown, seed: readonly number[], depth = 0): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(
    ([name, item], index) => [name, shuffled(item, seed, depth + 1), seed[(index + depth) % seed.length] ?? 0] as const,
  );
  return Object.fromEntries([...entries].sort((a, b) => a[2] - b[2]).map(([name, item]) => [name, item]));
}

function write({
  seed,
  names,
  style,
}: {
  readonly seed: readonly number[];
  readonly names: readonly string[];
  readonly style: 'PLAIN' | 'QUOTE_DOUBLE';
}): Readonly<Record<string, string>> {
  const { policy, ...parts } = BASE;
  const files: Record<string, Record<string, unknown>> = {};
  Object.entries(parts).forEach(([section, content], index) => {
    const name = names[(seed[index] ?? 0) % names.length] ?? 'x';
    files[name] = { ...files[name], [section]: content };
  });
  const text = (content: unknown) => stringify(shuffled(content, seed), { defaultStringType: style, lineWidth: 0 });
  return {
    ...Object.fromEntries(Object.entries(files).map(([name, content]) => [`${name}-part.yaml`, `# ${name}\n${PART}${text(content)}`])),
    'environment.yaml': `${HEAD}${text({ policy })}`,
    note: 'content\n',
  };
}

describe('the source digest', () => {
  it('must not depend on the order of files and keys, on names of files, spelling or folder', async () => {
    const first = await loaded(write({ seed: [0], names: ['a', 'b', 'c'], style: 'PLAIN' }), { processEnvironment: { PW: 'x' } });
    await fc.assert(
      fc.asyncProperty(layout, async (chosen) => {
        const other = await loaded(write(chosen), { processEnvironment: { PW: 'y' } });
        expect(other.sourceDigest).toBe(first.sourceDigest);
        expect(resources(other)).toBe(resources(first));
      }),
      { numRuns: 40 },
    );
  });

  it('must change with what the documents say, and with the content of what they read', async () => {
    const digest = async (environment: string, note = 'content\n', options = {}) =>
      (await loaded({ 'environment.yaml': `${HEAD}${environment}`, note }, options)).sourceDigest;
    const base =
      'variables: { v: { default: a } }\nsecrets: { s: { env: S } }\nresources: { fake.value: { a: { input: \'${file("note") + vars.v}\' } } }\n';
    const first = await digest(base, 'content\n', { secrets: 'none' });
    expect(await digest(`# a comment\n${base}x-note: 1\n`, 'content\n', { secrets: 'none' })).toBe(first);
    expect(await digest(base, 'content\n', { secrets: 'none', variables: [['v', 'b']] })).toBe(first);
    const others = await Promise.all([
      digest(base, 'other\n', { secrets: 'none' }),
      digest(base.replace('default: a', 'default: b'), 'content\n', { secrets: 'none' }),
      digest(base.replace('env: S', 'env: T'), 'content\n', { secrets: 'none' }),
      digest(base.replace('vars.v', 'string(1)'), 'content\n', { secrets: 'none' }),
      digest(`${base}policy: { plan_max_age: 1h }\n`, 'content\n', { secrets: 'none' }),
    ]);
    expect(new Set([first, ...others]).size).toBe(6);
  });
});

describe('documents of any content', () => {
  const scalar = fc.oneof(
    fc.constantFrom(
      '${vars.x}',
      '${',
      '${1 + }',
      '${secrets.s}',
      '${fake.value.a.output}',
      'fake.value.a',
      '__proto__',
      'yes',
      'null',
      '-',
      '1h',
      '${each.key}',
      '${omit}',
    ),
    fc.string({ maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.double(),
  );
  const name = fc.oneof(
    fc.constantFrom(
      'variables',
      'locals',
      'secrets',
      'resources',
      'providers',
      'outputs',
      'defaults',
      'overrides',
      'moved',
      'removed',
      'import',
      'policy',
      'hooks',
      'state',
      'release',
      'include',
      'ignore',
      'metadata',
      'quiesce',
    ),
    fc.constantFrom(
      'fake.value',
      'fake.box',
      'fake',
      'a',
      'input',
      'image',
      'for_each',
      'depends_on',
      'lifecycle',
      'provider',
      'enabled',
      'timeouts',
      'type',
      'default',
      'env',
      'file',
      'value',
      'address',
      'from',
      'to',
      'key',
      'in',
      'x-y',
      '<<',
      '__proto__',
      'constructor',
      'environment',
      'backend',
      'path',
    ),
  );
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'medium', maxDepth: 5 },
      scalar,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(name, tie('node'), { maxKeys: 4 }),
    ),
  })).node;

  it('must give diagnostics and never an exception', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, tree, { maxKeys: 5 }), async (content) => {
        const outcome = await load(
          workbench({ 'environment.yaml': `${HEAD.replace(/^metadata.*\n/m, '')}${stringify({ metadata: { name: 'a' }, ...content })}` }),
          { secrets: 'none' },
        );
        for (const diagnostic of outcome.diagnostics) expect(JSON.stringify(diagnostic)).not.toMatch(/\n {4}at |undefined|\[object/);
      }),
      { numRuns: 400 },
    );
  });

  it('must give diagnostics for any text', async () => {
    const lines = fc.constantFrom(
      'locals:',
      '  a: ',
      '- ',
      '  - x',
      '${',
      '}',
      '{',
      '[',
      '&a ',
      '*a',
      '!t ',
      '"',
      "'",
      '|',
      '>',
      '? ',
      ': ',
      '#',
      '\t',
      '---',
      '...',
      '%YAML 1.1',
      '<<: *a',
      'resources:',
      '    b: {',
      '\r\n',
      '\n',
      ' ',
      '@',
      '`',
      '\u0000',
      '\ufeff',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { maxLength: 25 }), async (pieces) => {
        const outcome = await load(workbench({ 'environment.yaml': `${HEAD}${pieces.join('')}` }), { secrets: 'none' });
        expect(outcome.ok || outcome.diagnostics.length > 0).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('must give diagnostics for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        const outcome = await load(workbench({ 'environment.yaml': Buffer.concat([Buffer.from(HEAD), bytes]) }), { secrets: 'none' });
        expect(outcome.ok || outcome.diagnostics.every(({ source }) => source !== undefined)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
