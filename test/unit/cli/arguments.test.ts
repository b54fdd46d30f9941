import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseApplyArguments, parseDestroyArguments } from '../../../src/cli/arguments/apply.ts';
import { parseEditArguments } from '../../../src/cli/arguments/edit.ts';
import { parsePlanArguments } from '../../../src/cli/arguments/plan.ts';
import { parseOptionalReadingArguments } from '../../../src/cli/arguments/reading.ts';
import { parseDuration } from '../../../src/cli/arguments/values.ts';
import type { RawInput } from '../../../src/cli/shell.ts';
import type { Outcome } from '../../../src/core/diagnostic.ts';
import { DEFAULT_OPTIONS } from '../../../src/plan/inputs.ts';

const raw = (options: RawInput['options'] = {}, ...operands: (string | undefined)[]): RawInput => ({ options, operands });

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.diagnostics.map((diagnostic) => diagnostic.detail).join('\n'));
  return outcome.value;
}

function codes(outcome: Outcome<unknown>): readonly string[] {
  expect(outcome.ok).toBe(false);
  return outcome.diagnostics.map((diagnostic) => diagnostic.code);
}

describe('the arguments of plan', () => {
  it('must be the defaults when nothing is written', () => {
    expect(value(parsePlanArguments(raw()))).toEqual({
      folder: '.',
      variables: [],
      variableFiles: [],
      options: DEFAULT_OPTIONS,
      parallelism: 16,
      out: undefined,
      formats: [{ format: 'text', file: undefined }],
      detailedExitcode: false,
      classOnly: false,
    });
  });

  it.each([
    [
      '--target sorted and without doubles',
      { target: ['b.c.x', 'a.b.y', 'b.c.x'] },
      { options: { ...DEFAULT_OPTIONS, targets: ['a.b.y', 'b.c.x'] } },
    ],
    ['--exclude', { exclude: ['a.b.y["k"]'] }, { options: { ...DEFAULT_OPTIONS, excludes: ['a.b.y["k"]'] } }],
    ['--no-refresh', { refresh: false }, { options: { ...DEFAULT_OPTIONS, refresh: false } }],
    ['--refresh-tags', { refreshTags: true }, { options: { ...DEFAULT_OPTIONS, refreshTags: true } }],
    ['--refresh-only', { refreshOnly: true }, { options: { ...DEFAULT_OPTIONS, refreshOnly: true } }],
    ['--destroy', { destroy: true }, { options: { ...DEFAULT_OPTIONS, destroy: true } }],
    ['--secrets=skip', { secrets: 'skip' }, { options: { ...DEFAULT_OPTIONS, skipSecrets: true } }],
    ['--parallelism', { parallelism: '4' }, { parallelism: 4 }],
    [
      '--var with an equals sign in its value',
      { var: ['a=b=c', 'd='] },
      {
        variables: [
          ['a', 'b=c'],
          ['d', ''],
        ],
      },
    ],
    ['--var-file', { varFile: ['a.yaml', 'b.yaml'] }, { variableFiles: ['a.yaml', 'b.yaml'] }],
    ['--out', { out: 'plan.json' }, { out: 'plan.json' }],
    ['--json', { json: true }, { formats: [{ format: 'json', file: undefined }] }],
    [
      '--format json=FILE, beside text on stdout',
      { format: ['json=p.json'] },
      {
        formats: [
          { format: 'text', file: undefined },
          { format: 'json', file: 'p.json' },
        ],
      },
    ],
    ['--format json', { format: ['json'] }, { formats: [{ format: 'json', file: undefined }] }],
    [
      '--json with --format text=FILE',
      { json: true, format: ['text=p.txt'] },
      {
        formats: [
          { format: 'json', file: undefined },
          { format: 'text', file: 'p.txt' },
        ],
      },
    ],
    ['--detailed-exitcode', { detailedExitcode: true }, { detailedExitcode: true }],
    ['--class-only', { classOnly: true }, { classOnly: true }],
  ] as const)('must read %s', (_name, options, expected) => {
    expect(value(parsePlanArguments(raw(options)))).toMatchObject(expected);
  });

  it.each([
    ['a target that is no address', { target: ['api'] }, ['BAD_ADDRESS']],
    ['a parallelism of 0', { parallelism: '0' }, ['BAD_FLAG_VALUE']],
    ['a parallelism that is no number', { parallelism: '1e2' }, ['BAD_FLAG_VALUE']],
    ['a variable without a name', { var: ['=x'] }, ['BAD_FLAG_VALUE']],
    ['a variable without a value', { var: ['x'] }, ['BAD_FLAG_VALUE']],
    ['an unknown format', { format: ['xml'] }, ['BAD_FLAG_VALUE']],
    ['a format with an empty file', { format: ['json='] }, ['BAD_FLAG_VALUE']],
    ['two formats on stdout', { format: ['json', 'text'] }, ['FLAGS_CONFLICT']],
    ['--json and --format text', { json: true, format: ['text'] }, ['FLAGS_CONFLICT']],
    ['--class-only and --format json', { classOnly: true, format: ['json'] }, ['FLAGS_CONFLICT']],
    ['--refresh-tags and --no-refresh', { refreshTags: true, refresh: false }, ['FLAGS_CONFLICT']],
    ['--refresh-only and --no-refresh', { refreshOnly: true, refresh: false }, ['FLAGS_CONFLICT']],
    ['--refresh-only and --destroy', { refreshOnly: true, destroy: true }, ['FLAGS_CONFLICT']],
    ['--destroy and --replace', { destroy: true, replace: ['a.b.c'] }, ['FLAGS_CONFLICT']],
    ['several mistakes, all of them', { target: ['x'], parallelism: 'y', var: ['z'] }, ['BAD_ADDRESS', 'BAD_FLAG_VALUE', 'BAD_FLAG_VALUE']],
  ] as const)('must refuse %s', (_name, options, expected) => {
    expect([...codes(parsePlanArguments(raw(options)))].sort()).toEqual([...expected].sort());
  });
});

describe('the arguments of apply and destroy', () => {
  const digest = `sha256:${'0'.repeat(64)}`;

  it('must read what is expected of the plan and how long to wait', () => {
    const options = {
      autoApprove: true,
      expectDigest: digest,
      expectClass: 'initial',
      expectCommit: 'abcdef1',
      ifDone: 'ok',
      lockTimeout: '1m30s',
      reason: 'why',
    };
    expect(value(parseApplyArguments(raw(options, 'plan.json')))).toMatchObject({
      operands: ['plan.json'],
      autoApprove: true,
      expectDigest: digest,
      expectClass: 'initial',
      expectCommit: 'abcdef1',
      ifDone: true,
      lockTimeout: 90_000,
      reason: 'why',
      planningFlags: [],
    });
  });

  it('must remember which planning flags were written, since none goes with a saved plan', () => {
    expect(value(parseApplyArguments(raw({ target: ['a.b.c'], refresh: false, secrets: 'skip' }))).planningFlags).toEqual([
      '--no-refresh',
      '--secrets',
      '--target',
    ]);
    expect(value(parseApplyArguments(raw({ refresh: true }))).planningFlags).toEqual([]);
  });

  it('must plan a destroy with the flags for what is protected', () => {
    expect(value(parseDestroyArguments(raw({ keepProtected: true }, 'dir'))).planning).toMatchObject({
      folder: 'dir',
      options: { ...DEFAULT_OPTIONS, destroy: true, keepProtected: true },
    });
  });

  it.each([
    ['a digest that is cut', { expectDigest: 'sha256:12' }],
    ['a commit that is a branch', { expectCommit: 'main' }],
    ['a timeout without a unit', { lockTimeout: '30' }],
  ])('must refuse %s', (_name, options) => {
    expect(codes(parseApplyArguments(raw(options)))).toEqual(['BAD_FLAG_VALUE']);
  });

  it('must refuse to keep and to include what is protected at once', () => {
    expect(codes(parseDestroyArguments(raw({ keepProtected: true, includeProtected: true })))).toEqual(['FLAGS_CONFLICT']);
  });
});

describe('durations', () => {
  it.each([
    ['0', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['30', undefined],
    ['', undefined],
    ['1 h', undefined],
    ['-1s', undefined],
  ])('must read %j as %j', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });
});

describe('the operands of an edit', () => {
  it('must be addresses where addresses belong, then the folder', () => {
    expect(value(parseEditArguments(raw({}, 'a.b.c', 'a.b.d', 'env'), { operands: 2, addresses: [0, 1] }))).toMatchObject({
      addresses: ['a.b.c', 'a.b.d'],
      operands: ['a.b.c', 'a.b.d'],
      folder: 'env',
    });
    expect(codes(parseEditArguments(raw({}, 'a', 'b'), { operands: 2, addresses: [0, 1] }))).toEqual(['BAD_ADDRESS', 'BAD_ADDRESS']);
  });
});

describe('an optional word before the folder', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'accede-arguments-'));
    mkdirSync(join(folder, 'env'));
    mkdirSync(join(folder, 'empty'));
    writeFileSync(join(folder, 'env', 'environment.yaml'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    [[], undefined, '.'],
    [['.'], undefined, '.'],
    [['env'], undefined, 'env'],
    [['./empty'], undefined, './empty'],
    [['empty'], 'empty', '.'],
    [['url'], 'url', '.'],
    [['url', 'env'], 'url', 'env'],
  ] as const)('must read %j as the word %j in %j', (operands, what, dir) => {
    expect(value(parseOptionalReadingArguments(raw({}, ...operands), folder))).toMatchObject({ what, folder: dir });
  });
});
