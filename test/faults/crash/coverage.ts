import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOUNDARIES, type Boundary, MOMENTS } from '../../../src/core/fail-point.ts';
import type { Passage } from './lane.ts';

/**
 * Which test kills at a boundary: the matrix, one of `boundaries.test.ts`, or another file, which then names it. A boundary that stands here and
 * is not reached by its test fails the suite.
 */
const TESTED_BY: Readonly<Record<Boundary, 'matrix' | 'alone' | `test/${string}.test.ts`>> = {
  'state.define': 'alone',
  'state.acquire': 'matrix',
  'state.renew': 'alone',
  'state.begin': 'matrix',
  'state.resume': 'matrix',
  'state.write': 'matrix',
  'state.end': 'matrix',
  'state.release': 'matrix',
  'state.unlock': 'alone',
  'state.upgrade': 'alone',
  'state.hold': 'alone',
  'state.approve': 'alone',
  'state.backup': 'test/scenarios/state-backup.test.ts',
  'state.load': 'test/scenarios/state-backup.test.ts',
  'state.retire': 'test/scenarios/state-backup.test.ts',
  'state.activate': 'test/scenarios/state-backup.test.ts',
  'effect.perform': 'matrix',
  'effect.undo': 'matrix',
  'effect.reconcile': 'matrix',
  'effect.exec': 'alone',
  'target.call': 'matrix',
  'host.change': 'matrix',
};

/** The boundaries and moments that this test has to kill at and did not. */
export function unreached(by: 'matrix' | 'alone', killed: readonly Pick<Passage, 'boundary' | 'moment'>[]): readonly string[] {
  const reached = new Set(killed.map(({ boundary, moment }) => `${boundary} ${moment}`));
  return Object.keys(BOUNDARIES)
    .filter((boundary) => TESTED_BY[boundary as Boundary] === by)
    .flatMap((boundary) =>
      MOMENTS.filter((moment) => moment !== 'inside' || boundary.startsWith('state.')).map((moment) => `${boundary} ${moment}`),
    )
    .filter((place) => !reached.has(place));
}

/** The boundaries whose test is another file, and whose file kills nowhere at them. */
export function unnamed(): readonly string[] {
  const root = join(import.meta.dirname, '../../..');
  return Object.entries(TESTED_BY)
    .filter(([, by]) => by !== 'matrix' && by !== 'alone')
    .filter(([boundary, file]) => !readFileSync(join(root, file), 'utf8').includes(`${boundary}@`))
    .map(([boundary, file]) => `${boundary} in ${file}`);
}
