import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

// ───────────────────────────── the rules ─────────────────────────────

interface Layer {
  /** Files of the layer, as a path below the root. The first layer that matches counts. */
  readonly files: RegExp;
  /** What its files may import of ours. A provider's `$1` is its own folder. */
  readonly may: readonly string[];
  /** What they may import as types alone. */
  readonly mayTypes?: readonly string[];
}

const CONTRACT = [
  'src/core/',
  'src/providers/contract.ts',
  'src/providers/define.ts',
  'src/providers/host-seam.ts',
  'src/providers/image-seam.ts',
  'src/providers/inventory-seam.ts',
  'src/providers/program-seam.ts',
  'src/providers/provider-error.ts',
  'src/providers/validate.ts',
  'src/providers/writers-seam.ts',
];

const LAYERS: readonly Layer[] = [
  { files: /^src\/core\//, may: ['src/core/'] },
  {
    files:
      /^src\/providers\/(?:contract|define|host-seam|image-seam|inventory-seam|program-seam|provider-error|validate|writers-seam)\.ts$/,
    may: CONTRACT,
  },
  { files: /^src\/providers\/(?:codes|registry)\.ts$/, may: ['src/core/', 'src/providers/'] },
  { files: /^src\/providers\/([^/]+)\//, may: [...CONTRACT, 'src/providers/$1/'] },
  { files: /^src\/host\//, may: [...CONTRACT, 'src/host/'] },
  { files: /^src\/spec\//, may: [...CONTRACT, 'src/spec/'] },
  { files: /^src\/state\//, may: ['src/core/', 'src/state/'] },
  { files: /^src\/plan\//, may: [...CONTRACT, 'src/plan/'], mayTypes: ['src/spec/environment.ts', 'src/state/model.ts'] },
  {
    files: /^src\/policy\//,
    may: [...CONTRACT, 'src/policy/', 'src/plan/'],
    mayTypes: ['src/spec/environment.ts', 'src/state/model.ts'],
  },
  {
    files: /^src\/apply\//,
    may: [...CONTRACT, 'src/apply/', 'src/plan/', 'src/policy/', 'src/state/'],
    mayTypes: ['src/spec/environment.ts'],
  },
  { files: /^src\/(?:cli\/|index\.ts$)/, may: ['src/'] },
];

/** Packages that are slow to load, and where they may be loaded. Types may be imported anywhere in the same layer. */
const HEAVY: Readonly<Record<string, RegExp>> = {
  dockerode: /^src\/providers\/docker\/client\.ts$/,
  libsql: /^src\/state\/driver-sqlite\.ts$/,
  ink: /^src\/cli\/views\/live\.tsx$/,
  react: /^src\/cli\/views\/live\.tsx$/,
  mysql2: /^src\/(?:providers\/tidb-catalog\/client|state\/mysql-connection)\.ts$/,
  '@peculiar': /^src\/providers\/local\/x509\.ts$/,
};

const PURE = /^src\/(?:core|plan|policy)\//;
const INPUT_OUTPUT = /^(?:node:)?(?:fs|net|child_process|https?|tls|dgram)(?:\/|$)/;
const NAMELESS = /^src\/(?:core|spec|plan|policy|apply|state)\//;
const PROVIDER_NAME = /(?<![A-Za-z])(?:docker|nginx|tidb-catalog|runtime-family)(?![A-Za-z])/i;
const CLOCK = 'src/core/clock.ts';
const AMBIENT = /\b(?:Date\.now|Math\.random)\b|\bnew Date\(\)/;
const LINES = 400;

// ───────────────────────────── the scanner ─────────────────────────────

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

const STATIC = /^\s*(?:import|export)\b(?<type>\s+type\b)?(?:(?<names>[^;'"]*?)\bfrom\s*)?\s*['"](?<specifier>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"`](?<specifier>[^'"`]+)['"`]/g;

function importsOf(source: string): readonly Import[] {
  const text = withoutComments(source);
  const found: Import[] = [];
  for (const match of text.matchAll(STATIC)) {
    const { type, names = '', specifier = '' } = match.groups ?? {};
    const inline = /^\s*\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)+\s*\}\s*$/.test(names);
    found.push({ specifier, typeOnly: type !== undefined || inline, dynamic: false });
  }
  for (const match of text.matchAll(DYNAMIC)) {
    found.push({ specifier: match.groups?.['specifier'] ?? '', typeOnly: false, dynamic: true });
  }
  return found;
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' ')).replaceAll(/(^|\s)\/\/[^\n]*/g, '$1');
}

/** Each breach of a rule in one file, as a sentence. */
function breaches(path: string, source: string): readonly string[] {
  const found: string[] = [];
  const layer = LAYERS.find((candidate) => candidate.files.test(path));
  if (layer === undefined) return [`${path} belongs to no layer`];
  const own = layer.files.exec(path)?.[1] ?? '';
  const allows = (prefixes: readonly string[], target: string) => prefixes.some((prefix) => target.startsWith(prefix.replace('$1', own)));

  for (const { specifier, typeOnly, dynamic } of importsOf(source)) {
    if (specifier.startsWith('.')) {
      const target = posix.join(dirname(path), specifier);
      const allowed = allows(layer.may, target) || (typeOnly && allows(layer.mayTypes ?? [], target));
      if (!allowed) found.push(`${path} imports ${target}`);
      if (target.startsWith('src/cli/') && !path.startsWith('src/cli/')) found.push(`${path} imports the cli: ${target}`);
      continue;
    }
    if (PURE.test(path) && INPUT_OUTPUT.test(specifier)) found.push(`${path} imports ${specifier}, which does I/O`);
    const home = HEAVY[specifier.split('/')[0] ?? ''];
    if (home !== undefined && !typeOnly && !home.test(path))
      found.push(`${path} ${dynamic ? 'loads' : 'imports'} ${specifier} outside of its file`);
  }
  if (NAMELESS.test(path)) {
    for (const [index, line] of source.split('\n').entries()) {
      const name = PROVIDER_NAME.exec(line);
      if (name !== null) found.push(`${path}:${index + 1} names the provider ${name[0]}`);
    }
  }
  const ambient = AMBIENT.exec(withoutComments(source));
  if (path !== CLOCK && ambient !== null) found.push(`${path} takes ${ambient[0]} from nowhere`);
  const lines = source.trimEnd().split('\n').length;
  if (lines > LINES) found.push(`${path} has ${lines} lines`);
  return found;
}

function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

// ───────────────────────────── the tests ─────────────────────────────

describe('layers', () => {
  it('must hold in every file of src', () => {
    const files = sourceFiles(join(ROOT, 'src'));
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap((path) => breaches(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it('must load every slow package lazily: the file that imports it statically is itself only imported dynamically', () => {
    const files = sourceFiles(join(ROOT, 'src'));
    const importers = files.flatMap((path) =>
      importsOf(readFileSync(join(ROOT, path), 'utf8'))
        .filter((entry) => entry.specifier.startsWith('.') && !entry.typeOnly && !entry.dynamic)
        .map((entry) => ({ path, target: posix.join(dirname(path), entry.specifier) })),
    );
    const heavyFiles = new Set(
      files.filter((path) =>
        importsOf(readFileSync(join(ROOT, path), 'utf8')).some(
          (entry) => !entry.typeOnly && !entry.dynamic && Object.hasOwn(HEAVY, entry.specifier.split('/')[0] ?? ''),
        ),
      ),
    );
    const isHome = (path: string) => Object.values(HEAVY).some((home) => home.test(path));
    expect(importers.filter(({ path, target }) => heavyFiles.has(target) && !isHome(path))).toEqual([]);
  });

  it.each([
    ['src/core/x.ts imports src/spec/load.ts', 'src/core/x.ts', "import { a } from '../spec/load.ts';"],
    ['src/core/x.ts imports node:fs/promises, which does I/O', 'src/core/x.ts', "import { readFile } from 'node:fs/promises';"],
    [
      'src/spec/x.ts imports src/state/model.ts',
      'src/spec/x.ts',
      "import type { A } from '../providers/define.ts';\nimport { b } from '../state/model.ts';",
    ],
    ['src/spec/x.ts imports src/providers/local/file.ts', 'src/spec/x.ts', "import { local } from '../providers/local/file.ts';"],
    ['src/state/x.ts imports src/providers/contract.ts', 'src/state/x.ts', "import { a } from '../providers/contract.ts';"],
    ['src/plan/x.ts imports src/state/model.ts', 'src/plan/x.ts', "import { type A, b } from '../state/model.ts';"],
    ['src/plan/deep/x.ts imports src/apply/events.ts', 'src/plan/deep/x.ts', "export * from '../../apply/events.ts';"],
    ['src/policy/x.ts imports src/cli/main.ts', 'src/policy/x.ts', "const m = await import('../cli/main.ts');"],
    ['src/apply/x.ts imports src/spec/load.ts', 'src/apply/x.ts', "import {\n  a,\n  b,\n} from '../spec/load.ts';"],
    ['src/providers/local/x.ts imports src/providers/fake/y.ts', 'src/providers/local/x.ts', "import { a } from '../fake/y.ts';"],
    ['src/providers/local/x.ts imports src/state/model.ts', 'src/providers/local/x.ts', "import '../../state/model.ts';"],
    ['src/host/x.ts imports src/apply/engine.ts', 'src/host/x.ts', "import { a } from '../apply/engine.ts';"],
    ['src/cli/x.ts imports dockerode outside of its file', 'src/cli/x.ts', "import Docker from 'dockerode';"],
    ['src/cli/x.ts loads ink outside of its file', 'src/cli/x.ts', "const { render } = await import('ink');"],
    ['src/cli/x.ts imports mysql2/promise outside of its file', 'src/cli/x.ts', "import mysql from 'mysql2/promise';"],
    ['src/apply/x.ts:1 names the provider docker', 'src/apply/x.ts', "export const kind = 'docker.container';"],
    ['src/plan/x.ts:1 names the provider nginx', 'src/plan/x.ts', '// as nginx does'],
    ['src/apply/x.ts takes Date.now from nowhere', 'src/apply/x.ts', 'const now = Date.now();'],
    ['src/cli/x.ts takes new Date() from nowhere', 'src/cli/x.ts', 'const now = new Date();'],
    ['src/cli/x.ts has 401 lines', 'src/cli/x.ts', 'x\n'.repeat(401)],
    ['src/misc/x.ts belongs to no layer', 'src/misc/x.ts', ''],
  ])('must find the planted breach: %s', (breach, path, source) => {
    expect(breaches(path, source)).toContain(breach);
  });

  it.each([
    ['src/plan/x.ts', "import type { ResourceRow } from '../state/model.ts';\nimport { type Environment } from '../spec/environment.ts';"],
    ['src/providers/docker/client.ts', "const Docker = await import('dockerode');"],
    ['src/providers/local/x.ts', "import { a } from './y.ts';\nimport { b } from '../contract.ts';"],
    ['src/core/clock.ts', 'export const now = () => Date.now();'],
    ['src/core/x.ts', "// import { a } from '../spec/load.ts';\nimport { b } from './y.ts';"],
    ['src/cli/x.ts', "import type Docker from 'dockerode';\nimport { a } from '../apply/engine.ts';"],
  ])('must let %s import what it may', (path, source) => {
    expect(breaches(path, source)).toEqual([]);
  });
});

describe('the linter', () => {
  const PLANTED: Readonly<Record<string, readonly [source: string, rule: string]>> = {
    'src/core/planted.ts': ["import { a } from '../spec/load.ts';\nexport const b = a;\n", 'no-restricted-imports'],
    'src/host/planted.ts': ["import { a } from '../state/store.ts';\nexport const b = a;\n", 'no-restricted-imports'],
    'src/spec/planted.ts': ["import { a } from '../providers/local/file.ts';\nexport const b = a;\n", 'no-restricted-imports'],
    'src/state/planted.ts': [
      "import type { Provider } from '../providers/contract.ts';\nexport type A = Provider;\n",
      'no-restricted-imports',
    ],
    'src/plan/planted.ts': ["import { a } from '../state/model.ts';\nexport const b = a;\n", 'no-restricted-imports'],
    'src/policy/planted.ts': ["export const a = await import('node:fs');\n", 'no-restricted-imports'],
    'src/apply/planted.ts': ["export * from '../spec/load.ts';\n", 'no-restricted-imports'],
    'src/providers/local/planted.ts': ["import { a } from '../docker/client.ts';\nexport const b = a;\n", 'no-restricted-imports'],
    'src/cli/planted.ts': ["import Docker from 'dockerode';\nexport const b = new Docker();\n", 'no-restricted-imports'],
    'src/cli/cycle.ts': ["import { b } from './cycle-back.ts';\nexport const a = () => b;\n", 'no-cycle'],
    'src/cli/cycle-back.ts': ["import { a } from './cycle.ts';\nexport const b = () => a;\n", 'no-cycle'],
    'src/cli/output.ts': ["console.log('x');\nexport {};\n", 'no-console'],
    'src/cli/default.ts': ['export default 1;\n', 'no-default-export'],
    'src/cli/any.ts': ['export const a = (x: any) => x;\n', 'no-explicit-any'],
    'src/cli/bang.ts': ['export const a = (x?: string) => x!.length;\n', 'no-non-null-assertion'],
    'src/cli/floating.ts': ['const go = async () => 1;\ngo();\nexport {};\n', 'no-floating-promises'],
    'src/cli/misused.ts': ['const go = async () => true;\nexport const a = go() ? 1 : 2;\n', 'no-misused-promises'],
    'src/cli/await.ts': ['export const a = await 1;\n', 'await-thenable'],
    'src/cli/switch.ts': [
      "export function f(x: 'a' | 'b'): number {\n  switch (x) {\n    case 'a':\n      return 1;\n  }\n  return 0;\n}\n",
      'switch-exhaustiveness-check',
    ],
    'src/cli/random.ts': ['export const a = Math.random();\n', 'no-restricted-properties'],
    'src/cli/catch.ts': ['try {\n  JSON.parse("x");\n} catch {}\nexport {};\n', 'no-empty'],
  };

  const ALLOWED: Readonly<Record<string, string>> = {
    'src/plan/allowed.ts':
      "import type { ResourceRow } from '../state/model.ts';\nimport type { Environment } from '../spec/environment.ts';\nimport { TRAITS_KEY } from '../providers/define.ts';\nexport type A = ResourceRow | Environment;\nexport const key = TRAITS_KEY;\n",
    'src/providers/docker/client.ts': "export const load = async () => (await import('dockerode')).default;\n",
    'src/cli/views/allowed.ts': "console.log('x');\nexport {};\n",
  };

  it('must report each planted breach, and none in what is allowed', () => {
    const copy = mkdtempSync(join(tmpdir(), 'accede-lint-'));
    try {
      for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) cpSync(join(ROOT, name), join(copy, name));
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      const stub = 'export const a = 1;\n';
      const files: Record<string, string> = { ...ALLOWED };
      for (const name of ['src/spec/load.ts', 'src/state/store.ts', 'src/providers/local/file.ts']) files[name] = stub;
      files['src/state/model.ts'] = `${stub}export type ResourceRow = number;\n`;
      files['src/spec/environment.ts'] = 'export type Environment = string;\n';
      files['src/providers/contract.ts'] = 'export type Provider = string;\n';
      files['src/providers/define.ts'] = "export const TRAITS_KEY = 'x';\n";
      for (const [name, [source]] of Object.entries(PLANTED)) files[name] = source;
      for (const [name, source] of Object.entries(files)) {
        mkdirSync(dirname(join(copy, name)), { recursive: true });
        writeFileSync(join(copy, name), source);
      }
      const lint = spawnSync(join(copy, 'node_modules', '.bin', 'oxlint'), ['--type-aware', '--format=json', 'src'], {
        cwd: copy,
        encoding: 'utf8',
      });
      const report = JSON.parse(lint.stdout) as { readonly diagnostics: readonly { readonly code: string; readonly filename: string }[] };
      const reported = new Set(report.diagnostics.map(({ code, filename }) => `${filename} ${/\(([^)]+)\)/.exec(code)?.[1]}`));
      expect(lint.status).not.toBe(0);
      expect(
        Object.entries(PLANTED)
          .map(([name, [, rule]]) => `${name} ${rule}`)
          .filter((breach) => !reported.has(breach)),
      ).toEqual([]);
      expect([...reported].filter((line) => Object.keys(ALLOWED).some((name) => line.startsWith(`${name} `)))).toEqual([]);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it('must not be switched off by a nested configuration', () => {
    const nested = ['src', 'test', 'scripts'].filter((folder) => existsSync(join(ROOT, folder, '.oxlintrc.json')));
    expect(nested).toEqual([]);
  });
});
