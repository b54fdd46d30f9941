import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import type { Diagnostic, Outcome } from '../../../src/core/diagnostic.ts';
import { type LoadedEnvironment, type LoadOptions, loadEnvironment } from '../../../src/spec/load.ts';
import { fakeRegistry } from './fake-registry.ts';

export { HEAD, IMAGE, PART } from '../../support/mistakes/mistake.ts';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own with these files; a path may hold folders. It is a Git work tree of its own unless `git` is false. */
export function workbench(files: Readonly<Record<string, string | Uint8Array>>, options: { readonly git?: boolean } = {}): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'accede-spec-')));
  made.push(folder);
  if (options.git !== false) mkdirSync(path.join(folder, '.git'));
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

export function load(folder: string, options: Partial<LoadOptions> = {}): Promise<Outcome<LoadedEnvironment>> {
  return loadEnvironment({
    folder,
    registry: fakeRegistry(),
    variables: [],
    variableFiles: [],
    processEnvironment: {},
    secrets: 'read',
    signal: new AbortController().signal,
    ...options,
  });
}

/** The environment of these files; fails with every diagnostic when there is an error. */
export async function loaded(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: Partial<LoadOptions> = {},
  inside = '.',
): Promise<LoadedEnvironment> {
  const outcome = await load(path.join(workbench(files), inside), options);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(line).join('\n'));
  return outcome.value;
}

export function line(diagnostic: Diagnostic): string {
  const { source } = diagnostic;
  return `${source === undefined ? '-' : `${source.file}:${source.line}:${source.column}`} ${diagnostic.code} ${diagnostic.detail}`;
}
