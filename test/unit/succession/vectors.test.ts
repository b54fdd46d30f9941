import { beforeAll, describe, expect, it } from 'vitest';
import { type Compared, compareEnvironments } from '../../../src/plan/succession/compare.ts';
import type { SuccessionPolicy } from '../../../src/plan/succession/match.ts';
import { dockerProvider } from '../../../src/providers/docker/provider.ts';
import { fakeProvider } from '../../../src/providers/fake/provider.ts';
import { ROLE_TYPES } from '../../../src/providers/fake/role-types.ts';
import { FakeWorld } from '../../../src/providers/fake/world.ts';
import { localProvider } from '../../../src/providers/local/provider.ts';
import { createRegistry } from '../../../src/providers/registry.ts';
import type { Environment } from '../../../src/spec/environment.ts';
import { loaded } from '../spec/workbench.ts';
import { type Edits, ENVIRONMENT, RELEASE, VECTORS } from './vectors.ts';

const registry = createRegistry([fakeProvider(new FakeWorld(), ROLE_TYPES), localProvider, dockerProvider]);
const PERMISSIVE: SuccessionPolicy = { mode: 'permissive', allow: null };
const STRICT: SuccessionPolicy = { mode: 'strict', allow: null };

function edited(text: string, edits: readonly (readonly [string, string])[] = []): string {
  return edits.reduce((result, [from, to]) => {
    expect(result.split(from), `once: ${from}`).toHaveLength(2);
    return result.replace(from, () => to);
  }, text);
}

/** The documents after a commit, loaded as the program loads them. */
function after({ environment, release }: Edits): Promise<Environment> {
  const files = { 'environment.yaml': edited(ENVIRONMENT, environment), 'release.yaml': edited(RELEASE, release) };
  return loaded(files, { registry, secrets: 'none' });
}

let before: Environment;
beforeAll(async () => {
  before = await after({});
});

function compare(candidate: Environment, policy: SuccessionPolicy): Compared {
  const outcome = compareEnvironments(before, candidate, registry, policy);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.diagnostics));
  return outcome.value;
}

describe('a commit', () => {
  it('must be one of more than eighty that are judged', () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(80);
    expect(new Set(VECTORS.map(({ name }) => name)).size).toBe(VECTORS.length);
  });

  it.each(VECTORS)('must have its class: $name', async ({ edits, permissive, strict = permissive, misses }) => {
    const candidate = await after(edits);
    const [found, strictly] = [compare(candidate, PERMISSIVE), compare(candidate, STRICT)];
    const told = found.changedPaths.map(({ path, role, facet, action }) => `${action} ${role}.${facet} ${path}`).join('\n');
    expect(found.class, told).toBe(permissive);
    expect(strictly.class, told).toBe(strict);
    if (misses === undefined) return;
    const [name, ...uncovered] = misses;
    const rejected = [...found.rejected, ...strictly.rejected];
    expect(rejected, told).toContainEqual(expect.objectContaining({ class: name, uncovered }));
  });
});
