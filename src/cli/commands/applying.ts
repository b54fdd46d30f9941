import { relative } from 'node:path';
import { admitPlan } from '../../apply/admission.ts';
import { applyPlan } from '../../apply/apply.ts';
import type { ApplyRequest } from '../../apply/engine.ts';
import type { AccedeEvent, ApplyResult } from '../../apply/events.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { PlanDocument } from '../../plan/model.ts';
import { noWayBack } from '../../plan/succession/open-facts.ts';
import { BackendError } from '../../state/contract.ts';
import type { ApplyingArguments } from '../arguments/apply.ts';
import { actorOf, type Workspace } from '../compose.ts';
import { EXIT, type ExitCode, toExitCode } from '../exit.ts';
import type { Shell } from '../shell.ts';
import { renderDiagnostics } from '../views/diagnostics.ts';
import { count } from '../views/layout.ts';
import { progressLines } from '../views/progress.ts';
import { renderResult } from '../views/result.ts';

/** What forbids a plan from being applied before the engine is asked: what the operator expected, and what the plan says of itself. */
export function objection(
  plan: PlanDocument,
  args: ApplyingArguments,
): { readonly code: ExitCode; readonly diagnostic: Diagnostic } | undefined {
  const expectation = (code: ExitCode, name: string, expected: string, observed: string) => ({
    code,
    diagnostic: {
      severity: 'error' as const,
      code: `${name.toUpperCase()}_UNEXPECTED`,
      summary: `The plan has another ${name} than expected`,
      detail: `--expect-${name} names another ${name} than the plan has. Nothing was changed.`,
      expected,
      observed,
    },
  });
  if (args.expectDigest !== undefined && args.expectDigest !== plan.digest) {
    return expectation(EXIT.stale, 'digest', args.expectDigest, plan.digest);
  }
  const { commit } = plan.inputs;
  if (args.expectCommit !== undefined && (commit === null || commit.endsWith('-dirty') || !commit.startsWith(args.expectCommit))) {
    return expectation(EXIT.stale, 'commit', args.expectCommit, commit ?? 'none');
  }
  if (plan.succession.class === 'refuse') {
    return { code: EXIT.refused, diagnostic: refused(plan) };
  }
  if (args.expectClass !== undefined && args.expectClass !== plan.succession.class) {
    return expectation(EXIT.refused, 'class', args.expectClass, plan.succession.class);
  }
  if (plan.applicable) return unconfirmed(plan, args);
  return {
    code: EXIT.refused,
    diagnostic: {
      severity: 'error',
      code: 'PLAN_NOT_APPLICABLE',
      summary: 'The plan is not applicable',
      detail: plan.inputs.options.skipSecrets
        ? 'The plan was made without reading secrets (--secrets=skip), so it is for looking only. Nothing was changed.'
        : `The plan says of itself that it can not be applied: ${plan.warnings.map((warning) => warning.message).join(' ') || 'see its refusals'}. Nothing was changed.`,
    },
  };
}

/** A replacement is confirmed by its name; without anybody to type it that has to be said beforehand. */
function unconfirmed(plan: PlanDocument, args: ApplyingArguments): ReturnType<typeof objection> {
  if (!isReplacement(plan) || args.expectClass !== undefined || !args.autoApprove) return undefined;
  const paths = plan.succession.changedPaths.filter(({ facet }) => facet === 'identity').map(({ path }) => path);
  return {
    code: EXIT.refused,
    diagnostic: {
      severity: 'error',
      code: 'REPLACEMENT_UNCONFIRMED',
      summary: 'A replacement has to be named',
      detail: `Something would become another one: ${paths.join(', ')}. --auto-approve does not say that this is meant. Nothing was changed.`,
      expected: '--expect-class replacement',
    },
  };
}

/** Whether whoever applies the plan has to say its class. */
export function isReplacement(plan: PlanDocument): boolean {
  return plan.succession.class === 'replacement' || plan.succession.then === 'replacement';
}

function refused(plan: PlanDocument): Diagnostic {
  const { refusals } = plan.succession;
  const [first] = refusals;
  const more = refusals.length > 1 ? ` ${count(refusals.length - 1, 'more refusal')} in the plan.` : '';
  return {
    severity: 'error',
    code: first?.code ?? 'PLAN_REFUSED',
    summary: 'The plan is refused',
    detail: `${first === undefined ? plan.succession.rule : first.message}${more} Nothing was changed.`,
    ...(first === undefined ? {} : { address: first.path }),
    ...(first?.expected === undefined ? {} : { expected: first.expected }),
    ...(first?.observed === undefined ? {} : { observed: first.observed }),
    ...(first?.next === undefined ? {} : { next: first.next }),
    ...(first?.source === undefined ? {} : { source: first.source }),
  };
}

/** How a plan is applied, beside what the command line says. */
export type Applied = Pick<ApplyRequest, 'approvals' | 'rollbackTo' | 'isRecovery'>;

/** What the policy in force has against a plan, for who would be asked in vain. The engine asks it again, under the lock. */
export async function notAdmitted(
  { context }: Workspace,
  plan: PlanDocument,
  { breakFreeze }: Pick<ApplyingArguments, 'breakFreeze'>,
  how: Applied,
): Promise<readonly Diagnostic[]> {
  try {
    const { refusals, notes } = await admitPlan(context, await context.store.read(), { plan, breakFreeze, ...how });
    return refusals.length === 0 ? [] : [...refusals, ...notes];
  } catch (error) {
    // The engine comes to it as well, and says it with its own exit code.
    if (!(error instanceof BackendError)) throw error;
    return [];
  }
}

/** What apply would have against a plan as things are now, as warnings beside the plan: it may be approved, and holds and windows end. */
export async function policyNotes(workspace: Workspace, plan: PlanDocument): Promise<readonly Diagnostic[]> {
  const refusals = await notAdmitted(workspace, plan, { breakFreeze: false }, {});
  return refusals.map((refusal) => ({ ...refusal, severity: 'warning', detail: refusal.detail.replace(' Nothing was changed.', '') }));
}

/** Hands the plan to the engine and shows what it does: NDJSON, a live view on a terminal, plain lines elsewhere. */
export async function carryOut(
  shell: Shell,
  workspace: Workspace,
  plan: PlanDocument,
  args: ApplyingArguments,
  how: Applied,
): Promise<ExitCode> {
  const { output } = shell;
  const { rollbackTo } = how;
  shell.interrupts.beginApply();
  const progress = await progressView(shell);
  let result: ApplyResult;
  try {
    result = await applyPlan(workspace.context, {
      plan,
      stamp: workspace.stamp,
      actor: actorOf(shell),
      reason: args.reason,
      lockTimeout: args.lockTimeout,
      ifDone: args.ifDone,
      ...how,
      breakFreeze: args.breakFreeze,
      stop: shell.interrupts.stop,
      emit: heeding(shell, progress.receive),
    });
  } finally {
    await progress.end();
  }
  if (!output.json) {
    const clean = output.clean(result);
    const isTold = clean.outcome === 'spent' && clean.exitCode === EXIT.done;
    if (clean.diagnostics.length > 0 && !isTold) output.say(renderDiagnostics(clean.diagnostics, output.conversation));
    const verb = rollbackTo !== undefined ? `rollback --to ${rollbackTo}` : plan.inputs.options.destroy ? 'destroy' : 'apply';
    const folder = relative(shell.folder, workspace.environment.folder);
    const operand = folder === '' ? '' : ` ${folder}`;
    const back = (await canGoBack(workspace, result)) ? `accede recover --back${operand}` : undefined;
    output.print(renderResult(clean, output.answer, `accede ${verb}${operand}`, back));
  }
  return toExitCode(result.exitCode);
}

/** Whether the run left an operation open that its journal can take back. Nobody is told of a way that can't be asked for. */
async function canGoBack({ context }: Workspace, { exitCode }: ApplyResult): Promise<boolean> {
  if (exitCode !== EXIT.open && exitCode !== EXIT.interrupted) return false;
  try {
    const open = (await context.store.read())?.open ?? null;
    return open !== null && noWayBack(open.steps) === undefined;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return false;
  }
}

/** Passes events on, and has interruptions know when the way back begins. */
export function heeding(shell: Shell, receive: (event: AccedeEvent) => void): (event: AccedeEvent) => void {
  return (event) => {
    if (event.type === 'compensation.started') shell.interrupts.beginWayBack();
    receive(event);
  };
}

/** Shows the events of a run: NDJSON, a live view on a terminal, plain lines elsewhere. */
export async function progressView(
  shell: Shell,
): Promise<{ readonly receive: (event: AccedeEvent) => void; readonly end: () => Promise<void> }> {
  const { output } = shell;
  const nothing = async () => undefined;
  if (output.json) return { receive: (event) => output.document(event), end: nothing };
  const style = output.conversation;
  if (!style.interactive) return { receive: (event) => output.say(progressLines(output.clean(event), style).join('\n')), end: nothing };
  const { startLiveView } = await import('../views/live.tsx');
  const view = startLiveView({ stream: shell.stderr, style, clock: shell.clock });
  return { receive: (event) => view.receive(output.clean(event)), end: view.end };
}
