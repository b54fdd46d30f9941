import { digestOf } from '../core/canonical.ts';
import type { Plain } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Hold } from '../state/model.ts';

/** A source as a hold names it: the documents, and the values of their variables. */
export interface HeldSource {
  readonly source: string;
  readonly variables: string | null;
}

/** The source of a plan. */
export function sourceOf({ inputs }: Pick<PlanDocument, 'inputs'>): HeldSource {
  return { source: inputs.sourceDigest, variables: digestOf(inputs.variables) };
}

/** The source as an operation keeps it, so that a later one can hold it. */
export function storedSource(source: HeldSource): Plain {
  return { source: source.source, variables: source.variables };
}

/** The source that an operation kept; undefined for one that kept none. */
export function keptSource(summary: Plain): HeldSource | undefined {
  const of = typeof summary === 'object' && summary !== null && 'of' in summary ? summary['of'] : undefined;
  if (typeof of !== 'object' || of === null || !('source' in of) || typeof of['source'] !== 'string') return undefined;
  const variables = 'variables' in of ? of['variables'] : undefined;
  return { source: of['source'], variables: typeof variables === 'string' ? variables : null };
}

/** Holds that have not ended by themselves. */
export function standingHolds(holds: readonly Hold[], now: number): readonly Hold[] {
  return holds.filter(({ until }) => until === null || now < Date.parse(until));
}

/** Whether a hold is on a source. */
export function isHeldBy(hold: Hold, { source, variables }: HeldSource): boolean {
  return (
    hold.source === null || (hold.source === source && (hold.variables === null || variables === null || hold.variables === variables))
  );
}

/** What keeps a plan off. Who destroys brings no source in force, so that only a hold on everything keeps him off. */
export function holdsOn(plan: PlanDocument, holds: readonly Hold[], now: number): readonly Hold[] {
  const source = sourceOf(plan);
  return standingHolds(holds, now).filter((hold) => (plan.inputs.options.destroy ? hold.source === null : isHeldBy(hold, source)));
}
