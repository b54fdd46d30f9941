import type { Diagnostic } from '../core/diagnostic.ts';
import type { OperationRow, Snapshot } from '../state/model.ts';
import { admitPlan } from './admission.ts';
import type { ApplyRequest, EngineContext } from './engine.ts';
import type { ApplyResult } from './events.ts';
import { isCarriedOut, notCarriedOut } from './procedures.ts';
import { requireKey } from './vaults.ts';

/** Why a plan is not carried out, with nothing changed. */
export interface TurnedAway {
  readonly outcome: ApplyResult['outcome'];
  readonly exitCode: number;
  readonly diagnostics: readonly Diagnostic[];
  /** The serial of the operation that spent the plan; null where none did. */
  readonly serial: number | null;
}

const EXIT = { done: 0, refused: 3, stale: 4 } as const;

/**
 * What can be said of a plan without the lock: a spent, expired, refused or foreign one changes nothing and waits for nobody. Undefined when
 * nothing stands in its way. Throws `BackendError` when the state cannot be read, or needs a key that is not there.
 */
export async function turnedAway(context: EngineContext, request: ApplyRequest): Promise<TurnedAway | undefined> {
  const { environment, store, clock } = context;
  const { plan } = request;
  const spent = await store.spentBy(plan.digest);
  // Whoever carries it out right now holds the lock: that is the answer until he is through.
  const isRunning = spent?.outcome === null && ((await store.read())?.lock ?? null) !== null;
  if (spent !== undefined && !isRunning) return spentAway(spent, request);
  if (plan.environment !== environment.name) {
    const detail = `The plan is one of the environment ${plan.environment}; the folder holds ${environment.name}.`;
    return stale(diagnostic('PLAN_FOREIGN', 'The plan belongs to another environment', detail));
  }
  if (plan.succession.class === 'refuse' || !plan.applicable) {
    const detail = `The class of the plan is ${plan.succession.class}: ${plan.succession.rule}.`;
    return refused([diagnostic('PLAN_REFUSED', 'The plan cannot be applied', detail)]);
  }
  if (!isCarriedOut(plan.succession.class)) return refused([notCarriedOut(plan)]);
  if (clock.now() > Date.parse(plan.expiresAt)) {
    const detail = `It could be applied until ${plan.expiresAt}. Plan again.`;
    return stale({ ...diagnostic('PLAN_EXPIRED', 'The plan is too old', detail), next: 'accede plan' });
  }
  const present = await store.read();
  // Under the lock it is asked again; where the state moved since, that is said first.
  if (present === undefined || present.head.serial === plan.state.serial) {
    const away = await notAdmitted(context, present, request);
    if (away !== undefined) return away;
  }
  await requireKey(context);
  if (plan.state.lineage === null || present !== undefined) return undefined;
  const detail = 'The plan was made for a state that is not there any more. Nothing was changed, and no new state was begun. Plan again.';
  return stale({ ...diagnostic('PLAN_STALE', 'The plan is stale', detail), next: 'accede plan' });
}

/** The answer to a plan that somebody carried out before. */
export function spentAway(spent: OperationRow, { ifDone }: Pick<ApplyRequest, 'ifDone'>): TurnedAway {
  const isDone = spent.outcome === 'done' && ifDone;
  const detail = `${spent.id} carried it out at ${spent.startedAt}; its outcome: ${spent.outcome ?? 'not ended'}.`;
  const told = isDone ? detail : `${detail} A plan is applied once. Plan again.`;
  const found = { ...diagnostic('PLAN_SPENT', 'The plan was applied already', told), next: 'accede plan' };
  return { outcome: 'spent', exitCode: isDone ? EXIT.done : EXIT.stale, diagnostics: [found], serial: spent.serial };
}

async function notAdmitted(context: EngineContext, present: Snapshot | undefined, request: ApplyRequest): Promise<TurnedAway | undefined> {
  const { refusals, notes } = await admitPlan(context, present, request);
  return refusals.length === 0 ? undefined : refused([...refusals, ...notes]);
}

function refused(diagnostics: readonly Diagnostic[]): TurnedAway {
  return { outcome: 'refused', exitCode: EXIT.refused, diagnostics, serial: null };
}

function stale(found: Diagnostic): TurnedAway {
  return { outcome: 'stale', exitCode: EXIT.stale, diagnostics: [found], serial: null };
}

function diagnostic(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
