import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { eventSchema } from '../../src/apply/event-schema.ts';
import { buildProgram, partWords } from '../../src/cli/program.ts';
import { UsageMistake } from '../../src/cli/usage.ts';
import { parsePlanFile } from '../../src/plan/planfile.ts';
import { defaultRegistry } from '../../src/providers/registry.ts';
import { loadEnvironment } from '../../src/spec/load.ts';
import { parseState } from '../../src/state/document.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Every document for people, as a path below the root. */
const DOCUMENTS: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...below('specs', (name) => name.endsWith('.md')),
  ...below('examples', (name) => name === 'README.md'),
];

function below(folder: string, fits: (name: string) => boolean): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && fits(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

function read(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

/** A fence and what stands inside of it. */
const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** The content of the fenced blocks of one language. */
function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(FENCE)].filter(([, found]) => found === language).map(([, , content = '']) => content);
}

/** Targets of the links that do not leave the project, without anchors. Code holds no links. */
function linksIn(text: string): readonly string[] {
  const prose = text.replaceAll(FENCE, '').replaceAll(/^ {4}.*$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

/** Command lines of accede: lines of code that begin with it, and code inside of a sentence that does. */
function commandsIn(text: string): readonly string[] {
  const indented = [...text.matchAll(/^ {4}(accede .*)$/gm)].map(([, line = '']) => line);
  const fenced = [...text.matchAll(FENCE)].flatMap(([, , content = '']) =>
    content.split('\n').filter((line) => /^\$? ?accede /.test(line)),
  );
  const prose = text.replaceAll(FENCE, '').replaceAll(/^ {4}.*$/gm, '');
  const inline = [...prose.matchAll(/`(accede [^`]+)`/g)].map(([, line = '']) => line);
  return [...indented, ...fenced, ...inline].map((line) => line.replace(/\s+#.*$/, '').trim());
}

/** Why a command line is not understood; undefined when it is. */
async function misunderstood(line: string): Promise<string | undefined> {
  const words = (line.replace(/ >.*$/, '').match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) => word.replaceAll(/['"]/g, ''));
  let ran = false;
  const program = buildProgram(
    async () => {
      ran = true;
    },
    { version: '0.0.0', width: 100, print: () => (ran = true), say: () => undefined },
  );
  try {
    await program.parseAsync([...partWords(words.slice(1)).own], { from: 'user' });
    return ran ? undefined : 'it does nothing';
  } catch (error) {
    if (error instanceof CommanderError || error instanceof UsageMistake) return error.message;
    throw error;
  }
}

describe('every document', () => {
  it.each(DOCUMENTS)('must have links that lead somewhere: %s', (document) => {
    const broken = linksIn(read(document)).filter((target) => !existsSync(join(ROOT, dirname(document), target)));
    expect(broken).toEqual([]);
  });

  it.each(DOCUMENTS.filter((document) => commandsIn(read(document)).length > 0))(
    'must have command lines that accede understands: %s',
    async (document) => {
      const wrong: string[] = [];
      for (const line of commandsIn(read(document))) {
        const why = await misunderstood(line);
        if (why !== undefined) wrong.push(`${line}: ${why}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  it('must be looked at with tools that find what is wrong', async () => {
    expect(linksIn('[a](b.md) and [c](https://d.example) and [e](f.md#g)\n\n    [h](i.md)\n')).toEqual(['b.md', 'f.md']);
    expect(commandsIn('Run `accede plan`.\n\n    accede apply x   # now\n\n```\n$ accede status\n```\n')).toHaveLength(3);
    expect(await misunderstood('accede plan --taget x')).toContain('--taget');
    expect(await misunderstood('accede frobnicate')).toContain('frobnicate');
    expect(await misunderstood('accede taint \'local.file.a["b c"]\'')).toBeUndefined();
  });
});

describe('the README', () => {
  it('must name commands in code', () => {
    expect(commandsIn(read('README.md')).length).toBeGreaterThan(15);
  });

  const environments = blocks(read('README.md'), 'yaml').filter((text) => text.includes('kind: Environment'));

  it('must show an environment', () => {
    expect(environments.length).toBeGreaterThan(0);
  });

  it.each(environments)('must show environments without a mistake: %#', async (text) => {
    expect(await mistakesOf(text)).toEqual([]);
  });

  it('must show sections that fit into an environment', async () => {
    const sections = blocks(read('README.md'), 'yaml').filter((text) => !text.includes('apiVersion:'));
    const resources = 'resources: { docker.container: { api: { image: "sha256:' + 'a'.repeat(64) + '" } } }\n';
    for (const text of sections) {
      const moved = text.includes('to: docker.container.backend')
        ? resources.replace('} } }\n', '}, backend: { image: "sha256:' + 'b'.repeat(64) + '" } } }\n')
        : text.includes('resources:')
          ? ''
          : resources;
      expect(await mistakesOf(`apiVersion: accede/v1\nkind: Environment\nmetadata: { name: x }\n${moved}${text}`)).toEqual([]);
    }
  });
});

async function mistakesOf(text: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'accede-document-'));
  try {
    writeFileSync(join(folder, 'environment.yaml'), text);
    const outcome = await loadEnvironment({
      folder,
      registry: defaultRegistry(),
      variables: [],
      variableFiles: [],
      processEnvironment: {},
      secrets: 'none',
      stateSecrets: 'none',
      signal: new AbortController().signal,
    });
    return outcome.diagnostics.map(({ code, detail }) => `${code}: ${detail}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the examples of the formats', () => {
  it('must be a plan whose digest holds', () => {
    const [example = ''] = blocks(read('specs/plan-format.md'), 'json');
    expect(parsePlanFile(new TextEncoder().encode(example), 'the example')).toMatchObject({ ok: true, diagnostics: [] });
  });

  it('must be events in their order', () => {
    const [example = ''] = blocks(read('specs/events.md'), 'ndjson');
    const events = example
      .trim()
      .split('\n')
      .map((line) => eventSchema.parse(JSON.parse(line)));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).toBe('operation.done');
  });

  it('must be a state that could be pushed', () => {
    const [example = ''] = blocks(read('specs/state-format.md'), 'json');
    expect(parseState(example)).toMatchObject({ ok: true, diagnostics: [] });
  });

  it('must describe every type of event, and every member of a plan and of a row of the state', () => {
    const types = read('src/apply/events.ts').matchAll(/'((?:operation|lock|guard|stage|step)\.\w+)'/g);
    expect(notIn('specs/events.md', types)).toEqual([]);
    expect(notIn('specs/plan-format.md', read('src/plan/model.ts').matchAll(MEMBER))).toEqual([]);
    const row = /interface ResourceRow \{([\s\S]*?)^\}/m.exec(read('src/state/model.ts'))?.[1] ?? '';
    expect(notIn('specs/state-format.md', row.replaceAll('[name: string]', '').matchAll(MEMBER))).toEqual([]);
  });
});

const MEMBER = /readonly (\w+)\??:/g;

/** What stands nowhere in the document's code, alone or as a part of a path. */
function notIn(document: string, matches: Iterable<RegExpExecArray>): readonly string[] {
  const names = [...matches].map(([, name = '']) => name);
  if (names.length < 5) throw new Error(`nothing was found to look for in ${document}`);
  const prose = read(document).replaceAll(FENCE, '');
  return [...new Set(names)].filter((name) => !new RegExp(`[\`.]${name}[\`.]`).test(prose));
}
