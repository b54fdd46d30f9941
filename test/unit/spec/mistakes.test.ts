import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/cli/views/diagnostics.ts';
import { styleFor } from '../../../src/cli/views/terminal.ts';
import type { Diagnostic } from '../../../src/core/diagnostic.ts';
import { defaultRegistry } from '../../../src/providers/registry.ts';
import type { LoadOptions } from '../../../src/spec/load.ts';
import { env, filesOf, HEAD, type Mistake, PART, placeOf } from '../../support/mistakes/mistake.ts';
import { checkReport } from '../../support/mistakes/report.ts';
import { MISTAKES } from '../../support/mistakes.ts';
import { line, load, workbench } from './workbench.ts';

/** What no provider of this build shows: one with a hyphen in its name, and one that cannot do without its block. */
const STRANGE: readonly Mistake[] = [
  {
    name: 'a provider with a bare hyphen',
    files: env(
      'providers: { dash-ed: { url: x } }\nresources:\n  dash-ed.record: { r: { text: x } }\n  fake.value:\n    a: { input: "${dash-ed.record.r.revision}" }\n',
    ),
    code: 'UNKNOWN_NAME',
    at: '8:20',
    says: 'written dash_ed',
    count: 2,
  },
  {
    name: 'a provider without its configuration',
    files: env('resources:\n  dash-ed.record:\n    a: { text: x }\n'),
    code: 'PROVIDER_NOT_CONFIGURED',
    at: '6:5',
    says: 'url is required',
  },
];

const PLAIN = styleFor({ write: () => true }, { NO_COLOR: '1' }, { color: false });

function checkShape(diagnostic: Diagnostic): void {
  expect(diagnostic.severity).toBe('error');
  expect(diagnostic.code).toMatch(/^[A-Z][A-Z0-9_]*$/);
  expect(diagnostic.detail).toMatch(/[.?)]$/);
  const text = JSON.stringify(diagnostic);
  expect(text).not.toMatch(/\n {4}at |node_modules|\.ts:\d/);
  expect(text).not.toContain('canary"');
  expect(text).not.toMatch(/undefined|\[object|NaN/);
}

async function check(mistake: Mistake, options: Partial<LoadOptions>): Promise<void> {
  const outcome = await load(workbench(filesOf(mistake)), { variables: mistake.variables ?? [], ...options });
  expect(outcome.ok).toBe(false);
  for (const diagnostic of outcome.diagnostics) checkShape(diagnostic);
  const all = outcome.diagnostics.map(line).join('\n');
  expect(outcome.diagnostics.length, all).toBe(mistake.count ?? 1);
  const found = outcome.diagnostics.find(({ code }) => code === mistake.code);
  expect(found, all).toBeDefined();
  const { source } = found ?? {};
  expect(source === undefined ? undefined : `${source.file}:${source.line}:${source.column}`, all).toBe(placeOf(mistake));
  expect(found?.detail).toContain(mistake.says);
  if (mistake.expected !== undefined) expect(found?.expected).toBe(mistake.expected);
  checkReport(renderDiagnostics(outcome.diagnostics, PLAIN), mistake);
}

describe('a mistake in the YAML', () => {
  it('must be shown by at least 45 rows', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(45);
    expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
  });

  it.each(MISTAKES)('must be placed and explained: $name', async (mistake) => {
    await check(mistake, { registry: defaultRegistry() });
  });

  it.each(STRANGE)('must be placed and explained: $name', async (mistake) => {
    await check(mistake, {});
  });

  it('must refuse a symbolic link that leads out of the work tree', async () => {
    const outside = path.join(tmpdir(), `accede-outside-${process.pid}.yaml`);
    writeFileSync(outside, `${PART}locals: { a: 1 }\n`);
    const folder = workbench({ 'environment.yaml': HEAD });
    symlinkSync(outside, path.join(folder, 'link.yaml'));
    const outcome = await load(folder);
    expect(outcome.diagnostics.map(line)).toEqual([
      'link.yaml:1:1 FILE_OUTSIDE link.yaml cannot be read. A symbolic link leads out of the Git work tree.',
    ]);
  });

  it('must show every mistake of a run, sorted by place', async () => {
    const outcome = await load(
      workbench({
        'environment.yaml': env(
          'locals: { a: "${vars.x}" }\nresources:\n  fake.box:\n    b: { imag: x }\n  fake.nope: { c: {} }\npolicy: { plan_maxage: 1h }\n',
        ),
        'a.yaml': 'x: 1\n',
      }),
    );
    expect(outcome.diagnostics.map((diagnostic) => `${diagnostic.source?.file}:${diagnostic.source?.line} ${diagnostic.code}`)).toEqual([
      'a.yaml:1 NOT_A_DOCUMENT',
      'environment.yaml:4 UNKNOWN_REFERENCE',
      'environment.yaml:7 UNKNOWN_KEY',
      'environment.yaml:8 UNKNOWN_TYPE',
      'environment.yaml:9 UNKNOWN_KEY',
    ]);
  });
});
