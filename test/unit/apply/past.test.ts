import { describe, expect, it } from 'vitest';
import { goalOf, type Past, type PastEnvironment, rollbackTarget } from '../../../src/apply/past.ts';
import type { OperationRow, Sealed } from '../../../src/state/model.ts';

const NOON = '2026-01-01T12:00:00.000Z';

function operation(serial: number, changes: Partial<OperationRow> = {}): OperationRow {
  return {
    serial,
    id: `op-${serial}`,
    kind: 'apply',
    planDigest: null,
    class: null,
    fence: 1,
    actor: 'tester',
    reason: null,
    startedAt: NOON,
    endedAt: NOON,
    outcome: 'done',
    summary: null,
    ...changes,
  };
}

function environment(serial: number, source: string | null, more: Partial<PastEnvironment> = {}): PastEnvironment {
  const sealed: Sealed = { serial, sourceDigest: `s${serial}`, releaseDigest: null, governance: null, commit: null, secrets: {}, source };
  return { serial, sealed, isKept: source !== null, isInForce: false, ...more };
}

function past(environments: readonly PastEnvironment[], more: Partial<Past> = {}): Past {
  const newest = Math.max(0, ...environments.map(({ serial }) => serial));
  const operations = Array.from({ length: newest }, (_, index) => operation(newest - index));
  return { environments, operations, open: null, ...more };
}

/** `#4`, or the code and the sentence of the refusal. */
function target(of: Past, to?: number): string {
  const found = rollbackTarget(of, to);
  return found.ok ? `#${found.value.serial}` : found.diagnostics.map(({ code, detail }) => `${code}: ${detail}`).join();
}

const IN_FORCE = { isInForce: true };

describe('the environment that a rollback brings back', () => {
  it('must be the last one before that in force, unless somebody names another', () => {
    const three = past([environment(3, 'c', IN_FORCE), environment(2, 'b'), environment(1, 'a')]);
    expect(target(three)).toBe('#2');
    expect(target(three, 1)).toBe('#1');
    expect(target(three, 3)).toBe('#3');
  });

  it('must be another one: applying the same documents again put nothing new in force', () => {
    expect(target(past([environment(4, 'b', IN_FORCE), environment(3, 'b'), environment(2, 'b'), environment(1, 'a')]))).toBe('#1');
  });

  it('must be the one in force while an operation is open, since what came half-way is not in force', () => {
    const open = { operation: operation(3, { outcome: null }), steps: [] };
    expect(target(past([environment(2, 'b', IN_FORCE), environment(1, 'a')], { open }))).toBe('#2');
  });

  it('must be the last one of all after everything was taken down', () => {
    expect(target(past([environment(2, 'b'), environment(1, 'a')]))).toBe('#2');
  });

  it('must not be skipped when it is not kept, but refused', () => {
    const of = past([environment(3, 'c', IN_FORCE), environment(2, null), environment(1, 'a')]);
    expect(target(of)).toMatch(/^ENVIRONMENT_NOT_KEPT: .* These serials can be reached: #3, #1\.$/);
    expect(target(of, 2)).toMatch(/^ENVIRONMENT_NOT_KEPT/);
  });

  it('must be refused where there is none, with what can be reached', () => {
    expect(target(past([]))).toBe('NOTHING_BEFORE: No environment was ever put in force here. No serial can be reached.');
    expect(target(past([environment(1, 'a', IN_FORCE)]))).toBe(
      'NOTHING_BEFORE: Nothing else was in force before #1, as far as it is recorded. These serials can be reached: #1.',
    );
  });

  it('must be refused for an operation that put nothing in force, and for one that never was', () => {
    const operations = [operation(4), operation(3, { kind: 'import', outcome: 'failed' }), operation(2, { outcome: null })];
    const of = past([environment(4, 'd', IN_FORCE)], { operations });
    expect(target(of, 3)).toBe(
      'NOTHING_PUT_IN_FORCE: op-3 put nothing in force: it is an import that ended as failed. These serials can be reached: #4.',
    );
    expect(target(of, 2)).toContain('it has not ended');
    expect(target(of, 1)).toBe('NO_SUCH_SERIAL: There is no operation 1; the state has #2 to #4.');
  });

  it('must not list every serial of a long history', () => {
    const many = Array.from({ length: 50 }, (_, index) => environment(50 - index, 'a', index === 0 ? IN_FORCE : {}));
    expect(target(past(many))).toMatch(/#50, .*#31 and 30 older ones\.$/);
  });
});

describe('an operation that goes back', () => {
  it('must tell where to', () => {
    expect(goalOf(operation(1, { kind: 'rollback', summary: { to: 7, done: 1 } }))).toBe(7);
    expect(goalOf(operation(1, { kind: 'rollback' }))).toBeUndefined();
    expect(goalOf(operation(1, { summary: { to: 7 } }))).toBeUndefined();
  });
});
