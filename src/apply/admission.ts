import type { Plain } from '../core/value.ts';
import { type Admission, admit } from '../policy/admit.ts';
import { changesGovernance, policyInForce } from '../policy/policy.ts';
import type { Snapshot } from '../state/model.ts';
import type { ApplyRequest, EngineContext } from './engine.ts';
import { isWhole } from './seal.ts';

/** How a plan is to be applied, as far as the policy asks. */
export type AdmissionRequest = Pick<ApplyRequest, 'plan' | 'approvals' | 'breakFreeze' | 'rollbackTo' | 'isRecovery'>;

/** Whether the policy in force lets a plan be applied now, on the store's clock. Throws `BackendError`. */
export async function admitPlan(context: EngineContext, snapshot: Snapshot | undefined, request: AdmissionRequest): Promise<Admission> {
  const { environment, store } = context;
  const { plan, approvals = [], breakFreeze = false, rollbackTo, isRecovery = false } = request;
  const sealed = snapshot?.sealed ?? null;
  const policy = policyInForce(sealed, environment);
  if (policy === undefined) return { refusals: [UNREADABLE], notes: [], approved: [], broken: [] };
  return admit({
    plan,
    policy,
    // A part of the environment puts nothing in force as a whole, a policy neither.
    changesGovernance: isWhole(plan) && changesGovernance(sealed, environment),
    approvals: [...approvals, ...(await store.approvals(plan.digest))],
    holds: snapshot?.holds ?? [],
    now: await store.now(),
    way: rollbackTo !== undefined ? 'rollback' : isRecovery ? 'recover' : 'apply',
    breakFreeze,
  });
}

/** What is written down of an admission; empty when nobody had to approve anything and no window was broken. */
export function admissionRecord({ approved, broken }: Pick<Admission, 'approved' | 'broken'>): { readonly [name: string]: Plain } {
  return {
    ...(approved.length === 0 ? {} : { approved: approved.map(({ class: name, needed, by }): Plain => ({ class: name, needed, by })) }),
    ...(broken.length === 0 ? {} : { freezeBroken: broken.map(({ name }) => name) }),
  };
}

const UNREADABLE = {
  severity: 'error',
  code: 'POLICY_UNREADABLE',
  summary: 'The policy in force cannot be read',
  detail:
    'What the state holds of the policy in force does not have the form of one, so that nobody can say what is allowed. Nothing was changed. Use the version that wrote it, or a copy of the state.',
} as const;
