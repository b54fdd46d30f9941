import { BOUNDARIES, type Boundary, MOMENTS } from '../../../src/core/fail-point.ts';
import type { Passage } from './lane.ts';

/** Which test kills at a boundary: the matrix, or one of its own. A boundary that stands here and is not reached by its test fails that test. */
const TESTED_BY: Readonly<Record<Boundary, 'matrix' | 'alone'>> = {
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
  'state.backup': 'alone',
  'state.load': 'alone',
  'state.retire': 'alone',
  'state.activate': 'alone',
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
