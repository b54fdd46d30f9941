import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';

/** Classes that a plan can have and that no apply carries out yet. */
const NOT_YET: ReadonlySet<string> = new Set(['catalog-retry', 'catalog-supersede', 'catalog-abandon', 'worker-supersede']);

/** Whether an apply can carry out a plan of this class. */
export function isCarriedOut(name: string): boolean {
  return !NOT_YET.has(name);
}

/** Why a plan of such a class is not applied, and what ends the open operation instead. */
export function notCarriedOut({ succession }: PlanDocument): Diagnostic {
  return {
    severity: 'error',
    code: 'CLASS_NOT_AVAILABLE',
    summary: 'The class of the plan cannot be carried out yet',
    detail: `The plan is a ${succession.class}: ${succession.rule}. This version does not carry that out in one apply. Take the open operation back first with accede recover --back, or go on from where it stopped to what the documents say now. Nothing was changed.`,
    observed: succession.class,
    next: 'accede recover --forward',
  };
}
