import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TypeName } from '../../../src/core/address.ts';
import { evaluateTemplate, OMIT, type ResourceLookup } from '../../../src/core/template.ts';
import { type Attributes, isAttributes, Sensitive, Unknown, type Value } from '../../../src/core/value.ts';
import type { Environment, ResourceInstance } from '../../../src/spec/environment.ts';
import { HEAD, IMAGE, line, load, loaded, PART, workbench } from './workbench.ts';

const env = (text: string) => ({ 'environment.yaml': `${HEAD}${text}` });

function instance(environment: Environment, address: string): ResourceInstance {
  const found = environment.resources.find((resource) => resource.address === address);
  if (found === undefined) throw new Error(`no ${address} among ${environment.resources.map((resource) => resource.address).join(', ')}`);
  return found;
}

const nothing: ResourceLookup = (type, name) => new Unknown(`${type}.${name}`);

function attributes(environment: Environment, address: string, lookup: ResourceLookup = nothing): Attributes {
  const outcome = evaluateTemplate(instance(environment, address).attributes, lookup);
  if (!outcome.ok || outcome.value === OMIT || !isAttributes(outcome.value)) throw new Error('no attributes');
  return outcome.value;
}

const input = (environment: Environment, name: string, lookup?: ResourceLookup) =>
  attributes(environment, `fake.value.${name}`, lookup)['input'];

describe('documents', () => {
  it('must come together from includes, fragments and the environment', async () => {
    const environment = await loaded(
      {
        'envs/a/environment.yaml': `${HEAD}include: [../base/*.yaml]\nlocals: { own: 1 }\nresources:\n  fake.value: { a: { input: "\${locals.base + locals.part}" } }\n`,
        'envs/a/part.yml': `${PART}locals: { part: 2 }\n`,
        'envs/base/one.yaml': `${PART}locals: { base: 40 }\nresources:\n  fake.value: { b: { input: '\${file("note.txt")}' } }\n`,
        'envs/base/note.txt': 'beside the document\n',
        'envs/a/release.yaml': 'apiVersion: accede/v1\nkind: Release\nnonsense: true\n',
      },
      {},
      'envs/a',
    );
    expect(input(environment, 'a')).toBe(42);
    expect(input(environment, 'b')).toBe('beside the document\n');
    expect(instance(environment, 'fake.value.b').folder).toBe(path.join(environment.workTree, 'envs/base'));
    expect(instance(environment, 'fake.value.b').source).toMatchObject({ file: '../base/one.yaml', line: 5 });
  });

  it('must fill in variables in includes', async () => {
    const files = {
      'environment.yaml': `${HEAD}variables: { site: { default: north } }\ninclude: ["sites/\${vars.site}.yaml"]\n`,
      'sites/north.yaml': `${PART}outputs: { site: { value: n } }\n`,
      'sites/south.yaml': `${PART}outputs: { site: { value: s } }\n`,
    };
    expect((await loaded(files)).outputs[0]?.value).toMatchObject({ value: 'n' });
    expect((await loaded(files, { variables: [['site', 'south']] })).outputs[0]?.value).toMatchObject({ value: 's' });
  });

  it('must leave alone what ignore lists, whatever it holds', async () => {
    await loaded({ ...env('ignore: [compose.yaml, "x-*.yml"]\n'), 'compose.yaml': '\t: [', 'x-1.yml': 'a: 1', '.hidden.yaml': 'a: 1' });
  });

  it('must ignore x- keys and fill in anchors and merges', async () => {
    const environment = await loaded(
      env(
        'x-base: &base { input: 1, needs: [a] }\nresources:\n  x-note: y\n  fake.value:\n    x-note: y\n    a: { <<: *base, x-note: z, input: 2 }\n    b: { <<: [{ needs: [b] }, *base], input: { x-kept: 1 } }\n',
      ),
    );
    expect(attributes(environment, 'fake.value.a')).toEqual({ input: 2, needs: ['a'] });
    expect(attributes(environment, 'fake.value.b')).toEqual({ input: { 'x-kept': 1 }, needs: ['b'] });
  });

  it('must lay overrides over and defaults under, and let null take away', async () => {
    const environment = await loaded({
      'environment.yaml': `${HEAD}overrides:\n  resources:\n    fake.box: { a: { environment: { A: 9, B: null }, networks: [z], restart: null }, gone: null }\n  locals: { l: { x: 2 } }\n  variables: { v: { default: over } }\noutputs: { l: { value: "\${locals.l}" }, v: { value: "\${vars.v}" } }\n`,
      'part.yaml': `${PART}variables: { v: { default: base } }\nlocals: { l: { x: 1, y: 1 } }\ndefaults:\n  fake.box: { restart: always, replicas: 2, environment: { D: d, E: e } }\nresources:\n  fake.box:\n    a: { image: "${IMAGE}", networks: [x, y], environment: { A: 1, B: 2, E: null } }\n    gone: { image: "${IMAGE}" }\n`,
    });
    expect(environment.resources.map(({ address }) => address)).toEqual(['fake.box.a']);
    expect(attributes(environment, 'fake.box.a')).toEqual({ image: IMAGE, networks: ['z'], replicas: 2, environment: { A: 9, D: 'd' } });
    expect(environment.outputs.map(({ value }) => (value.kind === 'literal' ? value.value : value.kind))).toEqual([{ x: 2, y: 1 }, 'over']);
  });

  it('must keep a member named __proto__ an ordinary member', async () => {
    const environment = await loaded(
      env('locals: { a: { __proto__: { polluted: 1 } } }\nresources:\n  fake.value: { a: { input: "${locals.a}" } }\n'),
    );
    expect(Object.keys(input(environment, 'a') as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('must take text that looks like a port or a time as text', async () => {
    const environment = await loaded(
      env(
        'locals: { a: [8080:80, 22:22, 12:30:45, 2026-11-03, 1.2.3, 0x1F, -7, 1e3, null, "yes"] }\noutputs: { a: { value: "${locals.a}" } }\n',
      ),
    );
    expect(environment.outputs[0]?.value).toMatchObject({
      value: ['8080:80', '22:22', '12:30:45', '2026-11-03', '1.2.3', 31, -7, 1000, null, 'yes'],
    });
  });

  it('must allow an environment without any resource', async () => {
    expect((await loaded(env(''))).resources).toEqual([]);
  });

  it('must follow a link inside of the work tree', async () => {
    const folder = workbench({ 'a/environment.yaml': HEAD, 'b/part.txt': `${PART}outputs: { x: { value: 1 } }\n` });
    symlinkSync('../b/part.txt', path.join(folder, 'a/part.yaml'));
    const outcome = await load(path.join(folder, 'a'));
    expect(outcome.ok && outcome.value.outputs.map(({ name }) => name)).toEqual(['x']);
  });
});

describe('variables', () => {
  const files = env(
    'variables:\n  s: { default: d }\n  i: { type: integer, default: 1 }\n  b: { type: boolean, default: false }\n  l: { type: list, default: [] }\n  m: { type: map, default: {} }\n  n: { type: number, default: 1 }\n  a: { type: any, default: null }\n',
  );

  it('must be taken from the strongest source', async () => {
    const folder = workbench({ ...files, 'one.vars': 's: file\ni: 2\n' });
    const variableFiles = [path.join(folder, 'one.vars')];
    const processEnvironment = { ACCEDE_VAR_s: 'env', ACCEDE_VAR_i: '3', ACCEDE_VAR_b: 'true', ACCEDE_VAR_other: 'x' };
    const outcome = await load(folder, {
      variableFiles,
      processEnvironment,
      variables: [
        ['s', 'first'],
        ['s', 'argument'],
      ],
    });
    expect(outcome.ok && outcome.value.variables).toEqual({ a: null, b: true, i: 2, l: [], m: {}, n: 1, s: 'argument' });
  });

  it('must be read from text by their type', async () => {
    const { variables } = await loaded(files, {
      variables: [
        ['s', '5'],
        ['i', '-5'],
        ['b', 'true'],
        ['l', '[1, a]'],
        ['m', '{"x": 1}'],
        ['n', '2.5'],
        ['a', '{"y": [1]}'],
      ],
    });
    expect(variables).toEqual({ s: '5', i: -5, b: true, l: [1, 'a'], m: { x: 1 }, n: 2.5, a: { y: [1] } });
  });
});

describe('resources', () => {
  it('must be expanded over maps and lists, and left out when disabled', async () => {
    const environment = await loaded(
      env(
        'variables: { on: { type: boolean, default: false } }\nlocals: { m: { b: { n: 2 }, a: { n: 1 } } }\nresources:\n  fake.value:\n    m: { for_each: "${locals.m}", input: "${each.key}=${each.value.n}" }\n    l: { for_each: [y, x], input: "${each.value}" }\n    off: { enabled: "${vars.on}", input: 1 }\n    none: { for_each: [], input: 1 }\n    reads: { input: "${fake.value.none}" }\n',
      ),
    );
    expect(environment.resources.map(({ address }) => address)).toEqual([
      'fake.value.l["x"]',
      'fake.value.l["y"]',
      'fake.value.m["a"]',
      'fake.value.m["b"]',
      'fake.value.reads',
    ]);
    expect(attributes(environment, 'fake.value.m["b"]')).toEqual({ input: 'b=2' });
    expect(input(environment, 'reads')).toEqual({});
  });

  it('must refer to each other, through locals too, by name, index and own key', async () => {
    const environment = await loaded(
      env(`locals:
  net: \${fake.value.net.output.id}
  both: { a: "\${fake.value.net.output}", b: '\${fake.value["my-net"].output}' }
resources:
  fake.value:
    net: { input: 1 }
    my-net: { input: 1 }
    data: { for_each: [a, b], input: 1 }
    use: { for_each: [a, b], input: ["\${fake.value.data[each.key].output}", '\${fake.value["net"].output.x}', "\${locals.net}", "\${fake.value.data[each.key].output + each.key}"] }
    all: { input: "\${fake.value.data}" }
    part: { input: "\${locals.both.a}" }
`),
    );
    const references = (address: string) =>
      instance(environment, address).references.map(({ type, name, key, path: steps }) => [type, name, key ?? '', ...steps].join(' '));
    expect(references('fake.value.use["b"]')).toEqual([
      'fake.value data b output',
      'fake.value net  output id',
      'fake.value net  output x',
    ]);
    expect(references('fake.value.all')).toEqual(['fake.value data ']);
    expect(references('fake.value.part')).toEqual(['fake.value net  output']);
    const lookup: ResourceLookup = (type: TypeName, name: string): Value | undefined =>
      name === 'data' ? { a: { output: 'A' }, b: { output: 'B' } } : { output: { id: `${type}.${name}`, x: 7 } };
    expect(input(environment, 'use["b"]', lookup)).toEqual(['B', 7, 'fake.value.net', 'Bb']);
    expect(input(environment, 'all', lookup)).toEqual({ a: { output: 'A' }, b: { output: 'B' } });
    expect(input(environment, 'use["a"]')).toEqual(Array.from({ length: 4 }, () => expect.any(Unknown)));
  });

  it('must carry every common key', async () => {
    const environment = await loaded(
      env(
        `providers: { "fake:edge": { address: 10.0.0.1 } }\nresources:\n  fake.value:\n    v: { input: 1 }\n    w: { for_each: [k], input: 1 }\n  fake.box:\n    a:\n      image: "${IMAGE}"\n      name: "\${provider.address}"\n      provider: fake:edge\n      role: store\n      depends_on: [fake.value.v, { address: 'fake.value.w["k"]' }, fake.value.w]\n      timeouts: { create: 90s, ready: 1h30m }\n      lifecycle:\n        prevent_destroy: true\n        ignore_changes: [environment.LOG, ports]\n        create_before_destroy: true\n        replace_triggered_by: [fake.value.v.output, 'fake.value.w["k"]']\n        preconditions: [{ that: "\${fake.value.v.output == 1}", message: "v must be \${1 + 0}" }]\n        data: copied\n        reversible: true\n`,
      ),
    );
    const box = instance(environment, 'fake.box.a');
    expect(box).toMatchObject({
      provider: 'fake:edge',
      role: 'store',
      dependsOn: [
        { address: 'fake.value.v', restart: false },
        { address: 'fake.value.w["k"]', restart: false },
        { address: 'fake.value.w', restart: false },
      ],
      timeouts: { create: 90_000, ready: 5_400_000 },
      lifecycle: {
        preventDestroy: true,
        ignoreChanges: ['environment.LOG', 'ports'],
        createBeforeDestroy: true,
        replaceTriggeredBy: [
          { type: 'fake.value', name: 'v', path: ['output'] },
          { type: 'fake.value', name: 'w', key: 'k', path: [] },
        ],
        postconditions: [],
        data: 'copied',
        reversible: true,
      },
    });
    expect(attributes(environment, 'fake.box.a')['name']).toBe('10.0.0.1');
    const [condition] = box.lifecycle.preconditions;
    expect(condition?.message).toBe('v must be 1');
    expect(condition?.that.evaluate(() => ({ output: 1 }))).toMatchObject({ ok: true, value: true });
    expect(box.references.map(({ name }) => name)).toEqual(['v', 'w']);
    expect(environment.providers.map(({ alias }) => alias)).toEqual(['fake', 'fake:edge']);
  });

  it('must take the role of the release and its images', async () => {
    const environment = await loaded({
      ...env(
        'release: release.yaml\nresources:\n  fake.box:\n    api: { image: "${release.services.api.image}" }\n    w: { for_each: "${release.roles}", image: "${release.services[each.key].image}" }\n',
      ),
      'release.yaml': `apiVersion: accede/v1\nkind: Release\nmetadata: { name: crm, version: "1" }\nservices:\n  api: { image: { repository: reg/api, digest: "sha256:${'b'.repeat(64)}", tag: x } }\n  bulk: { role: worker, image: "${IMAGE}" }\nroles: { bulk: { parallelism: 4, tunable: { parallelism: { min: 1, max: 9 } } } }\n`,
    });
    expect(environment.resources.map(({ address, role }) => `${address} ${role}`)).toEqual([
      'fake.box.api service',
      'fake.box.w["bulk"] worker',
    ]);
    expect(environment.release?.digest).toMatch(/^sha256:/);
  });

  it('must refuse a secret as the name of a file, and not take it for what the file holds', async () => {
    const document = `${HEAD}secrets: { s: { env: S } }\nresources:\n  fakehost.file:\n    b: { path: /x, source: "\${secrets.s}" }\n`;
    const outcome = await load(workbench({ 'environment.yaml': document }), { processEnvironment: { S: 'c4n4ry' } });
    expect(outcome.diagnostics.map(({ code }) => code)).toEqual(['FILE_UNREADABLE']);
    expect(JSON.stringify(outcome.diagnostics)).not.toContain('c4n4ry');
  });

  it('must read the files that attributes and expressions name', async () => {
    const environment = await loaded({
      ...env(
        `locals: { port: 80 }\nresources:\n  fake.value:\n    t: { input: '\${template("conf/a.tpl", {"port": locals.port, "waits": fake.value.f.output})}' }\n    f: { input: '\${file("conf/" + "a.txt")}' }\n  fake.box:\n    a: { image: "${IMAGE}", env_file: [conf/a.txt] }\n  fakehost.file:\n    b: { path: /x, source: conf/bytes }\n`,
      ),
      'conf/a.tpl': 'listen ${port}; # $${port} ${waits}\n',
      'conf/a.txt': 'A=1\n',
      'conf/bytes': new Uint8Array([0xff, 0xfe, 0]),
    });
    expect(input(environment, 'f')).toBe('A=1\n');
    expect(input(environment, 't')).toBeInstanceOf(Unknown);
    expect(input(environment, 't', () => ({ output: 'now' }))).toBe('listen 80; # ${port} now\n');
    expect(attributes(environment, 'fake.box.a')['env_file']).toEqual([
      { path: 'conf/a.txt', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), text: 'A=1\n' },
    ]);
    expect(attributes(environment, 'fakehost.file.b')['source']).toEqual({
      path: 'conf/bytes',
      sha256: expect.any(String),
      base64: '//4A',
    });
  });

  it('must do no I/O once it is loaded', async () => {
    const folder = workbench({
      ...env(`resources:\n  fake.value:\n    a: { input: '\${fake.value.b.output + file("note")}' }\n    b: { input: 1 }\n`),
      note: 'before',
    });
    const outcome = await load(folder);
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(line).join('\n'));
    writeFileSync(path.join(folder, 'note'), 'after');
    expect(input(outcome.value, 'a', () => ({ output: 'x ' }))).toBe('x before');
  });

  it('must stay quick when locals read each other many times', async () => {
    const locals = Array.from(
      { length: 25 },
      (_, index) => `  l${index + 1}: ["\${locals.l${index}[0]}", "\${locals.l${index}[1]}"]\n`,
    ).join('');
    const environment = await loaded(
      env(
        `locals:\n  l0: ["\${fake.value.v.output}", 1]\n${locals}resources:\n  fake.value:\n    v: { input: 1 }\n    a: { input: "\${locals.l25[0]}" }\n`,
      ),
    );
    expect(instance(environment, 'fake.value.a').references).toHaveLength(1);
    expect(input(environment, 'a', () => ({ output: 'x' }))).toBe('x');
  });

  it('must leave out what is omit', async () => {
    const environment = await loaded(
      env(`resources:\n  fake.box:\n    a: { image: "${IMAGE}", restart: "\${omit}", environment: { A: "\${1 > 2 ? 1 : omit}", B: b } }\n`),
    );
    expect(attributes(environment, 'fake.box.a')).toEqual({ image: IMAGE, environment: { B: 'b' } });
  });

  it('must find the place of any attribute', async () => {
    const environment = await loaded(
      env(`resources:\n  fake.box:\n    a:\n      image: "${IMAGE}"\n      ports:\n        - "80:80"\n        - { target: 81 }\n`),
    );
    const { locate } = instance(environment, 'fake.box.a');
    expect(locate(['ports', 1, 'target'])).toMatchObject({ line: 10, column: 21 });
    expect(locate(['ports', 1, 'published'])).toMatchObject({ line: 10, column: 11 });
    expect(locate(['environment'])).toMatchObject({ line: 7 });
    expect(locate([])).toMatchObject({ line: 6, column: 5, excerpt: '    a:' });
  });

  it('must judge what an expression gives, and nothing that is not known', async () => {
    const outcome = await load(
      workbench(
        env(
          `variables: { n: { type: integer, default: 10 } }\nresources:\n  fake.value: { v: { input: 1 } }\n  fake.box:\n    a: { image: "\${fake.value.v.output}", replicas: "\${vars.n}", restart: "\${fake.value.v.output}" }\n`,
        ),
      ),
    );
    expect(outcome.diagnostics.map(line)).toEqual(['environment.yaml:8:53 BAD_VALUE replicas must be a number of at most 9, and is 10.']);
  });
});

describe('the rest of a document', () => {
  it('must be carried: state, policy, moves, imports, outputs', async () => {
    const environment = await loaded(
      env(
        'variables: { db: { default: main } }\nstate: { backend: sqlite, path: "data/${vars.db}.db" }\npolicy: { prevent_destroy: ["fake.value.*"], plan_max_age: 24h }\nhooks: {}\nresources:\n  fake.value:\n    new: { input: 1 }\n    k: { for_each: [a], input: 1 }\nmoved:\n  - { from: fake.value.old, to: fake.value.mid }\n  - { from: fake.value.mid, to: fake.value.new }\n  - { key: was, to: new, in: [fake.value] }\nremoved:\n  - { address: fake.value.gone, destroy: false }\n  - { address: fake.value.gone2 }\nimport:\n  - { address: \'fake.value.k["a"]\', id: "id-${vars.db}" }\noutputs:\n  o: { value: "${fake.value.new.output}", description: it }\n',
      ),
    );
    expect(environment.state).toEqual({ backend: 'sqlite', path: path.join(environment.folder, 'data/main.db') });
    expect(environment.policy).toEqual({ prevent_destroy: ['fake.value.*'], plan_max_age: '24h' });
    expect(environment.moved.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      'fake.value.old → fake.value.mid',
      'fake.value.mid → fake.value.new',
      'fake.value.was → fake.value.new',
    ]);
    expect(environment.removed.map(({ address, destroy }) => `${address} ${destroy}`)).toEqual([
      'fake.value.gone false',
      'fake.value.gone2 true',
    ]);
    expect(environment.imports).toMatchObject([{ address: 'fake.value.k["a"]', id: 'id-main' }]);
    expect(environment.outputs).toMatchObject([{ name: 'o', description: 'it' }]);
  });

  it('must compile an expression that stands in no document', async () => {
    const environment = await loaded({ ...env('locals: { l: [1, 2] }\nresources: { fake.value: { v: { input: 1 } } }\n'), note: 'n' });
    const evaluate = (text: string) => {
      const compiled = environment.compile(text);
      return compiled.ok ? compiled.value.evaluate(() => ({ output: 5 })) : compiled;
    };
    expect(evaluate('size(locals.l) + fake.value.v.output')).toMatchObject({ ok: true, value: 7 });
    expect(evaluate('file("note")')).toMatchObject({ ok: true, value: 'n' });
    expect(evaluate('locals.m')).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'UNKNOWN_REFERENCE', source: { line: 1, column: 10 } }],
    });
    expect(evaluate('1} ${2')).toMatchObject({ ok: false, diagnostics: [{ code: 'BAD_EXPRESSION' }] });
  });

  it('must leave a secret that was given to nobody unread when it is asked to', async () => {
    const environment = await loaded(
      env('secrets: { pw: { env: NOPE } }\nresources: { fake.value: { v: { input: "x${secrets.pw}" } } }\n'),
      { secrets: 'skip' },
    );
    const value = input(environment, 'v');
    expect(value instanceof Sensitive && value.isSkipped && value.names).toEqual(['pw']);
  });
});
