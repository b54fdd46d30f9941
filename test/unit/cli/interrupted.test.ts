import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Interrupts } from '../../../src/cli/interrupts.ts';
import { outputFor, runCommandLine, type Surroundings } from '../../../src/cli/run.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accede-interrupted-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command line inside of this process, and interrupts it when its output matches. */
async function accede(words: readonly string[], interruptAt?: RegExp) {
  let [stdout, stderr] = ['', ''];
  const interrupts = new Interrupts({ say: (text) => (stderr += text), leave: () => undefined });
  const see = (text: string) => {
    if (interruptAt?.test(text) === true && !interrupts.isInterrupted) interrupts.receive('SIGINT');
    return true;
  };
  const surroundings: Surroundings = {
    stdout: { write: (text) => see((stdout += text)) },
    stderr: { write: (text) => see((stderr += text)) },
    environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], USER: 'tester' },
    folder,
    stdin: Readable.from([]),
    pipes: { stdout: { isTerminal: false, write: async () => true }, stderr: { isTerminal: false, write: async () => true } },
    terminal: process.stderr,
    version: '0.0.0-test',
  };
  const code = await runCommandLine(words, surroundings, outputFor(words, surroundings), interrupts);
  return { code, stdout, stderr, all: stdout + stderr };
}

const HEAD = 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: demo }\n';
const files = (text: string) =>
  `resources:\n  local.file:\n    a: { path: a.txt, content: "${text}" }\n    b: { path: b.txt, content: "\${local.file.a.content}" }\n`;
const write = (text: string) => writeFileSync(join(folder, 'environment.yaml'), HEAD + text);
const content = (name: string) => readFileSync(join(folder, name), 'utf8');

/** An apply from one to two that is interrupted once the first file is written. */
async function interrupted(): Promise<string> {
  write(files('one'));
  expect((await accede(['apply', '--auto-approve', '.'])).code).toBe(0);
  write(files('two'));
  const ran = await accede(['apply', '--auto-approve', '.'], /✓ local\.file\.a/);
  expect(ran.code, ran.all).toBe(130);
  expect([content('a.txt'), content('b.txt')]).toEqual(['two', 'one']);
  return ran.stdout;
}

describe('an apply that was interrupted', () => {
  it('must name both ways, as status does, and be taken back by the one', async () => {
    const said = await interrupted();
    expect(said).toMatch(/Go on with:\s+accede apply\n/);
    expect(said).toMatch(/Or take back what was done with:\s+accede recover --back\n/);
    const { stdout } = await accede(['status', '--json', '.']);
    expect(JSON.parse(stdout).operation).toMatchObject({ running: false, next: 'accede apply', back: 'accede recover --back' });
    const back = await accede(['recover', '--back', '--auto-approve', '.']);
    expect(back.code, back.all).toBe(0);
    expect([content('a.txt'), content('b.txt')]).toEqual(['one', 'one']);
    write(files('one'));
    expect((await accede(['plan', '--detailed-exitcode', '.'])).code).toBe(0);
  });

  it('must be gone on from by the other', async () => {
    await interrupted();
    expect((await accede(['recover', '--forward', '--auto-approve', '.'])).code).toBe(0);
    expect([content('a.txt'), content('b.txt')]).toEqual(['two', 'two']);
    expect(JSON.parse((await accede(['status', '--json', '.'])).stdout)).toMatchObject({ operation: null });
  });

  it('must not be broken off by a signal while it is taken back', async () => {
    await interrupted();
    const back = await accede(['recover', '--back', '--auto-approve', '.'], /Taking back/);
    expect(back.code, back.all).toBe(0);
    expect(back.stderr).toContain('taking back goes on to its end');
    expect(back.stderr).not.toContain('nothing new begins');
    expect([content('a.txt'), content('b.txt')]).toEqual(['one', 'one']);
  });
});

describe('documents with mistakes', () => {
  it('must not keep an operation from being taken back', async () => {
    await interrupted();
    write(`${files('three')}    c: { path: c.txt, nonsense: true, content: "\${var.nowhere}" }\nnonsense: 1\n`);
    expect((await accede(['recover', '--forward', '--auto-approve', '.'])).code).toBe(1);
    const back = await accede(['recover', '--back', '--auto-approve', '.']);
    expect(back.code, back.all).toBe(0);
    expect(back.stderr).toContain('DOCUMENTS_UNREADABLE');
    expect([content('a.txt'), content('b.txt')]).toEqual(['one', 'one']);
    expect(existsSync(join(folder, 'c.txt'))).toBe(false);
  });

  it('must keep it where they are about the providers, or where a document that may hold them can not be read', async () => {
    await interrupted();
    for (const [name, text] of [
      ['providers.yaml', 'apiVersion: accede/v1\nkind: Fragment\nproviders: { local: { nonsense: true } }\n'],
      ['providers.yaml', 'apiVersion: accede/v1\nkind: Fragment\nproviders: { local: { here: "${var.nowhere}" } }\n'],
      ['providers.yaml', 'apiVersion: accede/v1\nkind: Fragment\nproviders: { local: [\n'],
    ] as const) {
      writeFileSync(join(folder, name), text);
      const back = await accede(['recover', '--back', '--auto-approve', '.']);
      expect(back.code, back.all).toBe(1);
      expect(back.stderr).toContain('PROVIDERS_UNREADABLE');
      expect([content('a.txt'), content('b.txt')]).toEqual(['two', 'one']);
      rmSync(join(folder, name));
    }
    expect((await accede(['recover', '--back', '--auto-approve', '.'])).code).toBe(0);
  });
});
