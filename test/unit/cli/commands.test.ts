import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Interrupts } from '../../../src/cli/interrupts.ts';
import { outputFor, runCommandLine, type Surroundings } from '../../../src/cli/run.ts';
import type { Input } from '../../../src/cli/shell.ts';

const CANARY = 'c4n4ry-0123456789';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accede-commands-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command line inside of this process, as the binary would with no terminal anywhere. */
async function accede(...words: string[]) {
  return await accedeWith(Readable.from([]), words);
}

/** A terminal on which this is typed. */
function typed(text: string): Input {
  return Object.assign(Readable.from([text]), { isTTY: true });
}

async function accedeWith(stdin: Input, words: readonly string[]) {
  let [stdout, stderr] = ['', ''];
  const surroundings: Surroundings = {
    stdout: { write: (text) => (stdout += text) !== '' },
    stderr: { write: (text) => (stderr += text) !== '' },
    environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], CANARY, USER: 'tester' },
    folder,
    stdin,
    pipes: {
      stdout: { isTerminal: false, write: async (bytes) => (stdout += Buffer.from(bytes).toString()) !== '' },
      stderr: { isTerminal: false, write: async (bytes) => (stderr += Buffer.from(bytes).toString()) !== '' },
    },
    terminal: process.stderr,
    version: '0.0.0-test',
  };
  const interrupts = new Interrupts({ say: () => undefined, leave: () => undefined });
  const code = await runCommandLine(words, surroundings, outputFor(words, surroundings), interrupts);
  return { code, stdout, stderr, all: stdout + stderr };
}

function write(name: string, text: string): void {
  mkdirSync(join(folder, 'env'), { recursive: true });
  writeFileSync(join(folder, 'env', name), text);
}

const HEAD = 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: demo }\n';

describe('init', () => {
  it.each(['quickstart', 'compose'])('must write an environment that validates, from %s', async (template) => {
    expect(await accede('init', 'env', '--template', template)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(folder, 'env', 'environment.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=environment\.schema\.json\n/,
    );
    const image = template === 'compose' ? ['--var', `image=sha256:${'a'.repeat(64)}`] : [];
    expect(await accede('validate', 'env', ...image)).toMatchObject({ code: 0, stderr: '' });
  });

  it('must overwrite nothing', async () => {
    write('other.yaml', 'x');
    const run = await accede('init', 'env');
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('FOLDER_OCCUPIED');
    expect(readdirSync(join(folder, 'env'))).toEqual(['other.yaml']);
  });

  it('must write a name that YAML would read as a number or a boolean in quotes', async () => {
    for (const name of ['123', 'true', 'on']) {
      expect((await accede('init', name)).code).toBe(0);
      expect(JSON.parse((await accede('validate', name, '--json')).stdout)).toMatchObject({ environment: name, valid: true });
    }
  });
});

describe('from plan to destroy', () => {
  it('must go the whole way on files and values, and say what stands', async () => {
    await accede('init', 'env');
    const planned = await accede('plan', 'env', '--out', 'plan.json', '--detailed-exitcode');
    expect(planned).toMatchObject({ code: 2, stderr: '' });
    expect(planned.stdout).toContain('4 to create, 0 to destroy, 0 unchanged.        accede apply plan.json');
    expect(statSync(join(folder, 'plan.json')).mode & 0o777).toBe(0o600);
    expect((await accede('show', 'plan.json')).stdout).toBe(planned.stdout.replace('        accede apply plan.json', ''));
    expect(existsSync(join(folder, 'env', '.accede'))).toBe(false);

    expect((await accede('apply', 'plan.json', '--expect-digest', `sha256:${'0'.repeat(64)}`)).code).toBe(4);
    expect((await accede('apply', 'plan.json', '--expect-class', 'composite')).code).toBe(3);
    expect((await accede('apply', 'plan.json', '--expect-commit', 'abcdef1')).code).toBe(4);
    expect((await accede('apply', 'plan.json', '--target', 'local.value.settings')).stderr).toContain('FLAGS_CONFLICT');
    expect(existsSync(join(folder, 'env', '.accede'))).toBe(false);

    const applied = await accede('apply', 'plan.json', '--expect-class', 'initial', '--reason', 'the first');
    expect(applied.code).toBe(0);
    expect(applied.stdout).toContain('Done: 4 steps');
    expect(await accede('apply', 'plan.json')).toMatchObject({ code: 4 });
    expect(await accede('apply', 'plan.json', '--if-done', 'ok')).toMatchObject({ code: 0, stderr: '' });
    expect(await accede('apply', 'env')).toMatchObject({ code: 0, stderr: '' });

    const again = await accede('plan', 'env', '--detailed-exitcode');
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('No changes.');
    expect((await accede('plan', 'env', '--class-only')).stdout).toBe('no-op\n');
    expect((await accede('output', 'greeting', 'env')).stdout).toBe('Hello\n');
    expect(JSON.parse((await accede('output', 'env', '--json')).stdout)).toEqual({
      format: 'accede.outputs/v1',
      outputs: { greeting: 'Hello' },
    });
    expect((await accede('state', 'list', 'env')).stdout.trim().split('\n')).toEqual([
      'local.file.index',
      'local.file.page["north"]',
      'local.file.page["south"]',
      'local.value.settings',
    ]);
    expect(JSON.parse((await accede('status', 'env', '--json')).stdout)).toMatchObject({
      environment: 'env',
      state: { serial: 1, resources: 4 },
      inForce: { isWritten: true },
      operation: null,
      lastOperation: { reason: 'the first', outcome: 'done' },
    });
    expect((await accede('eval', 'local.file.page["north"].path', 'env')).stdout).toBe('out/north.txt\n');
    expect((await accede('state', 'pull', 'env')).stdout.trim().split('\n')).toHaveLength(1);

    // Whoever broke the documents still sees what is recorded.
    const documents = readFileSync(join(folder, 'env', 'environment.yaml'), 'utf8');
    writeFileSync(join(folder, 'env', 'environment.yaml'), `${documents}\nnonsense: true\n`);
    const broken = await accede('status', 'env');
    expect(broken).toMatchObject({ code: 0, stderr: expect.stringContaining('DOCUMENTS_UNREADABLE') });
    expect(broken.stdout).toContain('the documents here have mistakes');
    for (const words of [
      ['state', 'list'],
      ['state', 'history'],
      ['state', 'pull'],
      ['audit', 'verify'],
      ['evidence', 'list'],
      ['show', '1'],
    ]) {
      expect(await accede(...words, 'env'), words.join(' ')).toMatchObject({ code: 0 });
    }
    writeFileSync(join(folder, 'env', 'environment.yaml'), documents);

    expect((await accede('taint', 'local.value.settings', 'env')).code).toBe(0);
    const asked = await accede('apply', 'env');
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain('--auto-approve');
    const events = (await accede('apply', 'env', '--auto-approve', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; result?: object });
    expect(events.at(-1)).toMatchObject({ type: 'operation.done', result: { exitCode: 0, outcome: 'done' } });

    expect((await accede('destroy', 'env', '--auto-approve')).code).toBe(0);
    expect((await accede('state', 'list', 'env')).stdout).toBe('');
    expect(existsSync(join(folder, 'env', 'out', 'index.json'))).toBe(false);
  });

  it('must leave the outputs that are recorded when it is about a part of the environment', async () => {
    await accede('init', 'env');
    await accede('apply', 'env', '--auto-approve');
    writeFileSync(join(folder, 'env', 'out', 'north.txt'), 'by hand\n');
    expect(await accede('apply', 'env', '--auto-approve', '--refresh-only')).toMatchObject({ code: 0 });
    expect((await accede('output', 'greeting', 'env')).stdout).toBe('Hello\n');
    expect(await accede('apply', 'env', '--auto-approve', '--target', 'local.file.page')).toMatchObject({ code: 0 });
    expect((await accede('output', 'greeting', 'env')).stdout).toBe('Hello\n');
    expect((await accede('plan', 'env')).stdout).toContain('No changes. 4 resources are as the documents say.');
  });

  it('must record nothing when nothing is left to destroy, and say so', async () => {
    await accede('init', 'env');
    await accede('apply', 'env', '--auto-approve');
    await accede('destroy', 'env', '--auto-approve');
    const again = await accede('destroy', 'env', '--auto-approve');
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('No changes. Nothing is recorded that could be destroyed.');
    const status = (await accede('status', 'env')).stdout;
    expect(status).toMatch(/state +#2, 0 resources/);
    expect(status).toMatch(/in force +nothing: everything was destroyed/);
  });

  it('must print an event stream of one event when there is nothing to do', async () => {
    write('e.yaml', `${HEAD}resources:\n  local.value:\n    v: { input: 1 }\n`);
    await accede('apply', 'env', '--auto-approve');
    const lines = (await accede('apply', 'env', '--json')).stdout.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      type: 'operation.done',
      result: { exitCode: 0, steps: { done: [], notDone: [], unknown: [] } },
    });
  });

  it('must call a plan stale when its documents have other variables by now', async () => {
    write('e.yaml', `${HEAD}variables: { a: { default: x } }\nresources:\n  local.value:\n    v: { input: "\${vars.a}" }\n`);
    await accede('plan', 'env', '--out', 'plan.json', '--var', 'a=y');
    write('e.yaml', `${HEAD}resources:\n  local.value:\n    v: { input: y }\n`);
    const run = await accede('apply', 'plan.json');
    expect(run.code).toBe(4);
    expect(run.stderr).toContain('PLAN_STALE');
  });

  it('must apply a saved plan with the variables that it was made with', async () => {
    write(
      'e.yaml',
      `${HEAD}variables: { a: { default: x }, n: { type: list, default: [] } }\nresources:\n  local.value:\n    v: { input: "\${vars.a}" }\noutputs: { n: { value: "\${vars.n}" }, v: { value: "\${vars.a}" } }\n`,
    );
    await accede('plan', 'env', '--out', 'plan.json', '--var', 'a=y', '--var', 'n=[1, 2]');
    expect((await accede('apply', 'plan.json')).code).toBe(0);
    expect((await accede('output', 'v', 'env')).stdout).toBe('y\n');
    expect((await accede('output', 'n', 'env', '--json')).stdout).toBe('[1,2]\n');
  });
});

describe('approval', () => {
  beforeEach(() =>
    write(
      'e.yaml',
      `${HEAD}hooks: { backup: none }\nresources:\n  local.value:\n    v: { input: 1, lifecycle: { prevent_destroy: true } }\n`,
    ),
  );

  it.each([['y\n'], ['YES\n'], ['\n'], ['']])('must not be given by %j', async (text) => {
    const run = await accedeWith(typed(text), ['apply', 'env']);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('Apply this plan? Only "yes" is accepted: ');
    expect(run.stderr).toContain('NOT_APPROVED');
    expect(existsSync(join(folder, 'env', '.accede'))).toBe(false);
  });

  it('must be given by "yes" on a terminal, and by nothing that is piped in', async () => {
    expect((await accedeWith(Readable.from(['yes\n']), ['apply', 'env'])).code).toBe(1);
    expect((await accedeWith(typed('yes\n'), ['apply', 'env'])).code).toBe(0);
  });

  it('must take the name of the environment before what is protected goes, even with --auto-approve', async () => {
    await accede('apply', 'env', '--auto-approve');
    expect((await accede('destroy', 'env', '--auto-approve')).code).toBe(3);
    for (const text of ['yes\n', 'other\n', '']) {
      const run = await accedeWith(typed(text), ['destroy', 'env', '--auto-approve', '--include-protected']);
      expect(run).toMatchObject({ code: 1 });
      expect(run.stderr).toContain('NAME_DIFFERS');
      expect(run.stderr).toContain('expected  demo');
      expect(run.stderr).toMatch(text === '' ? /to remove it: \nerror/ : /to remove it: error/);
    }
    expect((await accedeWith(Readable.from(['demo\n']), ['destroy', 'env', '--include-protected'])).code).toBe(0);
  });
});

describe('mistakes', () => {
  it('must all be shown with their places, and exit 1 without a stack', async () => {
    write('e.yaml', `${HEAD}resources:\n  local.vlue:\n    v: { input: 1 }\n  local.file:\n    f: { pth: x }\n`);
    const run = await accede('plan', 'env');
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('at e.yaml:5:3');
    expect(run.stderr).toContain('Did you mean local.value?');
    expect(run.stderr).toContain('Did you mean path?');
    expect(run.stderr).not.toMatch(/^\s+at (?!e\.yaml)/m);
    const json = JSON.parse((await accede('plan', 'env', '--json')).stdout) as {
      error: { source: object };
      diagnostics: readonly object[];
    };
    expect(json.error.source).toMatchObject({ file: 'e.yaml', line: 5 });
    expect(json.diagnostics.length).toBeGreaterThan(1);
  });

  it.each([
    [['apply', 'nothing'], 'NO_SUCH_FILE'],
    [['show', 'x'.repeat(300)], 'NOTHING_TO_SHOW'],
    [['show', '99', 'env'], 'NO_STATE'],
    [['output', 'env'], 'NO_STATE'],
    [['state', 'show', 'local.value.v', 'env'], 'NO_STATE'],
    [['state', 'rm', 'local.value.v', 'env'], 'STATE_UNREACHABLE'],
    [['unlock', 'abc', 'env'], 'NO_SUCH_LOCK'],
    [['plan', 'env', '--out', 'env'], 'FILE_UNWRITABLE'],
    [['import', 'local.file.absent', '/etc/hostname', 'env'], 'NOT_IN_DOCUMENTS'],
    [['schema', 'relase'], 'BAD_OPERAND'],
    [['eval', 'vars.', 'env'], 'BAD_EXPRESSION'],
  ])('must be said and exit 1: %j', async (words, code) => {
    write('e.yaml', `${HEAD}resources:\n  local.value:\n    v: { input: 1 }\n`);
    const run = await accede(...words);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`error[${code}]`);
    const json = await accede('--json', ...words);
    expect(json).toMatchObject({ code: 1 });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code } });
  });
});

describe('a secret', () => {
  it('must be in nothing that any command says or leaves behind', async () => {
    write(
      'e.yaml',
      `${HEAD}secrets: { s: { env: CANARY } }\nresources:\n  local.value:\n    v: { input: { nested: ["a \${secrets.s} b"], coded: "\${base64(secrets.s)}" } }\noutputs: { o: { value: "\${secrets.s}" } }\n`,
    );
    const said = [
      await accede('plan', 'env', '--out', 'plan.json'),
      await accede('plan', 'env', '--json'),
      await accede('plan', 'env', '--format', 'text=plan.txt'),
      await accede('apply', 'env', '--auto-approve', '--json'),
      await accede('plan', 'env', '--json'),
      await accede('show', 'env'),
      await accede('show', 'local.value.v', 'env'),
      await accede('show', '1', 'env', '--json'),
      await accede('output', 'env'),
      await accede('output', 'o', 'env', '--json'),
      await accede('eval', 'secrets.s', 'env'),
      await accede('eval', 'base64(secrets.s)', 'env', '--json'),
      await accede('eval', 'local.value.v', 'env'),
      await accede('eval', 'int(secrets.s)', 'env'),
      await accede('state', 'pull', 'env'),
      await accede('status', 'env', '--json'),
      await accede('plan', 'env', '--destroy'),
    ].map((run) => run.all);
    const files = ['plan.json', 'plan.txt', 'env/.accede/state.db'].map((file) => readFileSync(join(folder, file), 'latin1'));
    const forms = [CANARY, Buffer.from(CANARY).toString('base64'), Buffer.from(CANARY).toString('hex')];
    for (const text of [...said, ...files]) for (const form of forms) expect(text).not.toContain(form);
    expect(said.join('')).toContain('(sensitive');
  });
});
