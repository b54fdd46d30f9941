import { createContext, Script } from 'node:vm';
import { FunctionRefusal } from './expression-functions.ts';

/** How long everything that one expression matches may take, in milliseconds. What is no endless pattern needs a thousandth of it. */
export const MATCHING_TIME = 2_000;

/**
 * Runs something that may not end, and that nothing in the process could interrupt: a pattern such as `^(a+)+$` tries twice as much for every
 * character. Throws `FunctionRefusal` when the time is over; the work cannot catch that, so that no quantifier goes on to the next member.
 */
export function withinMatchingTime<T>(work: () => T): T {
  let done: { readonly value: T } | undefined;
  const run = () => {
    done = { value: work() };
  };
  try {
    new Script('run()').runInContext(createContext({ run }), { timeout: MATCHING_TIME });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new FunctionRefusal(
      `matches() took more than ${MATCHING_TIME / 1000} s and was stopped. A repeat inside of a repeat, as in (a+)+, makes a pattern endless; write it without.`,
    );
  }
  if (done === undefined) throw new Error('the work ended without a result');
  return done.value;
}

/** The error comes from the other context, where it is no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
