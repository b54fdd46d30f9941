import type { ResourceAddress } from '../core/address.ts';
import { Unknown } from '../core/value.ts';
import type { Assessed, Assessment } from './assess.ts';
import { hindrance, removedRefs } from './hindrances.ts';
import type { PlanInputs } from './inputs.ts';
import type { PlanMessage, Refusal } from './model.ts';
import { beginningRefusals, beginningWarnings } from './recovery.ts';
import { rivalRefusal, rivalWarnings } from './rivals.ts';

/** The decisions after what stands above single resources: create-first handed down, protection, conditions. */
export interface Judged {
  readonly resources: ReadonlyMap<ResourceAddress, Assessed>;
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly PlanMessage[];
}

/** Applies protection and preconditions and gathers every refusal. A blocked change is shown as `refuse`; the rest stays planned. */
export function judge(inputs: PlanInputs, assessment: Assessment): Judged {
  const resources = new Map(assessment.resources);
  const handedDown = handDownOrder(resources, assessment);
  if (inputs.options.destroy && inputs.options.keepProtected) keepProtected(resources);
  const refusals: Refusal[] = [];
  const gone = removedRefs(resources.values());
  for (const assessed of resources.values()) {
    const refusal =
      ownRefusal(assessed) ??
      protectionRefusal(inputs, assessed) ??
      rivalRefusal(assessed, handedDown.get(assessed.address)) ??
      hindranceRefusal(inputs, assessed, gone);
    if (refusal !== undefined) {
      refusals.push(refusal);
      if (assessed.decision.action !== 'refuse')
        block(resources, assessed, refusal.code === 'PROTECTED' ? `protected; would ${wouldDo(assessed)}` : refusal.message);
    }
    refusals.push(...failedConditions(inputs, assessment, assessed));
  }
  if (inputs.environment.resources.length === 0 && !inputs.options.destroy && !inputs.options.refreshOnly) {
    refusals.push({
      code: 'EMPTY_ENVIRONMENT',
      path: inputs.environment.name,
      message:
        'The environment has no resources at all, so everything that is recorded would be deleted. If that is meant, ask for it by name.',
      next: 'accede destroy',
    });
  }
  refusals.push(...beginningRefusals(inputs, assessment));
  return { resources, refusals, warnings: [...[...resources.values()].flatMap(rivalWarnings), ...beginningWarnings(inputs, assessment)] };
}

/** What a create-first object needs must be there beside its predecessor, so it is replaced create-first as well: by which address each is asked to. */
function handDownOrder(resources: Map<ResourceAddress, Assessed>, assessment: Assessment): ReadonlyMap<ResourceAddress, ResourceAddress> {
  const handedDown = new Map<ResourceAddress, ResourceAddress>();
  for (const assessed of [...resources.values()].reverse()) {
    if (assessed.decision.action !== 'replace' || assessed.decision.order !== 'create-first') continue;
    for (const needed of assessment.graph.closure([assessed.address], 'needs') as readonly ResourceAddress[]) {
      const other = resources.get(needed);
      if (other?.decision.action !== 'replace' || other.decision.order === 'create-first') continue;
      resources.set(needed, { ...other, decision: { ...other.decision, order: 'create-first' } });
      handedDown.set(needed, assessed.address);
    }
  }
  return handedDown;
}

/** `destroy --keep-protected`: what is protected stays, and so does all that it needs. */
function keepProtected(resources: Map<ResourceAddress, Assessed>): void {
  const kept = new Set<ResourceAddress>();
  const keep = (address: ResourceAddress) => {
    const assessed = resources.get(address);
    if (assessed === undefined || kept.has(address)) return;
    kept.add(address);
    const decision = { ...assessed.decision, action: 'noop' as const, reason: 'kept', paths: [], cause: null };
    if (assessed.decision.action === 'delete') resources.set(address, { ...assessed, decision });
    for (const needed of assessed.recorded?.row.dependencies ?? []) keep(needed);
  };
  for (const assessed of Array.from(resources.values())) if (assessed.recorded?.row.protected === true) keep(assessed.address);
}

function ownRefusal(assessed: Assessed): Refusal | undefined {
  const { refusal } = assessed.decision;
  if (refusal === undefined) return undefined;
  return {
    code: refusal.code,
    path: assessed.address,
    message: refusal.message,
    ...(refusal.next === undefined ? {} : { next: refusal.next }),
    ...sourceOf(assessed),
  };
}

/** Protection is that of the record: who drops it and removes the object in one commit is refused. */
function protectionRefusal(inputs: PlanInputs, assessed: Assessed): Refusal | undefined {
  const removes = assessed.decision.action === 'delete' || assessed.decision.action === 'replace';
  // What is taken over has no record yet: the documents alone say whether it is protected.
  const isHeld = assessed.recorded === undefined ? assessed.protected : assessed.recorded.row.protected;
  if (!removes || !isHeld) return undefined;
  if (inputs.options.destroy && inputs.options.includeProtected) return undefined;
  const dropped = assessed.instance !== undefined && !assessed.protected;
  return {
    code: 'PROTECTED',
    path: assessed.address,
    message: `It is protected and would ${wouldDo(assessed)}. ${wayOut(inputs, assessed, dropped)}`,
    ...(inputs.options.destroy ? { next: 'accede destroy --keep-protected' } : {}),
    ...sourceOf(assessed),
  };
}

function hindranceRefusal(inputs: PlanInputs, assessed: Assessed, gone: ReadonlySet<string>): Refusal | undefined {
  const found = hindrance(inputs.environment, assessed, gone);
  return found === undefined ? undefined : { path: assessed.address, ...found, ...sourceOf(assessed) };
}

function wayOut(inputs: PlanInputs, assessed: Assessed, dropped: boolean): string {
  if (inputs.options.destroy)
    return '--keep-protected leaves it and removes the rest; --include-protected removes it with all that it holds.';
  if (dropped) return 'Protection is kept with the object: apply the change that takes it away first, then this one.';
  if (assessed.recorded === undefined)
    return 'Describe it as it is, so that it is taken over without a replacement, and change it with the next plan; or set lifecycle.prevent_destroy: false to lose it.';
  const then = assessed.decision.action === 'replace' ? 'and replace it with the next plan' : 'and remove it with the next commit';
  return `To let it go, set lifecycle.prevent_destroy: false, apply that, ${then}.`;
}

function wouldDo(assessed: Assessed): string {
  return assessed.decision.action === 'replace' ? `be replaced: ${assessed.decision.reason}` : 'be deleted';
}

function block(resources: Map<ResourceAddress, Assessed>, assessed: Assessed, reason: string): void {
  resources.set(assessed.address, { ...assessed, decision: { ...assessed.decision, action: 'refuse', reason } });
}

/** Preconditions that are known to be false now. What is still unknown is tested again before the resource's first effect. */
function failedConditions(inputs: PlanInputs, assessment: Assessment, assessed: Assessed): readonly Refusal[] {
  if (inputs.options.destroy || assessed.instance === undefined || !assessment.selected.has(assessed.address)) return [];
  return assessed.instance.lifecycle.preconditions.flatMap((condition): readonly Refusal[] => {
    const outcome = condition.that.evaluate(assessment.lookup);
    if (outcome.ok && (outcome.value === true || outcome.value instanceof Unknown)) return [];
    const why = outcome.ok ? condition.message : (outcome.diagnostics[0]?.detail ?? condition.message);
    return [{ code: 'PRECONDITION_FAILED', path: assessed.address, message: why, expected: condition.that.text, ...sourceOf(assessed) }];
  });
}

function sourceOf(assessed: Assessed): Pick<Refusal, 'source'> {
  return assessed.instance === undefined ? {} : { source: assessed.instance.source };
}
