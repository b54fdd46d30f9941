import type { ResourceAddress } from '../../core/address.ts';
import type { Role, Stage } from '../../core/facet.ts';
import { STAGES } from '../../core/facet.ts';
import type { Snapshot } from '../../state/model.ts';
import type { Assessed } from '../assess.ts';
import type { PlanInputs } from '../inputs.ts';
import { beginningLineage } from '../marks.ts';
import type { PlannedStep, Refusal, Succession } from '../model.ts';
import { roleOf } from '../role.ts';
import { directionOf } from './direction.ts';

/** The classes that the engine can carry out. Tried in this order; the first whose rule holds is the class. */
export const CLASSES = ['refuse', 'destroy', 'initial', 'no-op', 'drift-repair', 'composite'] as const;
export type SuccessorClass = (typeof CLASSES)[number];

/** What the classifier looks at: facts about the whole plan, no provider, no value. */
interface Facts {
  readonly refusals: readonly Refusal[];
  readonly destroy: boolean;
  readonly keepProtected: boolean;
  /** Whether the record follows the live world, whatever the documents say. */
  readonly refreshOnly: boolean;
  readonly sealed: boolean;
  /** Whether the state begins again where one was lost. */
  readonly lost: boolean;
  /** Whether something is changed that only its mark tells of. */
  readonly marked: boolean;
  readonly changed: readonly Assessed[];
  readonly outputsChanged: boolean;
  /** Whether the documents say anything else than what is in force. */
  readonly documentsDiffer: boolean;
}

interface Rule {
  readonly name: SuccessorClass;
  readonly holds: (facts: Facts) => boolean;
  readonly because: (facts: Facts) => string;
}

const RULES: readonly Rule[] = [
  {
    name: 'refuse',
    holds: (facts) => facts.refusals.length > 0,
    because: (facts) =>
      `${count(facts.refusals.length, 'refusal')}: ${[...new Set(facts.refusals.map((refusal) => refusal.code))].sort().join(', ')}`,
  },
  {
    name: 'destroy',
    holds: (facts) => facts.destroy,
    because: (facts) =>
      facts.keepProtected
        ? 'what is recorded is to be deleted, but for what is protected and what that needs, as asked for'
        : `everything that is recorded${facts.marked ? ' or bears our mark' : ''} is to be deleted, as asked for`,
  },
  {
    name: 'initial',
    holds: (facts) => !facts.sealed,
    because: (facts) =>
      facts.lost
        ? 'there is no state, and what bears the mark of one that was is recorded again'
        : 'no environment of this name has been put in force yet',
  },
  {
    name: 'no-op',
    holds: (facts) => facts.changed.length === 0 && !facts.outputsChanged,
    because: (facts) => (facts.refreshOnly ? `record and live world agree; ${DOCUMENTS_ASIDE}` : 'documents, record and live world agree'),
  },
  {
    name: 'drift-repair',
    holds: (facts) => !facts.documentsDiffer && !facts.outputsChanged && facts.changed.every(isRepair),
    because: (facts) =>
      facts.refreshOnly
        ? `the record takes over what is live; ${DOCUMENTS_ASIDE}`
        : 'the documents say what is in force, and only the live world differs from it',
  },
  { name: 'composite', holds: () => true, because: (facts) => compositeBecause(facts.changed) },
];

const DOCUMENTS_ASIDE = 'the documents are left aside, as asked for';

/** Who changes how much: the documents, what is asked for by name, the live world, and what follows from any of them. */
function compositeBecause(changed: readonly Assessed[]): string {
  const of = (mover: string) => changed.filter((assessed) => moverOf(assessed) === mover).length;
  const [own, asked, follows, drifted] = [of('self'), of('requested'), of('follows'), of('drift')];
  const parts = [
    own === 0 ? '' : `the documents change ${count(own, 'resource')}`,
    asked === 0 ? '' : `${count(asked, 'resource')} ${asked === 1 ? 'is' : 'are'} changed as asked for`,
    follows === 0 ? '' : `${count(follows, 'resource')} ${follows === 1 ? 'follows' : 'follow'}`,
    drifted === 0 ? '' : `${count(drifted, 'resource')} drifted`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'only outputs change' : parts.join('; ');
}

/** What moves a resource. What is asked for by name and changed by the documents as well is changed by the documents. */
function moverOf({ decision }: Assessed): string {
  const kind = decision.cause?.kind ?? 'self';
  return kind === 'requested' && decision.paths.some((path) => path.cause === 'change') ? 'self' : kind;
}

function isRepair(assessed: Assessed): boolean {
  const { decision } = assessed;
  return (
    decision.cause?.kind === 'drift' || (decision.cause?.kind === 'follows' && decision.paths.every((path) => path.cause !== 'change'))
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Roles whose objects serve somebody: replacing or stopping one is an outage. */
const SERVING: readonly Role[] = ['service', 'worker', 'store', 'frontend', 'ingress', 'runtime'];

/** The whole succession part of a plan: the class, why it is that one, and what it means for those who use the environment. */
export function classify(
  inputs: PlanInputs,
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  found: {
    readonly refusals: readonly Refusal[];
    readonly outputsChanged: boolean;
    readonly steps: readonly PlannedStep[];
    readonly guards: Succession['guards'];
  },
): Succession & { readonly outageAddresses: readonly ResourceAddress[] } {
  const changed = [...resources.values()].filter((assessed) => assessed.decision.action !== 'noop');
  const sealed = inputs.snapshot?.sealed ?? null;
  const facts: Facts = {
    refusals: found.refusals,
    destroy: inputs.options.destroy,
    keepProtected: inputs.options.keepProtected,
    refreshOnly: inputs.options.refreshOnly,
    sealed: sealed !== null,
    lost: beginningLineage(inputs.snapshot, inputs.world.marked) !== null,
    marked: changed.some((assessed) => assessed.recorded?.byMark === true),
    changed,
    outputsChanged: found.outputsChanged,
    documentsDiffer: changed.some((assessed) => assessed.decision.paths.some((path) => path.cause === 'change')),
  };
  const chosen = RULES.find((rule) => rule.holds(facts));
  if (chosen === undefined) throw new Error('no class holds, though the last always does');
  const outageAddresses = changed
    .filter(isOutage)
    .map((assessed) => assessed.address)
    .sort();
  const stages = new Set<Stage>(found.steps.map((step) => step.stage));
  return {
    class: chosen.name,
    then: null,
    rule: chosen.because(facts),
    outage: outageAddresses.length === 0 ? 'none' : outageAddresses.join(', '),
    ...directionOf(found.steps, { destroy: facts.destroy, unclean: isUnclean(inputs.snapshot) }),
    stages: STAGES.filter((stage) => stages.has(stage)),
    changedPaths: changedPaths(changed, chosen.name),
    rejected: rejectedClasses(facts, chosen.name),
    guards: found.guards,
    refusals: found.refusals,
    outageAddresses,
  };
}

/** Whether an earlier run left something half done. */
function isUnclean(snapshot: Snapshot | undefined): boolean {
  if (snapshot === undefined) return false;
  if (snapshot.open !== null || snapshot.unsettled.length > 0) return true;
  // What a job left is no state of anything that serves.
  const serving = [...snapshot.resources.values()].filter((row) => row.role !== 'job');
  return serving.some((row) => row.ref === null || row.status === 'unfinished' || row.deposed.length > 0);
}

function isOutage(assessed: Assessed): boolean {
  const { decision } = assessed;
  const role = roleOf(assessed);
  if (!SERVING.includes(role)) return false;
  return decision.restart === true || decision.action === 'delete' || (decision.action === 'replace' && decision.order === 'destroy-first');
}

function changedPaths(changed: readonly Assessed[], admitting: SuccessorClass): Succession['changedPaths'] {
  const admittedBy = admitting === 'refuse' ? null : admitting;
  return changed
    .flatMap((assessed) =>
      assessed.decision.paths.map(({ path, facet }) => ({
        path: `${assessed.address}.${path}`,
        role: roleOf(assessed),
        facet,
        admittedBy,
      })),
    )
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** The nearest narrower classes that were not taken, each with what it does not cover. */
function rejectedClasses(facts: Facts, chosen: SuccessorClass): Succession['rejected'] {
  if (chosen !== 'composite') return [];
  const uncovered = facts.changed
    .filter((assessed) => !isRepair(assessed))
    .flatMap((assessed) => {
      const own = assessed.decision.paths.filter((path) => path.cause === 'change').map(({ path }) => `${assessed.address}.${path}`);
      return own.length > 0 ? own : [assessed.address];
    })
    .sort();
  const isAsked = facts.changed.filter((assessed) => !isRepair(assessed)).every((assessed) => moverOf(assessed) === 'requested');
  const reason =
    uncovered.length === 0 ? 'outputs differ' : isAsked ? 'more is asked for than a repair' : 'the documents differ from what is in force';
  return [{ class: 'drift-repair', uncovered, reason }];
}
