import { resolve } from 'node:path';
import { preparePlan } from '../../apply/prepare.ts';
import { canonicalText } from '../../core/canonical.ts';
import type { Diagnostic, Outcome } from '../../core/diagnostic.ts';
import type { PlanDocument } from '../../plan/model.ts';
import type { PlanFormat, PlanningArguments } from '../arguments/plan.ts';
import type { Workspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planText, writePrivateFile } from '../planfiles.ts';
import type { Shell } from '../shell.ts';
import { planWithDurations } from '../views/durations.ts';
import { isEmptyPlan, renderPlan } from '../views/plan.ts';
import { type Style, styleFor } from '../views/terminal.ts';

/** Makes the plan document of an environment. Its warnings stand in the document. */
export async function makePlan(workspace: Workspace, args: PlanningArguments): Promise<Outcome<PlanDocument>> {
  const prepared = await preparePlan(workspace.context, args.options, workspace.stamp);
  return prepared.ok ? { ok: true, value: prepared.value.document, diagnostics: prepared.diagnostics } : prepared;
}

/** Which mode the secrets are read in for a plan. */
export function secretsMode(args: PlanningArguments): 'read' | 'skip' {
  return args.options.skipSecrets ? 'skip' : 'read';
}

/** The exit code of a plan that was only looked at. */
export function planExitCode(plan: PlanDocument, detailed: boolean): ExitCode {
  if (plan.succession.class === 'refuse') return EXIT.refused;
  return detailed && !isEmptyPlan(plan) ? EXIT.changes : EXIT.done;
}

/** Prints the plan on stdout, in the format that was asked for. */
export function printPlan(shell: Shell, plan: PlanDocument, format: PlanFormat, next?: string): void {
  switch (format) {
    case 'json':
      shell.output.document(plan);
      if (canonicalText(shell.output.clean(plan)) !== canonicalText(plan)) shell.output.warn([maskedPlan()]);
      return;
    case 'text':
      shell.output.print(planForPeople(shell, plan, shell.output.answer, next));
      return;
  }
  format satisfies never;
}

/** The plan as text, without secrets, times as documents write them. */
export function planForPeople(shell: Shell, plan: PlanDocument, style: Style, next?: string): string {
  return renderPlan(planWithDurations(shell.output.clean(plan), shell.registry), style, next === undefined ? {} : { next });
}

/** Short secrets can stand in a plan by chance. Masked, its digest does not hold any more, so it is for reading alone. */
function maskedPlan(): Diagnostic {
  return {
    severity: 'warning',
    code: 'PLAN_MASKED',
    summary: 'The plan on stdout can not be applied',
    detail: 'Some text in it equals a secret and was masked, so its digest does not hold. Save it with --out to apply it.',
    next: 'accede plan --out plan.json',
  };
}

/** Saves the plan to a file, readable by its owner alone. The bytes of a JSON plan are exact: its digest has to hold. */
export async function savePlan(shell: Shell, plan: PlanDocument, format: PlanFormat, file: string): Promise<readonly Diagnostic[]> {
  const plainStyle = styleFor({ write: () => true }, {}, { color: false });
  const text = format === 'json' ? planText(plan) : planForPeople(shell, plan, plainStyle);
  return await writePrivateFile(resolve(shell.folder, file), text, shell.ids);
}
