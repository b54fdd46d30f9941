import type { Diagnostic } from '../core/diagnostic.ts';
import { needsAllowance } from '../core/successor-class.ts';
import type { Plain } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Hold } from '../state/model.ts';
import { countApprovals, type Requirement, type Tally } from './count.ts';
import { type Frozen, frozenBy } from './freeze.ts';
import { holdsOn } from './hold.ts';
import type { Policy } from './policy.ts';

/** What ends an operation that is open is never kept off by the calendar. */
const NEVER_FROZEN: readonly string[] = ['no-op', 'resume', 'revert', 'refuse'];

/** What is asked of a plan before it is applied. */
export interface AdmissionQuestion {
  readonly plan: PlanDocument;
  /** The policy in force. */
  readonly policy: Policy;
  /** Whether the documents change policy, hooks or quiesce of what is in force. */
  readonly changesGovernance: boolean;
  readonly approvals: readonly Plain[];
  readonly holds: readonly Hold[];
  /** Milliseconds since the epoch on the store's clock. */
  readonly now: number;
  /** `apply`, or what passes holds: `rollback` and `recover`. */
  readonly way: 'apply' | 'rollback' | 'recover';
  readonly breakFreeze: boolean;
}

export interface Admission {
  /** Why the plan may not be applied; empty when it may. Each is an error with its own code. */
  readonly refusals: readonly Diagnostic[];
  /** What is said of approvals that do not count. */
  readonly notes: readonly Diagnostic[];
  /** Who approved which class, for the record. */
  readonly approved: readonly Tally[];
  /** Windows that were broken on purpose. */
  readonly broken: readonly Frozen[];
}

/** Judges whether a plan may be applied now: holds, the place of its class in `allow`, freeze windows, approvals. */
export function admit(question: AdmissionQuestion): Admission {
  const { plan, policy, way } = question;
  const classes = classesOf(question);
  const holds = way === 'apply' ? holdsOn(plan, question.holds, question.now) : [];
  const frozen = frozenNow(question, classes);
  const broken = question.breakFreeze ? frozen : [];
  const requirements = requirementsOf(classes, policy, broken.length > 0);
  const { tallies, verdicts } = countApprovals(question.approvals, { plan: plan.digest, policy, requirements });
  const missing = tallies.filter(({ needed, by }) => by.length < needed);
  const refusals = [
    ...holds.map(held),
    ...classes.filter((name) => !isAllowed(name, policy)).map((name) => notAllowed(name, plan, policy)),
    ...(question.breakFreeze ? [] : frozen.map((window) => frozenRefusal(window, plan))),
    ...missing.map((tally) => approvalsMissing(tally, broken.length > 0)),
  ];
  const notes = verdicts.flatMap(({ code, detail }): readonly Diagnostic[] =>
    code === null || (requirements.length === 0 && code === 'APPROVER_NOT_FOR_CLASS')
      ? []
      : [{ severity: 'warning', code, summary: 'An approval does not count', detail }],
  );
  return { refusals, notes, approved: tallies.filter(({ by }) => by.length > 0), broken };
}

/** The classes that have to be allowed and approved: the plan's own, what it supersedes with, and the change of who may do what. */
export function classesOf({ plan, changesGovernance }: Pick<AdmissionQuestion, 'plan' | 'changesGovernance'>): readonly string[] {
  const { class: name, then } = plan.succession;
  const own = then === null ? [name] : [name, then];
  const ends = name === 'resume' || name === 'revert';
  const rides = plan.succession.changedPaths.some(({ facet }) => facet === 'governance') && name !== 'initial';
  const isGovernance = (changesGovernance || rides) && !ends && !plan.inputs.options.destroy;
  return isGovernance && !own.includes('policy-change') ? [...own, 'policy-change'] : own;
}

/** How many approvals each class needs. `policy-change` without a number of its own needs the highest of any. */
export function requirementsOf(classes: readonly string[], policy: Policy, breaksFreeze: boolean): readonly Requirement[] {
  return classes
    .map((name, index) => ({ class: name, needed: neededFor(name, policy) + (breaksFreeze && index === 0 ? 1 : 0) }))
    .filter(({ needed }) => needed > 0);
}

function neededFor(name: string, { approvals }: Policy): number {
  const own = approvals.get(name);
  if (own !== undefined || name !== 'policy-change') return own ?? 0;
  return Math.max(0, ...approvals.values());
}

function isAllowed(name: string, { allow }: Policy): boolean {
  return allow === undefined || !needsAllowance(name) || allow.includes(name);
}

function frozenNow({ policy, now, way }: AdmissionQuestion, classes: readonly string[]): readonly Frozen[] {
  const own = classes.filter((name) => !NEVER_FROZEN.includes(name));
  if (own.length === 0) return [];
  const all = frozenBy(policy.freeze, own, now);
  if (way !== 'rollback') return all;
  const passing = frozenBy(policy.freeze, ['rollback'], now);
  return all.filter(({ name }) => passing.some((window) => window.name === name));
}

function held(hold: Hold): Diagnostic {
  const what =
    hold.kind === 'hand' ? 'Every source is held' : 'The documents as they are, with these variables, are held until another source comes';
  const until = hold.until === null ? '' : ` It ends at ${hold.until}.`;
  return {
    severity: 'error',
    code: 'HELD',
    summary: 'Applies are held',
    detail: `${what}: ${sentence(hold.reason)} ${hold.by} set the hold at ${hold.since}.${until} Nothing was changed.`,
    next: 'accede hold --lift --reason TEXT',
  };
}

function notAllowed(name: string, plan: PlanDocument, { allow = [] }: Policy): Diagnostic {
  const rides = name !== plan.succession.class && name !== plan.succession.then;
  const why = rides
    ? 'The documents change policy, hooks, quiesce or what is protected, and the policy in force does not allow the class policy-change.'
    : `The class of the plan is ${name}, which the policy in force does not allow.`;
  return {
    severity: 'error',
    code: 'CLASS_NOT_ALLOWED',
    summary: 'The policy in force does not allow the class',
    detail: `${why} A change of the policy takes effect once it is applied. Nothing was changed.`,
    expected: allow.length === 0 ? 'no class at all' : `one of ${allow.join(', ')}`,
    observed: name,
  };
}

function frozenRefusal({ name, until }: Frozen, plan: PlanDocument): Diagnostic {
  const end = Number.isFinite(until) ? `ends at ${new Date(until).toISOString()}` : 'has no end';
  return {
    severity: 'error',
    code: 'FROZEN',
    summary: 'A freeze window is open',
    detail: `The window ${name} ${end} and makes no exception of ${plan.succession.class}. Nothing was changed. With --break-freeze --reason TEXT the plan needs one approval more than its class.`,
    observed: name,
  };
}

function approvalsMissing({ class: name, needed, by, open }: Tally, breaksFreeze: boolean): Diagnostic {
  const given = by.length === 0 ? 'none was given' : `${by.length} ${by.length === 1 ? 'was' : 'were'} given, by ${by.join(', ')}`;
  const who = open.length === 0 ? 'Nobody else may approve it.' : `Who may still approve it: ${open.join(', ')}.`;
  const more = breaksFreeze ? ' One of them is for the freeze window that is broken.' : '';
  return {
    severity: 'error',
    code: 'APPROVALS_MISSING',
    summary: 'The plan lacks approvals',
    detail: `The class ${name} needs ${needed} ${needed === 1 ? 'approval' : 'approvals'} of exactly this plan; ${given}. ${who}${more} What is approved is a saved plan: accede plan --out PLAN writes it. Nothing was changed.`,
    expected: String(needed),
    observed: String(by.length),
    next: 'accede approve PLAN --key FILE',
  };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
