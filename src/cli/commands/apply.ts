import { resolve } from 'node:path';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import type { PlanDocument } from '../../plan/model.ts';
import { approvalsFor } from '../approvals-file.ts';
import { type ApplyArguments, type ApplyingArguments, parseApplyArguments } from '../arguments/apply.ts';
import { conflict, type PlanningArguments } from '../arguments/plan.ts';
import { usageError } from '../arguments/values.ts';
import { openWorkspace, type Workspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { kindOf } from '../paths.ts';
import { plannedVariables, readPlanFile, recordedFolder } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { hasNothingToRecord } from '../views/plan.ts';
import { carryOut, isReplacement, notAdmitted, objection } from './applying.ts';
import { askApproval, askClass, askName } from './approval.ts';
import { failWith } from './failing.ts';
import { makePlan, planForPeople, secretsMode } from './planning.ts';

/** `apply`: with a saved plan exactly it, without one plan, show, ask. */
export async function runApply(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseApplyArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const args = parsed.value;
  const target = settleTarget(args, shell.folder);
  if (!target.ok) return failWith(shell, target.diagnostics);
  if (target.value.plan === undefined) return await planAndApply(shell, { ...args.planning, folder: target.value.folder ?? '.' }, args);
  return await applySaved(shell, target.value.plan, target.value.folder, args);
}

/** Which of the operands is a plan and which the folder. */
function settleTarget(
  args: ApplyArguments,
  folder: string,
): Outcome<{ readonly plan: string | undefined; readonly folder: string | undefined }> {
  const [first, second] = args.operands;
  if (first === undefined) return succeed({ plan: undefined, folder: undefined });
  const kind = kindOf(resolve(folder, first));
  if (second === undefined && kind === 'folder') return succeed({ plan: undefined, folder: first });
  if (kind !== 'file') {
    return fail(
      usageError(
        'NO_SUCH_FILE',
        'There is neither a plan nor a folder of that name',
        second === undefined ? `${first} does not exist.` : `${first} is no plan file.`,
        { expected: 'a plan that accede plan --out wrote, or the folder of an environment' },
      ),
    );
  }
  const written = [
    ...args.planningFlags,
    ...(args.planning.variables.length > 0 ? ['--var'] : []),
    ...(args.planning.variableFiles.length > 0 ? ['--var-file'] : []),
  ];
  if (written.length > 0) return fail(...written.map((flag): Diagnostic => conflict(flag, 'a saved plan')));
  return succeed({ plan: first, folder: second });
}

async function applySaved(shell: Shell, file: string, folder: string | undefined, args: ApplyArguments): Promise<ExitCode> {
  const path = resolve(shell.folder, file);
  const read = await readPlanFile(path);
  if (!read.ok) return failWith(shell, read.diagnostics);
  const plan = read.value;
  const approvals = await approvalsFor(shell.folder, args.approvals, path);
  if (!approvals.ok) return failWith(shell, approvals.diagnostics);
  // A saved plan is applied without a question, so that nobody can type its class.
  const refusal = objection(plan, { ...args, autoApprove: true });
  if (refusal !== undefined) {
    shell.output.report([refusal.diagnostic]);
    return refusal.code;
  }
  const opened = await openWorkspace(
    shell,
    { folder: folder ?? recordedFolder(plan, path, shell.folder), variables: plannedVariables(plan), variableFiles: [] },
    { secrets: 'read', parallelism: args.planning.parallelism },
  );
  if (!opened.ok) {
    const moved = opened.diagnostics.filter(({ code }) => code === 'UNKNOWN_VARIABLE' || code === 'MISSING_VARIABLE');
    if (moved.length < opened.diagnostics.length) return failWith(shell, opened.diagnostics);
    shell.output.report([otherVariables(moved)]);
    return EXIT.stale;
  }
  return await using(opened.value, () => carryOut(shell, opened.value, plan, args, { approvals: approvals.value }));
}

/** The plan gives every variable that it knew, so what is missing or unknown came or went with the documents. */
function otherVariables(moved: readonly Diagnostic[]): Diagnostic {
  return {
    severity: 'error',
    code: 'PLAN_STALE',
    summary: 'The plan is stale',
    detail: `Since it was made, the documents changed: ${moved.map(({ detail }) => detail).join(' ')} Nothing was changed. Plan again and look at the difference.`,
    next: 'accede plan',
  };
}

/** Plans, shows the plan, has it approved and carries it out. What `destroy` does too. */
export async function planAndApply(
  shell: Shell,
  planning: PlanningArguments,
  args: ApplyingArguments,
  way?: { readonly isRecovery: boolean },
): Promise<ExitCode> {
  const opened = await openWorkspace(shell, planning, { secrets: secretsMode(planning), parallelism: planning.parallelism });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  return await planAndApplyIn(shell, opened, planning, args, way);
}

/** How an earlier environment is brought back. */
export interface Rollback {
  readonly to: number;
  /** What is said of it above the plan. */
  readonly heading: string;
  /** Whether it is put in force although nothing has to be done for it. */
  readonly isAnother: boolean;
}

/** The same with an environment that is open already, and is closed at the end. */
export async function planAndApplyIn(
  shell: Shell,
  opened: Extract<Outcome<Workspace>, { readonly ok: true }>,
  planning: PlanningArguments,
  args: ApplyingArguments,
  { rollback, isRecovery }: { readonly rollback?: Rollback; readonly isRecovery?: boolean } = {},
): Promise<ExitCode> {
  const { output } = shell;
  return await using(opened.value, async () => {
    const approvals = await approvalsFor(shell.folder, args.approvals, undefined);
    if (!approvals.ok) return failWith(shell, approvals.diagnostics);
    const made = await makePlan(opened.value, planning);
    if (!made.ok) return failWith(shell, [...opened.diagnostics, ...made.diagnostics]);
    const plan = made.value;
    output.warn(opened.diagnostics);
    // In JSON mode stdout belongs to the events; whoever has to answer still sees what he is asked about.
    const heading = rollback === undefined ? '' : `${rollback.heading}\n\n`;
    if (!output.json) output.print(`${heading}${planForPeople(shell, plan, output.answer)}`);
    else if (!args.autoApprove) output.say(`${heading}${planForPeople(shell, plan, output.conversation)}`);
    const refusal = objection(plan, args);
    if (refusal !== undefined) {
      output.report([refusal.diagnostic]);
      return refusal.code;
    }
    if (hasNothingToRecord(plan) && rollback?.isAnother !== true) {
      if (output.json) output.document(nothingToDo(shell, plan));
      return EXIT.done;
    }
    const how = {
      approvals: approvals.value,
      ...(rollback === undefined ? {} : { rollbackTo: rollback.to }),
      isRecovery: isRecovery === true,
    };
    const refusals = await notAdmitted(opened.value, plan, args, how);
    if (refusals.length > 0) {
      output.report(refusals);
      return EXIT.refused;
    }
    const signal = shell.interrupts.reads;
    if (planning.options.includeProtected) {
      const answer = await askName(shell, plan, signal);
      if (answer.kind === 'no') return failWith(shell, [answer.diagnostic]);
    } else if (!args.autoApprove) {
      const answer =
        isReplacement(plan) && args.expectClass === undefined && shell.stdin.isTTY === true
          ? await askClass(shell, plan, signal)
          : await askApproval(shell, signal, { isSaveable: rollback === undefined && isRecovery !== true });
      if (answer.kind === 'no') return failWith(shell, [answer.diagnostic]);
    }
    return await carryOut(shell, opened.value, plan, args, how);
  });
}

/** The only event of an apply that finds nothing to do: it takes no lock and begins no operation. */
function nothingToDo(shell: Shell, plan: PlanDocument) {
  return {
    format: 'accede.event/v1',
    type: 'operation.done',
    time: new Date(shell.clock.now()).toISOString(),
    sequence: 1,
    operation: null,
    result: {
      exitCode: EXIT.done,
      outcome: 'done',
      plan: plan.digest,
      class: plan.succession.class,
      serial: plan.state.serial,
      steps: { done: [], notDone: [], unknown: [] },
      seconds: 0,
      outputs: {},
      diagnostics: [],
    },
  };
}

async function using<T>(workspace: Workspace, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } finally {
    await workspace.close();
  }
}
