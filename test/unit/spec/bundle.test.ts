import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bundle, bundleOf, contentsOf, decodeContent, parseManifest, storedBundle } from '../../../src/core/bundle.ts';
import { digestBytes } from '../../../src/core/canonical.ts';
import { evaluateTemplate } from '../../../src/core/template.ts';
import { encodeValue, Unknown } from '../../../src/core/value.ts';
import type { Environment } from '../../../src/spec/environment.ts';
import type { LoadedEnvironment, LoadOptions } from '../../../src/spec/load.ts';
import { HEAD, IMAGE, line, load, PART, workbench } from './workbench.ts';

const KEY = Buffer.alloc(32, 7);
const CANARY = 'canary-4f1d0b7e-not-for-the-store';

async function loadedFrom(folder: string, options: Partial<LoadOptions> = {}): Promise<LoadedEnvironment> {
  const outcome = await load(folder, options);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(line).join('\n'));
  return outcome.value;
}

/** What is kept, after it went through the store. */
function stored(environment: Environment): Bundle {
  const bundle = environment.bundle?.();
  if (bundle === undefined) throw new Error('nothing is kept');
  const rows = storedBundle(bundle);
  const bytes = (digest: Bundle['digest']) => {
    const found = decodeContent(rows.get(digest) ?? '');
    if (found === undefined || digestBytes(found) !== digest) throw new Error(`${digest} does not come back`);
    return found;
  };
  const manifest = parseManifest(bytes(bundle.digest));
  if (manifest === undefined) throw new Error('the manifest does not come back');
  return bundleOf(manifest, new Map(contentsOf(manifest).map((digest) => [digest, bytes(digest)])));
}

/** All that a plan sees, without places. */
function seen(environment: Environment): unknown {
  const { sourceDigest, release, variables, policy, outputs } = environment;
  return {
    sourceDigest,
    release,
    variables,
    policy,
    outputs: outputs.map(({ name }) => name),
    resources: environment.resources.map(({ address, attributes, folder, references, dependsOn, lifecycle }) => {
      const value = evaluateTemplate(attributes, (type, name) => new Unknown(`${type}.${name}`));
      const shown = value.ok && typeof value.value !== 'symbol' ? encodeValue(value.value, KEY) : value;
      return { address, shown, folder, references, dependsOn, lifecycle };
    }),
  };
}

const FULL = {
  'env/environment.yaml': `${HEAD}
include: ["../shared/*.yaml", "parts/\${vars.part}.yaml"]
release: { file: release.yaml }
ignore: [compose.yaml]
variables:
  part: { default: one }
  port: { type: integer, default: 80 }
  labels: { type: map, default: { a: b } }
secrets:
  pw: { env: PW }
locals:
  sites: \${parse_yaml(file("sites.txt"))}
resources:
  fake.value:
    text: { input: { motd: '\${template("motd.tpl", {"port": vars.port})}', pw: '\${secrets.pw}' } }
    each: { for_each: '\${locals.sites}', input: '\${each.value}' }
  fake.box:
    api: { image: ${IMAGE}, env_file: ../shared/api.env }
overrides:
  resources: { fake.value: { shared: { input: overridden } } }
outputs:
  port: { value: '\${vars.port}' }
policy: { plan_max_age: 1h }
`,
  'env/more.yaml': `\ufeff${PART}\nresources: { fake.value: { more: { input: '\${file("blob.txt")}' } } }\n`,
  'env/compose.yaml': 'services: { ignored: {} }\n',
  'env/parts/one.yaml': `${PART}\nresources: { fake.value: { one: { input: 1 } } }\n`,
  'env/parts/two.yaml': `${PART}\nresources: { fake.value: { two: { input: 2 } } }\n`,
  'env/release.yaml': `apiVersion: accede/v1
kind: Release
metadata: { name: crm, version: "1" }
services: {}
`,
  'env/sites.txt': '{ a: 1, b: 2 }\n',
  'env/motd.tpl': 'port ${port}\n',
  'env/blob.txt': 'line\r\nnext\u0000\n',
  'shared/base.yaml': `${PART}\nresources: { fake.value: { shared: { input: '\${file("here.txt")}' } } }\n`,
  'shared/here.txt': 'here\n',
  'shared/api.env': Buffer.from([0x41, 0x3d, 0xff, 0xfe, 0x0a]),
};

describe('the bundle of an environment', () => {
  it('must give the same environment when its folder is gone, whatever the variables and the process say by now', async () => {
    const root = workbench(FULL);
    const folder = path.join(root, 'env');
    const before = await loadedFrom(folder, {
      variables: [['port', '8080']],
      processEnvironment: { PW: 'secret-one', ACCEDE_VAR_labels: '{c: d}' },
    });
    const bundle = stored(before);
    for (const name of Object.keys(FULL)) rmSync(path.join(root, name));
    writeFileSync(path.join(folder, 'environment.yaml'), 'not: ours\n');
    const after = await loadedFrom(folder, {
      bundle,
      variables: [['part', 'two']],
      processEnvironment: { PW: 'secret-one', ACCEDE_VAR_port: '1' },
    });
    expect(seen(after)).toEqual(seen(before));
    expect(stored(after).digest).toBe(bundle.digest);
    expect(before.variables).toEqual({ part: 'one', port: 8080, labels: { c: 'd' } });
  });

  it('must hold every file that counts and nothing of the others', async () => {
    const root = workbench(FULL);
    const { manifest, contents } = stored(await loadedFrom(path.join(root, 'env'), { processEnvironment: { PW: 'x' } }));
    expect(manifest.files.map(({ path: name, kind }) => `${name} ${kind}`)).toEqual([
      '../shared/api.env kept',
      '../shared/base.yaml kept',
      'blob.txt kept',
      'compose.yaml idle',
      'environment.yaml kept',
      'more.yaml kept',
      'motd.tpl kept',
      'parts/one.yaml kept',
      'release.yaml kept',
      'sites.txt kept',
    ]);
    expect([...contents.values()].some((bytes) => Buffer.from(bytes).includes('ignored'))).toBe(false);
  });

  it('must read secrets anew', async () => {
    const root = workbench({
      'environment.yaml': `${HEAD}secrets: { pw: { env: PW } }\nresources: { fake.value: { a: { input: '\${secrets.pw}' } } }\n`,
    });
    const before = await loadedFrom(root, { processEnvironment: { PW: 'old-value' } });
    const after = await loadedFrom(root, { bundle: stored(before), processEnvironment: { PW: 'new-value' } });
    expect(after.sourceDigest).toBe(before.sourceDigest);
    expect(after.secrets.get('pw')?.reveal()).toBe('new-value');
  });

  it('must never hold a secret, wherever it comes from', async () => {
    const root = workbench({
      'environment.yaml': `${HEAD}
secrets:
  plain: { env: CANARY }
  filed: { file: token }
  linked: { file: real/token }
  bundle: { file: bundle.json, format: json }
  run: { exec: [cat, printed.txt] }
resources:
  fake.value:
    a: { input: '\${secrets.plain}\${secrets.filed}\${secrets.bundle.key}' }
    b: { input: '\${file("token")}' }
    c: { input: '\${file("link-to-token")}' }
    d: { input: '\${file("bundle.json")}' }
    e: { input: '\${file("printed.txt")}' }
`,
      'printed.txt': `${CANARY}\n`,
    });
    mkdirSync(path.join(root, 'real'));
    writeFileSync(path.join(root, 'token'), `${CANARY}\n`, { mode: 0o600 });
    writeFileSync(path.join(root, 'real/token'), `${CANARY}!\n`, { mode: 0o600 });
    writeFileSync(path.join(root, 'bundle.json'), JSON.stringify({ key: CANARY }), { mode: 0o600 });
    symlinkSync('real/token', path.join(root, 'link-to-token'));
    const environment = await loadedFrom(root, { processEnvironment: { CANARY, PATH: process.env['PATH'] } });
    const bundle = stored(environment);
    const everything = [...storedBundle(bundle).values()].join('\n');
    expect(everything).not.toContain(CANARY);
    expect(everything).not.toContain(Buffer.from(CANARY).toString('base64').slice(0, 20));
    expect(bundle.manifest.files.filter(({ kind }) => kind === 'secret').map((file) => file.path)).toEqual([
      'bundle.json',
      'link-to-token',
      'printed.txt',
      'token',
    ]);
    const again = await loadedFrom(root, { bundle, processEnvironment: { CANARY, PATH: process.env['PATH'] } });
    expect(again.sourceDigest).toBe(environment.sourceDigest);
  });

  it('must keep links and includes that name one file twice', async () => {
    const root = workbench({
      'environment.yaml': `${HEAD}include: ["parts/*.yaml", "environment.yaml", "parts/base.yaml"]\nresources: { fake.value: { a: { input: 1 } } }\n`,
      'parts/base.yaml': `${PART}\nresources: { fake.value: { b: { input: 2 } } }\n`,
    });
    symlinkSync('base.yaml', path.join(root, 'parts/link.yaml'));
    const before = await loadedFrom(root);
    const bundle = stored(before);
    rmSync(path.join(root, 'parts'), { recursive: true });
    expect(seen(await loadedFrom(root, { bundle }))).toEqual(seen(before));
    expect(bundle.manifest.files).toContainEqual({ path: 'parts/link.yaml', real: 'parts/base.yaml', kind: 'idle' });
  });

  it('must be equal for equal files and variables, and another one when either differs', async () => {
    const of = async (files: Readonly<Record<string, string>>, port: string) => {
      const environment = await loadedFrom(workbench(files), { variables: [['port', port]] });
      return environment.bundle?.()?.digest;
    };
    const files = { 'environment.yaml': `${HEAD}variables: { port: {} }\nresources: { fake.value: { a: { input: '\${vars.port}' } } }\n` };
    const one = await of(files, '1');
    expect(await of(files, '1')).toBe(one);
    expect(await of(files, '2')).not.toBe(one);
    expect(await of({ 'environment.yaml': `${files['environment.yaml']}# a comment\n` }, '1')).not.toBe(one);
  });

  it('must be left out, with a warning, when the files are too large', async () => {
    const files: Record<string, string> = { 'environment.yaml': `${HEAD}resources: { fake.value: { a: { input: 1 } } }\n` };
    const comment = `# ${'x'.repeat(1022)}\n`.repeat(4096);
    for (let index = 0; index < 8; index += 1) files[`part${index}.yaml`] = `${PART}${comment}`;
    const outcome = await load(workbench(files));
    expect(outcome.ok && outcome.value.bundle?.()).toBeUndefined();
    expect(outcome.diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['warning BUNDLE_TOO_LARGE']);
  });

  it('must say which file is missing when a bundle is not whole', async () => {
    const root = workbench({ 'environment.yaml': `${HEAD}resources: { fake.value: { a: { input: '\${file("x")}' } } }\n`, x: 'x' });
    const { manifest, contents } = stored(await loadedFrom(root));
    const outcome = await load(root, {
      bundle: bundleOf({ ...manifest, files: manifest.files.filter(({ path: name }) => name !== 'x') }, contents),
    });
    expect(outcome.ok).toBe(false);
    expect(outcome.diagnostics.map(({ detail }) => detail).join()).toContain(
      'The file x cannot be read. It is not among the files that were kept.',
    );
  });
});

describe('a stored content', () => {
  it('must give back the very same bytes', () => {
    for (const bytes of [
      Buffer.from(''),
      Buffer.from('plain\n'),
      Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
      Buffer.from([0x00, 0xff, 0xfe]),
      Buffer.from('\u0000𝄞ü'),
      Buffer.from([0xed, 0xa0, 0x80]),
    ]) {
      const environment = { format: 'accede.bundle/v1', environment: 'a', files: [], variables: {} } as const;
      const digest = digestBytes(bytes);
      const rows = storedBundle(bundleOf(environment, new Map([[digest, bytes]])));
      expect(Buffer.from(decodeContent(rows.get(digest) ?? '') ?? [])).toEqual(bytes);
    }
  });

  it('must be refused in any other form', () => {
    for (const body of ['', '[]', '{}', '{"text":1}', 'x']) expect(decodeContent(body)).toBeUndefined();
    const other = [
      '',
      '{}',
      '{"environment":"a","files":[],"format":"accede.bundle/v2","variables":{}}',
      '{"environment":"a","files":[{"path":1}],"format":"accede.bundle/v1","variables":{}}',
    ];
    for (const text of other) expect(parseManifest(Buffer.from(text))).toBeUndefined();
  });
});
