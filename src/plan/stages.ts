import type { ResourceAddress } from '../core/address.ts';
import { STAGES, type Stage } from '../core/facet.ts';
import { Graph } from '../core/graph.ts';
import type { Assessed } from './assess.ts';
import type { PlannedStep, Refusal } from './model.ts';
import { roleOf } from './role.ts';

/** All steps of a phase are done before any of the next begins. A phase is a stage by its place in the order of stages. */
export function phaseOf(stage: Stage): number {
  return STAGES.indexOf(stage);
}

/** Stages in which nothing that serves is touched yet. */
export function isBeforeEffects(stage: Stage): boolean {
  return phaseOf(stage) <= phaseOf('backup');
}

/** Stages after which nothing is taken back: what was activated is final, or what was there before is gone. */
export function isFinal(stage: Stage): boolean {
  return stage === 'commit' || stage === 'retire';
}

/** The stage that a step has by itself, whatever needs it. */
export function ownStage(step: Pick<PlannedStep, 'stage' | 'pulled'>): Stage {
  return step.pulled?.from ?? step.stage;
}

/**
 * Gives every step its stage: its own, or that of the earliest step which waits for it, directly or through others. Edges only pull forward.
 * Takes steps without circles, staged before or not; inside a stage the order of the graph holds.
 */
export function stageSteps(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const stages = new Map<string, Stage>(steps.map((step) => [step.id, ownStage(step)]));
  const pulledBy = new Map<string, PlannedStep>();
  for (const id of orderOf(steps).toReversed()) {
    const step = byId.get(id);
    const stage = stages.get(id);
    if (step === undefined || stage === undefined) continue;
    for (const before of step.after) {
      const other = stages.get(before);
      if (other === undefined || phaseOf(other) <= phaseOf(stage)) continue;
      stages.set(before, stage);
      const isOfSame = byId.get(before)?.address === step.address;
      pulledBy.set(before, (isOfSame ? pulledBy.get(id) : undefined) ?? step);
    }
  }
  return steps.map(({ pulled: _former, ...step }) => {
    const from = ownStage({ ...step, ...(_former === undefined ? {} : { pulled: _former }) });
    const stage = stages.get(step.id) ?? from;
    const by = pulledBy.get(step.id);
    const pulled = stage === from || by === undefined ? {} : { pulled: { from, by: by.id } };
    return { ...step, stage, phase: phaseOf(stage), ...pulled };
  });
}

function orderOf(steps: readonly PlannedStep[]): readonly string[] {
  const graph = new Graph();
  for (const step of steps) {
    graph.addNode(step.id);
    for (const before of step.after) graph.addEdge(step.id, before);
  }
  const order = graph.order();
  if ('cycle' in order) throw new Error(`steps wait for one another in a circle: ${order.cycle.join(' → ')}`);
  return order.order;
}

/** Roles of what serves somebody once it is there, as opposed to what others stand on. */
const SERVING: ReadonlySet<string> = new Set(['service', 'worker', 'frontend', 'ingress']);

/**
 * Pulls that may not be: a stage that the documents name and that cannot be kept; something that serves and would go down before preflight has
 * proven everything; something that serves and would come before a point of no return that its stage lies behind.
 */
export function pullRefusals(
  steps: readonly PlannedStep[],
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  partOf: (step: PlannedStep) => string | undefined,
): readonly Refusal[] {
  const barriers = steps.filter((step) => step.direction === 'forward' && step.stage !== 'retire');
  const refused = new Map<string, Refusal>();
  for (const step of steps) {
    const { pulled, address } = step;
    const assessed = resources.get(address);
    if (pulled === undefined || assessed === undefined || refused.has(address)) continue;
    const found = pullRefusal(step, assessed, partOf(step), barriers);
    const { instance } = assessed;
    const source = instance === undefined ? {} : { source: instance.source };
    if (found !== undefined) {
      refused.set(address, { path: address, expected: pulled.from, observed: `${step.stage}, before ${pulled.by}`, ...found, ...source });
    }
  }
  return [...refused.values()];
}

function pullRefusal(
  step: PlannedStep,
  assessed: Assessed,
  part: string | undefined,
  barriers: readonly PlannedStep[],
): Pick<Refusal, 'code' | 'message'> | undefined {
  const { pulled } = step;
  if (pulled === undefined) return undefined;
  const { type } = assessed;
  const serves = SERVING.has(roleOf(assessed));
  const edge = `${step.id} → ${pulled.by}`;
  if (part === 'remove' && serves && step.stage === 'preflight') {
    const message = `${pulled.by} belongs to preflight and waits for ${step.id}, so something that serves would go down before the whole candidate is proven (${edge}). Take that dependency away.`;
    return { code: 'STAGE_PULL_REFUSED', message };
  }
  if (part !== 'apply') return undefined;
  if (pulled.from !== type.stage && !isFinal(pulled.from)) {
    const message = `It is to run in the stage ${pulled.from}, but ${pulled.by} waits for it and belongs to the stage ${step.stage} (${edge}). Take the stage or that dependency away.`;
    return { code: 'STAGE_NOT_KEPT', message };
  }
  const barrier = serves ? barriers.find((other) => isPulledOver(step, other, pulled.from)) : undefined;
  if (barrier === undefined) return undefined;
  const message = `Its stage is ${pulled.from}, behind the point of no return ${barrier.id}; ${pulled.by} waits for it in the stage ${step.stage}, so it would serve before that is crossed (${edge}). Take that dependency away, or split the change over two commits.`;
  return { code: 'STAGE_PULL_REFUSED', message };
}

/** Whether a step would come before one that cannot be taken back, though its own stage is later. */
function isPulledOver(step: PlannedStep, barrier: PlannedStep, from: Stage): boolean {
  if (barrier.address === step.address || phaseOf(ownStage(barrier)) >= phaseOf(from)) return false;
  return (
    phaseOf(step.stage) < phaseOf(barrier.stage) ||
    (step.stage === barrier.stage && step.pulled?.by.startsWith(`${barrier.address}:`) === true)
  );
}
