import { ENVIRONMENT } from '../../core/address.ts';
import type { PlanDocument, PlannedStep } from '../../plan/model.ts';
import { oneLine } from './layout.ts';
import type { Style } from './terminal.ts';

/** The stages of a plan in their order, what the environment itself does in them, and what runs in an earlier stage than its own. */
export function procedureLines(plan: PlanDocument, { color }: Style): readonly string[] {
  const { stages } = plan.succession;
  if (stages.length === 0) return [];
  const own = plan.steps.filter(({ address }) => address === ENVIRONMENT).toSorted((a, b) => a.phase - b.phase);
  const pulled = new Map<string, PlannedStep>();
  for (const step of plan.steps) if (step.pulled !== undefined && !pulled.has(step.address)) pulled.set(step.address, step);
  return [
    `${color.bold('Stages')}  ${stages.join(' → ')}`,
    ...stages.flatMap((stage) => {
      const effects = own.filter((step) => step.stage === stage).map(({ effect }) => effect);
      return effects.length === 0 ? [] : [`  ${color.dim(stage)}  ${effects.join(', ')}`];
    }),
    ...[...pulled.values()].map(({ address, stage, pulled: from }) => {
      const by = from?.by.slice(0, from.by.lastIndexOf(':')) ?? '';
      return `  ${color.dim('early')}  ${oneLine(address)} in ${stage}, not ${from?.from ?? ''}: ${oneLine(by)} needs it`;
    }),
  ];
}
