import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = resolve(import.meta.dirname, '../../../src/cli/main.ts');
const TSX = resolve(import.meta.dirname, '../../../node_modules/tsx/dist/loader.mjs');

/** Runs the command line from the sources; with `trace` every module that was loaded is listed on stderr. */
function accede(words: readonly string[], options: { readonly trace?: string; readonly cwd?: string } = {}) {
  const hook = options.trace === undefined ? [] : ['--import', options.trace];
  const run = spawnSync(process.execPath, ['--import', TSX, ...hook, MAIN, ...words], {
    cwd: options.cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' },
    timeout: 60_000,
  });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

describe('the process', () => {
  let folder = '';
  let trace = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'accede-process-'));
    const hooks = `export async function load(url, context, next) { process._rawDebug('LOADED ' + url); return next(url, context); }`;
    trace = join(folder, 'trace.mjs');
    writeFileSync(join(folder, 'hooks.mjs'), hooks);
    writeFileSync(trace, `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([[['--help']], [['--version']], [['help', 'plan']], [['completion', 'bash']], [['complete', '--', 'pl']]])(
    'must load neither a schema library nor a provider nor a backend nor a terminal library for %j',
    (words) => {
      const run = accede(words, { trace });
      expect(run.code).toBe(0);
      expect(run.stdout).not.toBe('');
      const loaded = run.stderr.split('\n').filter((line) => line.startsWith('LOADED '));
      expect(loaded.some((line) => line.includes('/src/cli/program.ts'))).toBe(true);
      const heavy =
        /node_modules\/(?:zod|ink|react|yaml|libsql|dockerode|mysql2|diff|@marcbachmann)\/|\/src\/(?:providers|state|spec|host|plan|apply)\//;
      expect(loaded.filter((line) => heavy.test(line))).toEqual([]);
    },
  );

  it('must print help for a shell and nothing on stderr', () => {
    const run = accede(['--help']);
    expect(run.stdout).toContain('Usage: accede');
    expect(run.stderr).toBe('');
  });

  it('must exit 1 with the near miss for a usage mistake, without a stack', () => {
    const run = accede(['plan', '--taget', 'x']);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('error[UNKNOWN_FLAG]');
    expect(run.stderr).toContain('Did you mean --target?');
    expect(run.stderr).toContain('accede plan --help');
    expect(run.stderr).not.toMatch(/^\s+at /m);
  });

  it('must print one JSON document for a mistake under --json, with the same exit code', () => {
    const run = accede(['--json', 'pln']);
    expect(run).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({ error: { code: 'UNKNOWN_COMMAND' } });
    expect(run.stdout.trimEnd().split('\n')).toHaveLength(1);
  });

  it('must exit 1 and show the help when there is no command', () => {
    expect(accede([])).toMatchObject({ code: 1, stdout: '' });
  });

  it('must stay quiet when its reader is gone', () => {
    const run = spawnSync('sh', ['-c', `"${process.execPath}" --import "${TSX}" "${MAIN}" --help | true; echo done`], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(run.stdout).toBe('done\n');
    expect(run.stderr).toBe('');
  });

  it('must not exit 0 when its answer could not be written', () => {
    const run = spawnSync('sh', ['-c', `"${process.execPath}" --import "${TSX}" "${MAIN}" version > /dev/full`], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('could not be written');
  });

  it('must say it when its working folder is gone, without a stack', () => {
    // The loader of the sources needs a folder itself, so that it goes only once that is loaded.
    const leave = join(folder, 'leave.mjs');
    const gone = join(folder, 'gone');
    const lines = [`import { mkdirSync, rmdirSync } from 'node:fs';`, `mkdirSync(${JSON.stringify(gone)});`];
    writeFileSync(leave, [...lines, `process.chdir(${JSON.stringify(gone)});`, `rmdirSync(${JSON.stringify(gone)});`].join('\n'));
    const run = accede(['plan'], { trace: leave });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('NO_SUCH_FOLDER');
    expect(run.stderr).not.toMatch(/^ +at /m);
  });
});
