import { compareText } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { PreparedPlan } from '../plan/prepared.ts';

/**
 * What comes after the open operation was taken back, as work of the plan that was given: it was planned on the world as that would be, and is
 * planned again on the world as it is. Where the two differ nothing more is done.
 */
export function secondPart(
  given: PlanDocument,
  again: PreparedPlan,
): { readonly ok: true; readonly prepared: PreparedPlan } | { readonly ok: false; readonly diagnostic: Diagnostic } {
  const differing = differingAddresses(given, again.document);
  if (differing.length === 0 && canonicalText(outline(given)) === canonicalText(outline(again.document))) {
    return { ok: true, prepared: { ...again, document: { ...again.document, digest: given.digest, succession: given.succession } } };
  }
  const what = differing.length === 0 ? 'the steps' : differing.slice(0, 5).join(', ');
  const detail = `${given.succession.backsOut?.operation ?? 'The open operation'} was taken back. What comes after that is not what the plan foresaw: ${what}. Nothing more was done, and everything is as it was before that operation. Plan again.`;
  return {
    ok: false,
    diagnostic: {
      severity: 'error',
      code: 'SECOND_PART_MOVED',
      summary: 'The second part of the plan does not hold',
      detail,
      next: 'accede plan',
    },
  };
}

/** What a plan does, without what only tells where the world stands. */
function outline({ steps, outputs }: PlanDocument): object {
  return {
    steps: steps.map(({ id, after, stage, direction }) => ({ id, after, stage, direction })),
    outputs: outputs.map(({ name, after, unknown }) => ({ name, after, unknown })),
  };
}

function differingAddresses(given: PlanDocument, again: PlanDocument): readonly string[] {
  const workOf = ({ changes }: PlanDocument) =>
    new Map(
      // What is left as it is may be there or not.
      changes
        .filter(({ action }) => action !== 'noop')
        .map(({ address, action, replaceOrder, paths, after, unknown }) => {
          const touched = paths.map(({ path, facet, replaces }) => ({ path, facet, replaces }));
          return [address as string, canonicalText({ action, replaceOrder, touched, after, unknown })];
        }),
    );
  const [one, other] = [workOf(given), workOf(again)];
  return [...new Set([...one.keys(), ...other.keys()])].filter((address) => one.get(address) !== other.get(address)).sort(compareText);
}
