import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACETS, ROLES } from '../../../src/core/facet.ts';
import { CLASS_NAMES } from '../../../src/core/successor-class.ts';
import { classRow, MASKED_CLASSES } from '../../../src/plan/succession/classes.ts';
import { admits, CHANGE_ACTIONS, entryAdmits, isRider, type PathChange } from '../../../src/plan/succession/mask.ts';
import { covers, matchClass, type SuccessionPolicy, uncoveredBy } from '../../../src/plan/succession/match.ts';

const change: fc.Arbitrary<PathChange> = fc
  .record({
    role: fc.constantFrom(...ROLES),
    facet: fc.constantFrom(...FACETS),
    action: fc.constantFrom(...CHANGE_ACTIONS),
    mark: fc.constantFrom(undefined, 'reset' as const, 'release-role' as const),
    number: fc.nat({ max: 20 }),
  })
  .map(({ role, facet, action, mark, number }) => {
    // A reset counter is one of data, and only a worker comes with the list of the release.
    const fits =
      mark === 'reset' ? role === 'data' && facet === 'identity' && action === 'changed' : role === 'worker' && action === 'added';
    return {
      path: `fake.thing.${number}.${facet}`,
      role,
      facet: action === 'changed' ? facet : 'configuration',
      action,
      ...(mark !== undefined && fits ? { mark } : {}),
    };
  });
/** Half of the sets are of few kinds, so that the narrow classes come up. */
const changes = fc.oneof(
  fc.array(change, { minLength: 1, maxLength: 6 }),
  fc.constantFrom(...MASKED_CLASSES).chain((row) =>
    fc.array(
      change.filter((one) => admits(row.mask, one)),
      { minLength: 1, maxLength: 5 },
    ),
  ),
);
const policy: fc.Arbitrary<SuccessionPolicy> = fc.constantFrom(
  { mode: 'permissive', allow: null },
  { mode: 'strict', allow: null },
  { mode: 'strict', allow: ['replacement'] },
  { mode: 'strict', allow: ['composite'] },
);
const place = (name: string) => CLASS_NAMES.findIndex((known) => known === name);
/** Enough runs that every row of the table comes up many times. */
const RUNS = { numRuns: 2000 };

describe('the class of a set of changes', () => {
  it('must be exactly one of the table, and cover everything', () => {
    fc.assert(
      fc.property(changes, policy, (set, rules) => {
        const match = matchClass(set, rules);
        const row = match.chosen === null ? undefined : classRow(match.chosen);
        expect(CLASS_NAMES).toContain(match.class);
        expect(match.class === 'refuse').toBe(match.refusal !== null);
        if (row !== undefined) expect(uncoveredBy(row, set)).toEqual([]);
        const before = MASKED_CLASSES.slice(0, row === undefined ? MASKED_CLASSES.length : MASKED_CLASSES.indexOf(row));
        const open = before.filter(
          (other) => other.name !== 'composite' || rules.mode === 'permissive' || rules.allow?.includes('composite'),
        );
        expect(open.filter((other) => covers(other, set)).map(({ name }) => name)).toEqual([]);
      }),
      RUNS,
    );
  });

  it('must not depend on the order of the changes, nor on one that is told twice', () => {
    fc.assert(
      fc.property(
        changes.chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray([...set, ...set], { minLength: set.length * 2 }))),
        policy,
        ([set, shuffled], rules) => {
          expect(matchClass(shuffled, rules)).toEqual(matchClass(set, rules));
        },
      ),
      RUNS,
    );
  });

  it('must never become narrower by one change more, but for the path that a class is about', () => {
    fc.assert(
      fc.property(changes, change, policy, (set, one, rules) => {
        const about = MASKED_CLASSES.some(({ needs }) => needs?.some((entry) => entryAdmits(entry, one)) === true);
        fc.pre(!about);
        const [less, more] = [matchClass(set, rules), matchClass([...set, one], rules)];
        expect(place(more.chosen ?? 'refuse')).toBeGreaterThanOrEqual(place(less.chosen ?? 'refuse'));
      }),
      RUNS,
    );
  });

  it('must name as uncovered exactly what stands in the way of the nearest classes', () => {
    fc.assert(
      fc.property(changes, policy, (set, rules) => {
        const { rejected } = matchClass(set, rules);
        expect(rejected.length).toBeLessThanOrEqual(2);
        for (const { class: name, uncovered } of rejected) {
          const row = classRow(name);
          expect(row).toBeDefined();
          if (row === undefined) continue;
          const left = new Set(uncoveredBy(row, set).map(({ path }) => path));
          expect([...left].sort()).toEqual(uncovered);
          expect(uncovered.length).toBeGreaterThan(0);
        }
      }),
      RUNS,
    );
  });

  it('must let annotation and governance ride with every class', () => {
    fc.assert(
      fc.property(changes, policy, fc.constantFrom('annotation' as const, 'governance' as const), (set, rules, facet) => {
        fc.pre(set.some((one) => !isRider(one)));
        const rider: PathChange = { path: 'release.metadata.version', role: 'infrastructure', facet, action: 'changed' };
        expect(matchClass([...set, rider], rules).class).toBe(matchClass(set, rules).class);
      }),
      RUNS,
    );
  });

  it('must agree with projection equality: what a mask admits, put into the predecessor, gives the candidate', () => {
    fc.assert(
      fc.property(changes, policy, (set, rules) => {
        const { chosen } = matchClass(set, rules);
        for (const row of MASKED_CLASSES) {
          // Each path stands for a place that has the value 0 before and 1 after.
          const candidate = new Map(set.map((one) => [`${one.path} ${one.role} ${one.action} ${one.mark}`, 1]));
          const substituted = new Map([...candidate.keys()].map((at) => [at, 0]));
          for (const one of set) {
            const isOut = row.without?.some((entry) => entryAdmits(entry, one)) === true;
            if (admits(row.mask, one) && !isOut) substituted.set(`${one.path} ${one.role} ${one.action} ${one.mark}`, 1);
          }
          const isEqual = [...candidate].every(([at, value]) => substituted.get(at) === value);
          if (row.name === chosen) expect(isEqual).toBe(true);
          expect(isEqual).toBe(uncoveredBy(row, set).length === 0);
        }
      }),
      RUNS,
    );
  });
});
