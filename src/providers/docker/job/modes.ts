import type { Attributes } from '../../../core/value.ts';
import { bareText } from '../lift.ts';

/** What `run` may say. */
export const RUN_MODES = ['on_change', 'once', 'on_demand', 'by_reference'] as const;

/** What stands for a live id of a job that is run on request: it has no object but its record. */
const DECLARED = 'declared:';

/** Whether a job is run on request alone, and never by an apply. */
export function isOnRequest(attributes: Attributes | undefined): boolean {
  const run = bareText(attributes?.['run']);
  return run === 'on_demand' || run === 'by_reference';
}

/** The live id of a job that is run on request, by our id of it. */
export function declaredRef(id: string): string {
  return `${DECLARED}${id}`;
}

/** Our id of the job, from such a live id; undefined for a live id of another kind. */
export function declaredId(ref: string | undefined): string | undefined {
  return ref?.startsWith(DECLARED) === true ? ref.slice(DECLARED.length) : undefined;
}
