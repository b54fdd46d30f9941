import { describe, expect, it } from 'vitest';
import { planWithDurations } from '../../../src/cli/views/durations.ts';
import type { PlanDocument, PlannedChange } from '../../../src/plan/model.ts';
import { defaultRegistry } from '../../../src/providers/registry.ts';

const registry = defaultRegistry();

/** What a plan with one change of a resource and one drift of it shows. */
function shown(address: string, before: object | null, after: object, moved: readonly object[] = []) {
  const change = { address, before, after } as unknown as PlannedChange;
  const plan = { changes: [change], drift: [{ address, paths: moved }] } as unknown as PlanDocument;
  return planWithDurations(plan, registry);
}

describe('times in a plan for people', () => {
  it('must read as documents write them, at every depth, and other numbers as they are', () => {
    const healthcheck = { interval: 1500, retries: 3, timeout: { $accede: 'unknown' } };
    const after = { stop_grace_period: 90_000, healthcheck, ports: [{ target: 80 }], ready: { timeout: 60_000 } };
    const plan = shown('docker.container.api', { stop_grace_period: 1000 }, after);
    expect(plan.changes).toEqual([
      {
        address: 'docker.container.api',
        before: { stop_grace_period: '1s' },
        after: {
          stop_grace_period: '1m30s',
          healthcheck: { interval: '1s500ms', retries: 3, timeout: { $accede: 'unknown' } },
          ports: [{ target: 80 }],
          ready: { timeout: '1m' },
        },
      },
    ]);
  });

  it('must read so in drift too, and stay a number where a type holds something else of that name', () => {
    const moved = [{ path: 'stop_grace_period', recorded: 1000, live: null }];
    expect(shown('docker.container.api["a"]', null, {}, moved).drift).toEqual([
      { address: 'docker.container.api["a"]', paths: [{ path: 'stop_grace_period', recorded: '1s', live: null }] },
    ]);
    expect(shown('local.value.v', null, { timeout: 1000 }).changes).toEqual([
      { address: 'local.value.v', before: null, after: { timeout: 1000 } },
    ]);
  });

  it.each(registry.types.filter(({ durations }) => durations !== undefined))('must stand at paths that $type has', (type) => {
    for (const path of type.durations ?? []) expect(type.traits.has(path) || type.traits.has(path.split('.')[0] ?? '')).toBe(true);
  });
});
