import type { ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { ResourceLookup } from '../core/template.ts';
import { type Attributes, Unknown } from '../core/value.ts';
import { diffAttributes } from '../plan/diff.ts';
import { alignedLive, type Masks } from '../plan/live.ts';
import type { PreparedChange } from '../plan/prepared.ts';
import { RECORDED_AS_IT_IS } from '../plan/refresh.ts';
import type { Found, Observed } from '../providers/contract.ts';

/** An error about the resource of a change. */
export function changeDiagnostic(change: PreparedChange, code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail, address: change.planned.address };
}

/** What differs right after the step that should have brought it about: the provider's mistake, or somebody else changed the object in between. */
export function resultDifference(
  change: PreparedChange,
  found: Found,
  desired: Attributes | undefined,
  masks: Masks,
  key: Buffer,
): Diagnostic | undefined {
  const { type, planned } = change;
  if (desired === undefined || planned.reason === RECORDED_AS_IT_IS) return undefined;
  const skip = (name: string) => type.traits.get(name)?.writeOnly === true;
  const differences = diffAttributes(type, alignedLive(type, found, desired, masks), desired, { key, skip });
  if (differences.length === 0) return undefined;
  const paths = differences.map(({ path }) => path).join(', ');
  const detail = `${planned.address} differs from what was asked for right after its step, at ${paths}. Somebody changed it in between, or the provider of ${type.type} has a mistake.`;
  return changeDiagnostic(change, 'RESULT_DIFFERS', 'The object is not as desired after the step', detail);
}

/** The first condition that is known not to hold. One that is still unknown holds nobody up. */
export function failedCondition(
  change: PreparedChange,
  which: 'preconditions' | 'postconditions',
  lookup: ResourceLookup,
): Diagnostic | undefined {
  const { instance, planned } = change;
  if (instance === undefined || planned.action === 'delete' || planned.action === 'forget') return undefined;
  for (const condition of instance.lifecycle[which]) {
    const outcome = condition.that.evaluate(lookup);
    if (outcome.ok && (outcome.value === true || outcome.value instanceof Unknown)) continue;
    const [code, summary] =
      which === 'preconditions'
        ? ['PRECONDITION_FAILED', 'A precondition does not hold']
        : ['POSTCONDITION_FAILED', 'A postcondition does not hold'];
    return { ...changeDiagnostic(change, code, summary, `${planned.address}: ${condition.message}`), expected: condition.that.text };
  }
  return undefined;
}

/** What the operator should know of an object that has just come to be. */
export function notesOf({ notes = [] }: Found, address: ResourceAddress): readonly Diagnostic[] {
  const said = notes.filter(({ lasting }) => lasting === true);
  return said.map(({ code, message }) => ({ severity: 'warning', code, summary: 'Good to know', detail: message, address }));
}

/** In words why nothing was found. */
export function whyNotFound(observed: Exclude<Observed, Found>): string {
  return observed.kind === 'absent' ? 'it is absent' : observed.reason;
}
