import { parsePlanArguments } from '../arguments/plan.ts';
import { openWorkspace } from '../compose.ts';
import type { ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { isEmptyPlan } from '../views/plan.ts';
import { policyNotes } from './applying.ts';
import { failWith } from './failing.ts';
import { makePlan, planExitCode, printPlan, savePlan, secretsMode } from './planning.ts';

/** `plan`: looks, says what would change, and saves it where asked. Takes no lock and changes nothing. */
export async function runPlan(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parsePlanArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const args = parsed.value;
  const opened = await openWorkspace(shell, args, { secrets: secretsMode(args), parallelism: args.parallelism });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    const made = await makePlan(opened.value, args);
    if (!made.ok) return failWith(shell, [...opened.diagnostics, ...made.diagnostics]);
    const plan = made.value;
    if (opened.diagnostics.length > 0) shell.output.warn(opened.diagnostics);
    if (!args.classOnly && plan.applicable && !isEmptyPlan(plan)) shell.output.warn(await policyNotes(opened.value, plan));
    const files = args.formats.flatMap(({ format, file }) => (file === undefined ? [] : [{ format, file }]));
    if (args.out !== undefined) files.unshift({ format: 'json', file: args.out });
    for (const { format, file } of files) {
      const problems = await savePlan(shell, plan, format, file);
      if (problems.length > 0) return failWith(shell, problems);
    }
    if (args.classOnly) {
      if (shell.output.json) shell.output.document({ format: 'accede.class/v1', class: plan.succession.class, digest: plan.digest });
      else shell.output.print(plan.succession.class);
    } else {
      const next = args.out === undefined || isEmptyPlan(plan) || !plan.applicable ? undefined : `accede apply ${args.out}`;
      for (const { format, file } of args.formats) if (file === undefined) printPlan(shell, plan, format, next);
    }
    return planExitCode(plan, args.detailedExitcode);
  } finally {
    await opened.value.close();
  }
}
