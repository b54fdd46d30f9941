import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { compareText } from '../../src/core/address.ts';
import type { Diagnostic } from '../../src/core/diagnostic.ts';
import { accede, type Ran } from '../support/binary.ts';
import { filesOf, HEAD, type Mistake, PART, placeOf } from '../support/mistakes/mistake.ts';
import { checkProse, checkReport } from '../support/mistakes/report.ts';
import { MISTAKES } from '../support/mistakes.ts';
import { Workspace } from '../support/workspace.ts';

const made: Workspace[] = [];
afterAll(() => {
  for (const one of made) one.remove();
});

/** A work tree of its own with these files. */
function workspace(files: Readonly<Record<string, string | Uint8Array>>): Workspace {
  const one = new Workspace(files);
  made.push(one);
  mkdirSync(one.path('.git'));
  return one;
}

/** Everything in a folder: what is there by name, and the bytes of what is a file. */
const contentOf = (one: Workspace) => ({
  names: readdirSync(one.folder, { recursive: true }).map(String).sort(compareText),
  files: one.files(),
});

/** The program on this mistake; the folder must be as it was. */
async function run(mistake: Mistake, command: readonly string[]): Promise<Ran> {
  const one = workspace(filesOf(mistake));
  const before = contentOf(one);
  const variables = (mistake.variables ?? []).flatMap(([name, value]) => ['--var', `${name}=${value}`]);
  const ran = await accede([...command, ...variables, one.folder]);
  expect(contentOf(one)).toEqual(before);
  return ran;
}

/** A third of the rows and more: each costs a whole start of the program, and the others are read and shown in process by the unit tests. */
const GIVEN = MISTAKES.filter((mistake, index) => index % 3 === 0 || mistake.readsSecrets === true || mistake.at === undefined);

describe('a mistake in the YAML, given to the program', () => {
  it(`must be shown by ${GIVEN.length} of ${MISTAKES.length} rows, at least 45`, () => {
    expect(GIVEN.length).toBeGreaterThanOrEqual(45);
  });

  it.concurrent.each(GIVEN)('must end with 1 and be placed and explained: $name', async (mistake) => {
    const ran = await run(mistake, [mistake.readsSecrets === true ? 'plan' : 'validate']);
    expect(ran.code, ran.stderr).toBe(1);
    expect(ran.stdout).toBe('');
    checkReport(ran.stderr, mistake);
  });

  it.concurrent.each(MISTAKES.filter((_, index) => index % 20 === 0))(
    'must be one document on stdout in JSON mode: $name',
    async (mistake) => {
      const ran = await run(mistake, ['plan', '--json']);
      expect(ran.code, ran.stdout).toBe(1);
      expect(ran.stderr).toBe('');
      expect(ran.stdout).toMatch(/^[^\n]+\n$/);
      const { error, diagnostics } = JSON.parse(ran.stdout) as { error: Diagnostic; diagnostics?: readonly Diagnostic[] };
      expect(diagnostics?.length ?? 1).toBe(mistake.count ?? 1);
      const found = [error, ...(diagnostics ?? [])].find(({ code }) => code === mistake.code);
      expect(found?.detail, ran.stdout).toContain(mistake.says);
      const source = found?.source;
      expect(source === undefined ? undefined : `${source.file}:${source.line}:${source.column}`).toBe(placeOf(mistake));
      checkProse(ran.stdout);
    },
  );

  it.concurrent('must refuse a symbolic link that leads out of the work tree', async () => {
    const outside = workspace({ 'a.yaml': `${PART}locals: { canary: 1 }\n` });
    const one = workspace({ 'environment.yaml': HEAD });
    symlinkSync(outside.path('a.yaml'), one.path('link.yaml'));
    const ran = await accede(['validate', one.folder]);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('error[FILE_OUTSIDE]');
    expect(ran.stderr).toContain('  at link.yaml:1:1\n');
    expect(ran.stderr).not.toContain('canary');
  });
});
