import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planText, readPlanFile, recordedFolder, writePrivateFile } from '../../../src/cli/planfiles.ts';
import { renderPlan } from '../../../src/cli/views/plan.ts';
import { styleFor } from '../../../src/cli/views/terminal.ts';
import { randomIds } from '../../../src/core/clock.ts';
import type { Outcome } from '../../../src/core/diagnostic.ts';
import { parsePlanFile } from '../../../src/plan/planfile.ts';
import { change, path, plan } from './documents.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const document = plan([
  change('local.value.new', 'create', { after: { z: { b: 1, a: [{ y: 1, x: 2 }] }, a: 'x' } }),
  change('docker.container.api', 'update', {
    cause: { kind: 'follows', of: 'docker.network.app' },
    paths: [path('environment')],
    before: { environment: { A: { $accede: 'sensitive' } } },
    after: { environment: { A: 'x', B: { $accede: 'unknown', of: 'y' } } },
    source: { file: 'a.yaml', line: 1, column: 1, endLine: 1, endColumn: 2, excerpt: 'x' },
  }),
]);

function code(outcome: Outcome<unknown>): string | undefined {
  expect(outcome.ok).toBe(false);
  return outcome.diagnostics[0]?.code;
}

describe('a plan file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'accede-planfile-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('must come back as it was written, and read the same on screen', async () => {
    const file = join(folder, 'plan.json');
    expect(await writePrivateFile(file, planText(document), randomIds)).toEqual([]);
    const read = await readPlanFile(file);
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    expect(read.value).toEqual(JSON.parse(JSON.stringify(document)));
    const style = styleFor({ write: () => true }, {}, { color: false });
    expect(renderPlan(read.value, style)).toBe(renderPlan(document, style));
  });

  it('must be readable by its owner alone and replace an older one in one step', async () => {
    const file = join(folder, 'plan.json');
    writeFileSync(file, 'older', { mode: 0o644 });
    expect(await writePrivateFile(file, 'newer', randomIds)).toEqual([]);
    expect(readFileSync(file, 'utf8')).toBe('newer');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['plan.json']);
  });

  it('must not replace a folder, and leave nothing behind', async () => {
    mkdirSync(join(folder, 'dir'));
    expect((await writePrivateFile(join(folder, 'dir'), 'x', randomIds))[0]?.code).toBe('FILE_UNWRITABLE');
    expect((await writePrivateFile(join(folder, 'absent', 'x'), 'x', randomIds))[0]?.code).toBe('FILE_UNWRITABLE');
    expect(readdirSync(folder)).toEqual(['dir']);
  });

  it('must not replace a link or a pipe, as it would replace /dev/null', async () => {
    symlinkSync('target', join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const name of ['link', 'pipe']) {
      expect((await writePrivateFile(join(folder, name), 'x', randomIds))[0]?.code).toBe('FILE_UNWRITABLE');
    }
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, 'pipe')).isFIFO()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['link', 'pipe']);
  });

  it.each([
    ['text', 'hello', 'PLAN_DAMAGED'],
    ['cut', planText(document).slice(0, -20), 'PLAN_DAMAGED'],
    ['edited', planText(document).replace('staging', 'production'), 'PLAN_DAMAGED'],
    ['with a member too many', planText(document).replace('{', '{"extra":1,'), 'PLAN_DAMAGED'],
    ['of another version', planText(document).replace('accede.plan/v1', 'accede.plan/v9'), 'PLAN_FORMAT'],
    ['some other JSON', '{"a":1}', 'PLAN_NOT_A_PLAN'],
    ['null', 'null', 'PLAN_NOT_A_PLAN'],
  ])('must be refused when it is %s', (_name, text, expected) => {
    expect(code(parsePlanFile(bytes(text), 'plan.json'))).toBe(expected);
  });

  it('must be refused when it is not UTF-8', () => {
    expect(code(parsePlanFile(new Uint8Array([0x7b, 0xff, 0x7d]), 'plan.json'))).toBe('PLAN_DAMAGED');
  });

  it('must still hold when only what stands outside of the digest differs', () => {
    const text = planText({
      ...document,
      createdAt: '2027-01-01T00:00:00.000Z',
      inputs: { ...document.inputs, folder: '/elsewhere', commit: 'abc' },
    });
    expect(parsePlanFile(bytes(text), 'plan.json').ok).toBe(true);
  });

  it('must say that a missing file or a folder is none', async () => {
    expect(code(await readPlanFile(join(folder, 'none.json')))).toBe('FILE_UNREADABLE');
    expect(code(await readPlanFile(folder))).toBe('FILE_UNREADABLE');
  });

  it('must lead back to its folder from anywhere inside of the work tree, or from the file itself', () => {
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, 'environments', 'staging'), { recursive: true });
    mkdirSync(join(folder, 'deep', 'inside'), { recursive: true });
    const expected = join(folder, 'environments', 'staging');
    expect(recordedFolder(document, join(folder, 'plan.json'), join(folder, 'deep', 'inside'))).toBe(expected);
    expect(recordedFolder(document, join(folder, 'deep', 'plan.json'), tmpdir())).toBe(expected);
    expect(recordedFolder({ ...document, inputs: { ...document.inputs, folder: '/abs' } }, 'plan.json', folder)).toBe('/abs');
  });
});
