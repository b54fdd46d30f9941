import { compareText, type ResourceAddress } from '../../core/address.ts';
import { STAGES, type Stage } from '../../core/facet.ts';
import type { Graph } from '../../core/graph.ts';
import { type ClassName, needsAllowance, type OpenClassName } from '../../core/successor-class.ts';
import type { ResourceLookup } from '../../core/template.ts';
import type { Assessed } from '../assess.ts';
import type { PlanInputs } from '../inputs.ts';
import { beginningLineage } from '../marks.ts';
import type { PlannedOutput, PlannedStep, Refusal, Succession } from '../model.ts';
import { roleOf } from '../role.ts';
import { changesOf } from './changes.ts';
import { classRow } from './classes.ts';
import { directionOf } from './direction.ts';
import { admits, type PathChange } from './mask.ts';
import { type Match, matchClass, type Rejected, type SuccessionPolicy } from './match.ts';
import { openOperation } from './open-facts.ts';
import { matchOpen } from './open-operation.ts';
import { outageOf } from './outage.ts';
import { governingBlock, successionPolicy } from './policy.ts';
import { unmetRequirements } from './requirements.ts';
import { ruleOf } from './rule.ts';

/** What a plan has found before its class is known. */
export interface Classified {
  readonly refusals: readonly Refusal[];
  readonly outputs: readonly PlannedOutput[];
  readonly lookup: ResourceLookup;
  readonly graph: Graph;
  readonly steps: readonly PlannedStep[];
  readonly guards: Succession['guards'];
}

/** The class of a candidate, and how it came to it. */
interface Verdict {
  readonly class: ClassName | OpenClassName;
  readonly then: ClassName | null;
  /** The class that facts or masks chose, also where it is refused. */
  readonly chosen: ClassName | null;
  readonly rule: string;
  readonly rejected: readonly Rejected[];
  readonly refusals: readonly Refusal[];
}

/** The whole succession part of a plan: the class, why it is that one, and what it means for those who use the environment. */
export function classify(
  inputs: PlanInputs,
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  found: Classified,
): Succession & { readonly outageAddresses: readonly ResourceAddress[] } {
  const changes = changesOf(inputs, { resources, outputs: found.outputs, lookup: found.lookup });
  const verdict = judgeClass(inputs, resources, changes, found.refusals);
  const row = verdict.chosen === null ? undefined : classRow(verdict.chosen);
  const outageAddresses = outageOf(row?.outage ?? 'role', resources, found.graph);
  const stages = new Set<Stage>(found.steps.map((step) => step.stage));
  return {
    class: verdict.class,
    then: verdict.then,
    chosen: verdict.chosen,
    backsOut: takenBack(inputs, verdict),
    rule: verdict.rule,
    outage: outageAddresses.length === 0 ? 'none' : outageAddresses.join(', '),
    ...directionOf(found.steps, { destroy: inputs.options.destroy, unclean: isUnclean(inputs) }),
    stages: STAGES.filter((stage) => stages.has(stage)),
    changedPaths: changedPaths(changes, resources, verdict),
    rejected: verdict.rejected,
    guards: found.guards,
    refusals: verdict.refusals,
    outageAddresses,
  };
}

function judgeClass(
  inputs: PlanInputs,
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  changes: readonly PathChange[],
  refusals: readonly Refusal[],
): Verdict {
  const { environment, snapshot } = inputs;
  const policy = successionPolicy(governingBlock(environment, snapshot?.sealed ?? null, 'policy'));
  const chosen = chooseClass(inputs, resources, changes, policy);
  const hooks = { inForce: governingBlock(environment, snapshot?.sealed ?? null, 'hooks'), candidate: environment.hooks };
  const own = chosen.match?.refusal ?? null;
  const all: Refusal[] = [
    ...refusals,
    ...(own === null ? [] : [{ code: own.code, path: own.paths[0] ?? environment.name, message: own.message }]),
    ...(chosen.class === null ? [] : unmetRequirements(chosen.class, changes, hooks)),
  ];
  const base = { chosen: chosen.class, rejected: chosen.match?.rejected ?? [], then: null };
  const open = openOperation(inputs);
  if (open !== undefined) {
    const after: ClassName = all.length > 0 || chosen.class === null ? 'refuse' : chosen.class;
    const matched = matchOpen(open, {
      sourceDigest: environment.sourceDigest,
      sealedDigest: snapshot?.sealed?.sourceDigest ?? null,
      fromOperation: null,
      class: after,
      allowed: policy.allow === null || !needsAllowance(after) || policy.allow.includes(after),
    });
    if (matched.class === 'refuse') {
      const refusal = {
        code: 'OPERATION_OPEN',
        path: environment.name,
        message: `${matched.rule}. Take its documents again and go on, or end it from where the world stands.`,
        next: 'accede recover --forward',
      };
      return { ...base, class: 'refuse', rule: ruleOf.refused([refusal, ...all], chosen.class), refusals: [refusal, ...all] };
    }
    // Masks and requirements judge what comes after what is in force; going on and going back were judged when they began.
    const kept = matched.class === 'supersede' ? all : refusals;
    if (kept.length === 0) return { ...base, class: matched.class, then: matched.then, rule: matched.rule, refusals: [] };
    return { ...base, class: 'refuse', rule: ruleOf.refused(kept, chosen.class), refusals: kept };
  }
  if (all.length > 0) return { ...base, class: 'refuse', rule: ruleOf.refused(all, chosen.class), refusals: all };
  return { ...base, class: chosen.class ?? 'refuse', rule: chosen.rule, refusals: [] };
}

interface Choice {
  readonly class: ClassName | null;
  readonly rule: string;
  readonly match?: Match;
}

/** The class by facts where those decide, else by the masks. */
function chooseClass(
  inputs: PlanInputs,
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  changes: readonly PathChange[],
  policy: SuccessionPolicy,
): Choice {
  const { options, snapshot } = inputs;
  const work = [...resources.values()].filter(({ decision }) => decision.action !== 'noop');
  if (options.destroy) {
    const marked = work.some((assessed) => assessed.recorded?.byMark === true);
    return { class: 'destroy', rule: ruleOf.destroy(options.keepProtected, marked) };
  }
  if ((snapshot?.sealed ?? null) === null) {
    const isLost = beginningLineage(snapshot, inputs.world.marked) !== null;
    return { class: 'initial', rule: ruleOf.initial(isLost) };
  }
  if (changes.length === 0) {
    const isWork = work.some(({ decision }) => decision.action !== 'read');
    return isWork
      ? { class: 'drift-repair', rule: ruleOf.repair(options.refreshOnly) }
      : { class: 'no-op', rule: ruleOf.nothing(options.refreshOnly) };
  }
  const match = matchClass(changes, policy);
  return { class: match.chosen, rule: ruleOf.matched(match, changes), match };
}

/** What the plan takes back first; a plan that is refused takes nothing back. */
function takenBack({ backsOut }: PlanInputs, verdict: Verdict): Succession['backsOut'] {
  if (backsOut === undefined || (verdict.class !== 'supersede' && verdict.class !== 'revert')) return null;
  return { operation: backsOut.operation, steps: backsOut.steps };
}

/** Whether an earlier run left something half done. */
function isUnclean({ snapshot, backsOut }: PlanInputs): boolean {
  if (snapshot === undefined) return false;
  if ((snapshot.open !== null && backsOut === undefined) || snapshot.unsettled.length > 0) return true;
  // What a job left is no state of anything that serves.
  const serving = [...snapshot.resources.values()].filter((row) => row.role !== 'job');
  return serving.some((row) => row.ref === null || row.status === 'unfinished' || row.deposed.length > 0);
}

/** The changes with the class that admits each; what drifted where that is the whole plan. */
function changedPaths(
  changes: readonly PathChange[],
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  { chosen }: Verdict,
): Succession['changedPaths'] {
  const row = chosen === null ? undefined : classRow(chosen);
  if (changes.length > 0) {
    return changes.map((change) => ({
      path: change.path,
      role: change.role,
      facet: change.facet,
      action: change.action,
      admittedBy: row !== undefined && admits(row.mask, change) ? row.name : null,
    }));
  }
  if (chosen !== 'drift-repair') return [];
  return [...resources.values()]
    .flatMap((assessed) =>
      assessed.decision.paths.map(({ path, facet }) => ({
        path: `${assessed.address}.${path}`,
        role: roleOf(assessed),
        facet,
        action: 'changed' as const,
        admittedBy: chosen,
      })),
    )
    .sort((a, b) => compareText(a.path, b.path));
}
