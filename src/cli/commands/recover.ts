import { relative } from 'node:path';
import { diagnoseBackend } from '../../apply/failure.ts';
import { goalOf } from '../../apply/past.ts';
import { recoverBack } from '../../apply/recover.ts';
import type { Outcome } from '../../core/diagnostic.ts';
import { BackendError } from '../../state/contract.ts';
import type { Snapshot } from '../../state/model.ts';
import { parseRecoverArguments, type RecoverArguments } from '../arguments/apply.ts';
import { actorOf, openWorkspace } from '../compose.ts';
import { EXIT, type ExitCode, toExitCode } from '../exit.ts';
import { openLocated } from '../past-workspace.ts';
import type { RecordedWorkspace } from '../recorded-workspace.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderDiagnostics } from '../views/diagnostics.ts';
import { duration } from '../views/layout.ts';
import { renderResult } from '../views/result.ts';
import { planAndApply } from './apply.ts';
import { heeding, progressView } from './applying.ts';
import { askApproval } from './approval.ts';
import { failWith } from './failing.ts';
import { rollBack } from './rollback.ts';

/** `recover`: ends an open operation, forward by an apply from where the world stands, or back from its journal. */
export async function runRecover(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseRecoverArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  return parsed.value.way === 'back' ? await back(shell, parsed.value) : await forward(shell, parsed.value);
}

async function forward(shell: Shell, args: RecoverArguments): Promise<ExitCode> {
  // What went back to an earlier environment does not depend on the documents of the folder.
  const located = await openLocated(shell, args.planning);
  if (!located.ok) return failWith(shell, located.diagnostics);
  const { store } = located.value;
  let open: Snapshot['open'];
  try {
    open = (await store.read())?.open ?? null;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  } finally {
    await store.close();
  }
  if (open === null) {
    if (shell.output.json) shell.output.document({ format: 'accede.recover/v1', open: false });
    else shell.output.print('No operation is open.\n');
    return EXIT.done;
  }
  const to = goalOf(open.operation);
  if (to !== undefined) return await rollBack(shell, { ...args, to, patch: false });
  const options = { ...args.planning.options, destroy: open.operation.kind === 'destroy', recover: true };
  return await planAndApply(shell, { ...args.planning, options }, args, { isRecovery: true });
}

/** The way back is in the journal: of documents with mistakes nothing is needed but where the providers are. */
async function openJournal(shell: Shell, { planning }: RecoverArguments): Promise<Outcome<RecordedWorkspace>> {
  const { parallelism } = planning;
  const opened = await openWorkspace(shell, planning, { secrets: 'skip', parallelism });
  if (opened.ok) return opened;
  const { openRecorded } = await import('../recorded-workspace.ts');
  const needed = ({ open }: Snapshot) => (open?.steps ?? []).map(({ provider }) => provider);
  return await openRecorded(shell, planning, opened.diagnostics, { parallelism, needed });
}

async function back(shell: Shell, args: RecoverArguments): Promise<ExitCode> {
  const { output } = shell;
  const opened = await openJournal(shell, args);
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    if (!args.autoApprove) {
      const answer = await askApproval(shell, shell.interrupts.reads, {
        question: 'Take back what the open operation did?',
        isSaveable: false,
      });
      if (answer.kind === 'no') return failWith(shell, [answer.diagnostic]);
    }
    shell.interrupts.beginApply();
    const progress = await progressView(shell);
    let result: Awaited<ReturnType<typeof recoverBack>>;
    try {
      result = await recoverBack(opened.value.context, {
        actor: actorOf(shell),
        lockTimeout: args.lockTimeout,
        stop: shell.interrupts.stop,
        emit: heeding(shell, progress.receive),
      });
    } finally {
      await progress.end();
    }
    if (!output.json) {
      const clean = output.clean(result);
      if (clean.diagnostics.length > 0) output.say(renderDiagnostics(clean.diagnostics, output.conversation));
      const folder = relative(shell.folder, opened.value.environment.folder);
      output.print(
        result.exitCode === EXIT.done && result.serial !== null
          ? `Taken back in ${duration(clean.seconds)}: the environment is as before that run. State #${result.serial}.\n`
          : renderResult(clean, output.answer, `accede recover --forward${folder === '' ? '' : ` ${folder}`}`),
      );
    }
    return toExitCode(result.exitCode);
  } finally {
    await opened.value.close();
  }
}
