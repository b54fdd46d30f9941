import type { Snapshot, StepRow } from '../../state/model.ts';
import type { PlanInputs } from '../inputs.ts';
import type { OpenOperation } from './open-operation.ts';

/** The step that cannot be taken back, or undefined when everything that was begun can. */
export function noWayBack(steps: readonly StepRow[]): StepRow | undefined {
  return steps.find(
    (step) => step.status !== 'compensated' && (step.direction === 'forward' || step.stage === 'commit' || step.stage === 'retire'),
  );
}

/**
 * The operation that the plan has to end before anything else: one that has not ended and that nobody carries out. Undefined where there is
 * none, where it does not say what it puts in force, and for what ends or leaves it on purpose: `destroy`, a refresh, a plan for a part, and
 * `recover`.
 */
export function openOperation({ snapshot, options }: Pick<PlanInputs, 'snapshot' | 'options'>): OpenOperation | undefined {
  const open = snapshot?.open ?? null;
  if (snapshot === undefined || open === null || snapshot.lock !== null) return undefined;
  const isPart = options.targets.length > 0 || options.excludes.length > 0;
  if (options.destroy || options.refreshOnly || options.recover || isPart) return undefined;
  return factsOf(open);
}

function factsOf({ operation, steps }: NonNullable<Snapshot['open']>): OpenOperation | undefined {
  const source = sourceOf(operation.summary);
  if (operation.kind !== 'apply' && operation.kind !== 'rollback' && operation.kind !== 'destroy') return undefined;
  if (source === undefined) return undefined;
  const barrier = noWayBack(steps);
  return {
    id: operation.id,
    kind: operation.kind,
    class: operation.class,
    // What it takes down is no document that could be desired.
    sourceDigest: operation.kind === 'destroy' ? null : source,
    crossed: barrier !== undefined,
    compensable: barrier === undefined,
    catalog: null,
    claims: false,
  };
}

/** What an operation notes of the documents that it puts in force. */
function sourceOf(summary: unknown): string | undefined {
  if (typeof summary !== 'object' || summary === null || !('source' in summary)) return undefined;
  return typeof summary.source === 'string' ? summary.source : undefined;
}
