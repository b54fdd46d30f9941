import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadOptions } from '../../../src/spec/load.ts';
import { locateEnvironment } from '../../../src/spec/locate.ts';
import { fakeRegistry } from './fake-registry.ts';
import { HEAD, line, PART, workbench } from './workbench.ts';

async function located(files: Readonly<Record<string, string>>, options: Partial<LoadOptions> = {}): Promise<string> {
  const folder = workbench(files);
  const found = await locateEnvironment({
    folder,
    registry: fakeRegistry(),
    variables: [],
    variableFiles: [],
    processEnvironment: {},
    secrets: 'none',
    signal: new AbortController().signal,
    ...options,
  });
  if (!found.ok) return found.diagnostics.map(line).join('\n');
  const { name, state } = found.value;
  return `${name} ${state.backend === 'sqlite' ? path.relative(folder, state.path) : state.backend}`;
}

const WRONG = 'resources: { fake.value: { a: { input: "${vars.missing}" } }, no.such: { b: {} } }\n';

describe('the state of an environment', () => {
  it('must be found whatever is wrong with the rest of the documents', async () => {
    expect(await located({ 'environment.yaml': `${HEAD}${WRONG}` })).toBe('test .accede/state.db');
    expect(await located({ 'environment.yaml': `${HEAD}nonsense: 1\n${WRONG}`, 'broken.yaml': 'a: [' })).toBe('test .accede/state.db');
    expect(await located({ 'environment.yaml': `${HEAD}include: [gone.yaml]\nstate: { backend: sqlite, path: x.db }\n${WRONG}` })).toBe(
      'test x.db',
    );
    expect(await located({ 'environment.yaml': `${HEAD}variables: { a: {} }\nstate: { backend: sqlite, path: x.db }\n${WRONG}` })).toBe(
      'test x.db',
    );
  });

  it('must be where variables and overrides say', async () => {
    const files = {
      'environment.yaml': `${HEAD}variables: { stage: {} }\nstate: { backend: sqlite, path: "\${vars.stage}.db" }\n${WRONG}`,
    };
    expect(await located(files, { variables: [['stage', 'prod']] })).toBe('test prod.db');
    const over = { 'over.yaml': `${PART}overrides: { state: { path: over.db } }\n` };
    expect(await located({ 'environment.yaml': `${HEAD}state: { backend: sqlite, path: x.db }\n${WRONG}`, ...over })).toBe('test over.db');
  });

  it('must not be guessed where what it reads is missing or wrong', async () => {
    const state = 'state: { backend: sqlite, path: "${vars.stage}.db" }\n';
    expect(await located({ 'environment.yaml': `${HEAD}variables: { stage: {} }\n${state}` })).toContain('MISSING_VARIABLE');
    expect(await located({ 'environment.yaml': `${HEAD}state: { backend: sqlite, path: 1 }\n` })).toContain('WRONG_TYPE');
    expect(await located({ 'environment.yaml': `${HEAD.replace('name: test', 'name: "a b"')}\n` })).toContain('environment.yaml:3');
    expect(await located({ 'environment.yaml': HEAD, 'other.yaml': HEAD })).toContain('SEVERAL_ENVIRONMENTS');
    expect(await located({ 'environment.yaml': 'a: [' })).not.toContain('test');
    expect(await located({})).toContain('NO_ENVIRONMENT');
  });
});
