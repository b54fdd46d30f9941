import type { Outcome } from '../core/diagnostic.ts';
import { backedOut, backOutOf, type PastRecord } from '../plan/backed-out.ts';
import type { PlanOptions } from '../plan/model.ts';
import { planEnvironment } from '../plan/plan.ts';
import type { PreparedPlan } from '../plan/prepared.ts';
import { policyInForce } from '../policy/policy.ts';
import { judgeByRules } from '../policy/rules.ts';
import type { ReadSession } from '../providers/contract.ts';
import { BackendError, type StateStore } from '../state/contract.ts';
import type { Snapshot } from '../state/model.ts';
import { collectWorld } from './collect.ts';
import type { EngineContext, PlanStamp } from './engine.ts';
import { diagnoseBackend } from './failure.ts';
import { isBeginning } from './marked.ts';
import { readSessions, type Sessions } from './sessions.ts';
import { openedVault } from './vaults.ts';

/** How long a plan may be applied when the policy says nothing. */
const PLAN_MAX_AGE = 24 * 3600 * 1000;

/** Reads state and world and plans. Changes nothing and takes no lock. */
export async function preparePlan(context: EngineContext, options: PlanOptions, stamp: PlanStamp): Promise<Outcome<PreparedPlan>> {
  let snapshot: Snapshot | undefined;
  try {
    snapshot = await context.store.read();
  } catch (error) {
    return { ok: false, diagnostics: [diagnoseBackend(error)] };
  }
  const sessions = readSessions(context);
  try {
    return await planSnapshot(context, sessions, snapshot, options, stamp);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { ok: false, diagnostics: [diagnoseBackend(error)] };
  } finally {
    await sessions.close();
  }
}

/** Plans from a snapshot that the caller has read, with sessions that stay the caller's. Throws `BackendError` for secrets that the state keeps and that cannot be opened. */
export async function planSnapshot(
  context: EngineContext,
  sessions: Sessions<ReadSession>,
  snapshot: Snapshot | undefined,
  options: PlanOptions,
  stamp: PlanStamp,
): Promise<Outcome<PreparedPlan>> {
  const { environment, registry, version } = context;
  const policy = policyInForce(snapshot?.sealed, environment);
  const backsOut = backOutOf({ snapshot, options, environment });
  const past = backsOut === undefined ? undefined : await recordBefore(context.store, snapshot);
  const seen = snapshot === undefined || past === undefined ? snapshot : backedOut(snapshot, past);
  const inputs = {
    environment,
    registry,
    snapshot: seen,
    backsOut,
    // Without a refresh the record alone counts, where there is one.
    beginning: snapshot === undefined || (options.refresh && backsOut === undefined && (await isBeginning(context.store, snapshot))),
    opened: await openedVault(context, snapshot),
    options,
    version,
    commit: stamp.commit,
    folder: stamp.folder,
    createdAt: context.clock.now(),
    maxAge: policy?.planMaxAge ?? PLAN_MAX_AGE,
  };
  const world = await collectWorld(context, sessions, inputs);
  const planned = planEnvironment({ ...inputs, world });
  if (!planned.ok || policy === undefined) return planned;
  return { ...planned, value: { ...planned.value, document: judgeByRules(planned.value.document, policy.rules) } };
}

/** What was recorded before the open operation began. */
async function recordBefore(store: StateStore, snapshot: Snapshot | undefined): Promise<PastRecord | undefined> {
  const open = snapshot?.open ?? null;
  if (open === null) return undefined;
  const past = await store.readAt(open.operation.serial - 1);
  return past ?? { resources: new Map(), outputs: [] };
}
