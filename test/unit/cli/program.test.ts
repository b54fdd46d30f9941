import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/catalogue.ts';
import { buildProgram, partWords } from '../../../src/cli/program.ts';
import type { RawInput } from '../../../src/cli/shell.ts';
import { UsageMistake, usageDiagnostic } from '../../../src/cli/usage.ts';

/** Parses a command line without running anything. */
async function parse(...words: string[]): Promise<{ readonly path: string; readonly input: RawInput | undefined; readonly text: string }> {
  let path = '';
  let input: RawInput | undefined;
  let text = '';
  const program = buildProgram(
    async (spec, raw) => {
      path = spec.path.join(' ');
      input = raw;
    },
    { version: '0.0.0', width: 100, print: (more) => (text += more), say: (more) => (text += more) },
  );
  await program.parseAsync(words, { from: 'user' });
  return { path, input, text };
}

async function mistake(...words: string[]): Promise<{ readonly code: string; readonly detail: string }> {
  try {
    await parse(...words);
  } catch (error) {
    if (error instanceof UsageMistake) return error.diagnostic;
    if (error instanceof CommanderError) return usageDiagnostic(error, 'accede');
    throw error;
  }
  throw new Error('nothing was wrong');
}

async function help(...words: string[]): Promise<string> {
  let text = '';
  const program = buildProgram(async () => undefined, {
    version: '0.0.0',
    width: 100,
    print: (more) => (text += more),
    say: (more) => (text += more),
  });
  await program.parseAsync(['help', ...words], { from: 'user' });
  return text;
}

describe('the command line', () => {
  it.each([
    [['plan', '--out', 'p.json', 'env'], 'plan', ['env'], { out: 'p.json' }],
    [['--json', 'plan'], 'plan', [undefined], { json: true }],
    [['plan', '--json'], 'plan', [undefined], { json: true }],
    [['plan', '--var', 'a=1', '--var=b=2'], 'plan', [undefined], { var: ['a=1', 'b=2'] }],
    [['plan', '--secrets=skip', '--no-refresh'], 'plan', [undefined], { secrets: 'skip', refresh: false }],
    [['state', 'mv', 'a.b.c', 'a.b.d', 'env'], 'state mv', ['a.b.c', 'a.b.d', 'env'], {}],
    [['apply', 'plan.json', 'env', '--if-done', 'ok'], 'apply', ['plan.json', 'env'], { ifDone: 'ok' }],
    [['eval', '--', '-1'], 'eval', ['-1', undefined], {}],
  ] as const)('must understand %j', async (words, path, operands, options) => {
    const parsed = await parse(...words);
    expect(parsed.path).toBe(path);
    expect(parsed.input?.operands).toEqual(operands);
    expect(parsed.input?.options).toMatchObject(options);
  });

  it.each([
    [['pln'], 'UNKNOWN_COMMAND', 'Did you mean plan?'],
    [['state', 'lst'], 'UNKNOWN_COMMAND', 'Did you mean list?'],
    [['unhold'], 'UNKNOWN_COMMAND', 'unhold'],
    [['plan', '--taget', 'a.b.c'], 'UNKNOWN_FLAG', 'Did you mean --target?'],
    [['plan', '--refresh-tag'], 'UNKNOWN_FLAG', 'Did you mean --refresh-tags?'],
    [['plan', '--out'], 'FLAG_VALUE_MISSING', '--out'],
    [['plan', '--out', '--detailed-exitcode'], 'BAD_FLAG_VALUE', 'A value is missing'],
    [['plan', '--out', 'a', '--out', 'b'], 'FLAG_DOUBLED', '--out'],
    [['plan', '--json', '--json'], 'FLAG_DOUBLED', '--json'],
    [['plan', '--destroy', '--destroy'], 'FLAG_DOUBLED', '--destroy'],
    [['plan', '--no-refresh', '--no-refresh'], 'FLAG_DOUBLED', '--no-refresh'],
    [['plan', '--secrets', 'all'], 'BAD_FLAG_VALUE', 'skip'],
    [['plan', 'a', 'b'], 'OPERAND_EXCESS', 'plan'],
    [['import', 'a.b.c'], 'OPERAND_MISSING', 'id'],
    [['help', 'pln'], 'UNKNOWN_COMMAND', 'Did you mean plan?'],
  ] as const)('must refuse %j', async (words, code, part) => {
    const found = await mistake(...words);
    expect(found.code).toBe(code);
    expect(found.detail).toContain(part);
  });

  it('must show help for every command, with examples', async () => {
    await expect(await help()).toMatchFileSnapshot('../../golden/help/accede.txt');
    await expect(await help('exit-codes')).toMatchFileSnapshot('../../golden/help/exit-codes.txt');
    for (const words of [...COMMANDS.map((spec) => spec.path), ['state'], ['help'], ['completion']]) {
      const text = await help(...words);
      if (words[0] !== 'state' || words.length > 1) expect(text).toContain('Examples:');
      await expect(text).toMatchFileSnapshot(`../../golden/help/${words.join('-')}.txt`);
    }
  });

  it('must leave what stands behind -- to the commands that take it', () => {
    expect(partWords(['--json', 'exec', 'a.b.c', '-i', '--', 'sh', '--', '-c'])).toEqual({
      own: ['--json', 'exec', 'a.b.c', '-i'],
      rest: ['sh', '--', '-c'],
    });
    expect(partWords(['exec', 'a.b.c', 'sh'])).toEqual({ own: ['exec', 'a.b.c', 'sh'], rest: undefined });
    expect(partWords(['eval', '--', '-1'])).toEqual({ own: ['eval', '--', '-1'], rest: undefined });
  });

  it('must have examples that it understands itself', async () => {
    for (const spec of COMMANDS) {
      for (const { command } of spec.examples) {
        const words = command.replace(/ >.*$/, '').match(/'[^']*'|\S+/g) ?? [];
        const parsed = await parse(...partWords(words.slice(1).map((word) => word.replaceAll("'", ''))).own);
        expect(parsed.path).toBe(spec.path.join(' '));
      }
    }
  });
});
