import type { ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Session } from '../providers/contract.ts';
import type { Snapshot } from '../state/model.ts';
import type { EngineContext, PlanStamp } from './engine.ts';
import { planSnapshot } from './prepare.ts';
import type { Sessions } from './sessions.ts';

/**
 * Whether the facts that a plan rests on still hold in the middle of its run: every live object that the run has not begun to change itself is the
 * one that the plan saw, and providers speak to what they did. Answers what moved, or undefined. `snapshot` is the state as the plan saw it.
 */
export async function factsThatMoved(
  context: EngineContext,
  sessions: Sessions<Session>,
  run: {
    readonly plan: PlanDocument;
    readonly snapshot: Snapshot | undefined;
    readonly stamp: PlanStamp;
    readonly begun: ReadonlySet<ResourceAddress>;
  },
): Promise<Diagnostic | undefined> {
  const { plan, begun } = run;
  const again = await planSnapshot(context, sessions, run.snapshot, plan.inputs.options, run.stamp);
  if (!again.ok)
    return moved('What the plan rests on cannot be told any more', again.diagnostics[0]?.detail ?? 'it could not be planned again');
  const { fingerprints, inputs } = again.value.document;
  const untouched = Object.keys(plan.fingerprints).filter((address) => !begun.has(address as ResourceAddress));
  const objects = untouched.filter((address) => fingerprints[address] !== plan.fingerprints[address]).sort();
  const providers = Object.keys(plan.inputs.providers).filter(
    (alias) => JSON.stringify(inputs.providers[alias]) !== JSON.stringify(plan.inputs.providers[alias]),
  );
  const names = [...objects, ...providers.sort().map((alias) => `provider ${alias}`)];
  if (names.length === 0) return undefined;
  const shown = names.slice(0, 5).join(', ');
  const rest = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return moved('A fact that the plan rests on moved', `Not as the plan saw it any more: ${shown}${rest}.`);
}

function moved(summary: string, why: string): Diagnostic {
  const detail = `${why} Nothing that cannot be taken back was begun.`;
  return { severity: 'error', code: 'GUARD_MOVED', summary, detail, next: 'accede plan' };
}
