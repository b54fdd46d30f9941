import type { PlannedStep, Succession } from '../model.ts';
import { isBeforeEffects } from '../stages.ts';

/** The ways a failure can go, in the words of the plan. */
export const DIRECTION = {
  none: 'nothing to do',
  back: 'back: what was done is taken back, and everything is as before',
  backFirst: 'back before the point of no return, then forward',
  forward: 'forward: what was done stays recorded, and the next apply goes on from there',
} as const;

/** Which way a failure of these steps goes, and the steps after which there is no way back. */
export function directionOf(
  steps: readonly PlannedStep[],
  facts: {
    readonly destroy: boolean;
    /** Whether an earlier run left something half done: what was before this run is then no place to go back to. */
    readonly unclean: boolean;
  },
): Pick<Succession, 'direction' | 'pointOfNoReturn'> {
  if (steps.length === 0) return { direction: DIRECTION.none, pointOfNoReturn: null };
  const work = steps.filter((step) => !isBeforeEffects(step.stage) && step.stage !== 'retire');
  const hasWayBack = work.some((step) => step.direction === 'back');
  if (facts.destroy || facts.unclean || !hasWayBack) return { direction: DIRECTION.forward, pointOfNoReturn: null };
  const forward = work.filter((step) => step.direction === 'forward').map((step) => step.id);
  if (forward.length === 0) return { direction: DIRECTION.back, pointOfNoReturn: null };
  const more = forward.length > 1 ? ` and ${forward.length - 1} more` : '';
  return { direction: DIRECTION.backFirst, pointOfNoReturn: `${forward[0]}${more}` };
}

/** Whether a failure before the point of no return is answered by taking back what was done. */
export function goesBack(succession: Pick<Succession, 'direction'>): boolean {
  return succession.direction === DIRECTION.back || succession.direction === DIRECTION.backFirst;
}
