import { resolve } from 'node:path';
import { examineRestore, type Loss, type RestoreOutlook, restoreState } from '../../apply/restore.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import { BackupFile } from '../../state/backup-file.ts';
import type { StoreOptions } from '../../state/open.ts';
import { parseLoss, parseRestoreArguments, type RestoreArguments } from '../arguments/restore.ts';
import { parseStatePlace, passwordsOf } from '../arguments/state-place.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { progressLines } from '../views/progress.ts';
import { askLine } from '../views/prompt.ts';
import { failWith } from './failing.ts';
import { type ReadPlace, readingState } from './reading.ts';

/** How many of the lost operations are listed. */
const LISTED = 10;

/** `state restore FILE`: puts a backup into a place without a state. */
export async function runStateRestore(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseRestoreArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (_store, place) => {
    const replaced = replacedStore(shell, args.value, place);
    if (!replaced.ok) return failWith(shell, replaced.diagnostics);
    const file = await BackupFile.open(resolve(shell.folder, args.value.operands[0] ?? ''));
    try {
      return await restoring(shell, args.value, place.state, file, replaced.value);
    } finally {
      await file.close();
    }
  });
}

async function restoring(
  shell: Shell,
  args: RestoreArguments,
  target: StoreOptions,
  file: BackupFile,
  replaced: StoreOptions | undefined,
): Promise<ExitCode> {
  const { output } = shell;
  const outlook = await examineRestore(target, file, replaced);
  if (!outlook.ok) return failWith(shell, outlook.diagnostics);
  output.say(describe(shell, file, outlook.value));
  const loss = await agreedLoss(shell, args, file, outlook.value);
  if (!loss.ok) return failWith(shell, loss.diagnostics);
  const restored = await restoreState(target, file, {
    actor: actorOf(shell),
    reason: args.reason,
    lockTimeout: args.lockTimeout,
    stop: shell.interrupts.stop,
    emit: (event) => output.say(progressLines(event, output.conversation).join('\n')),
    loss: loss.value,
    replaced,
  });
  if (!restored.ok) return failWith(shell, restored.diagnostics);
  const { environment, serial: from } = file.header;
  const { serial, epoch, fence } = restored.value;
  const lost = loss.value.to < loss.value.from ? null : loss.value;
  if (output.json) {
    output.document({ format: 'accede.restore/v1', environment, backup: file.digest, from, lost, serial, epoch, fence });
  } else {
    const given = lost === null ? '' : ` Lost: ${range(lost)}.`;
    output.print(
      `Restored #${from} of ${environment}: ${count(file.count('resources'), 'resource')}. State #${serial}, epoch ${epoch}.${given}\nPlans from before are stale, and whoever held the lock before is refused. See what the world has that the state does not know: accede plan`,
    );
  }
  return EXIT.done;
}

function replacedStore(
  shell: Shell,
  { replaces }: RestoreArguments,
  { environment, state, conceal }: ReadPlace,
): Outcome<StoreOptions | undefined> {
  if (replaces === undefined) return succeed(undefined);
  const location = parseStatePlace('--replaces', replaces, { folder: environment.folder, environment: shell.environment });
  if (!location.ok) return location;
  conceal(passwordsOf(location.value));
  return succeed({ ...state, location: location.value });
}

/** What the operator gives up: named by the store that is replaced and agreed to, or named by the operator. */
async function agreedLoss(
  shell: Shell,
  args: RestoreArguments,
  { header }: BackupFile,
  { loss: known }: RestoreOutlook,
): Promise<Outcome<Loss>> {
  const first = header.serial + 1;
  const nothing: Loss = { from: first, to: header.serial };
  const named = args.acceptLoss === 'none' ? nothing : args.acceptLoss;
  if (named !== undefined) return matches(named, known, first);
  if (known !== undefined && args.autoApprove) return succeed(known);
  if (shell.stdin.isTTY !== true) return fail(unstated(known, first));
  const signal = shell.interrupts.reads;
  if (known !== undefined) {
    const question = known.to < known.from ? 'Restore it?' : `Restore it, and lose ${range(known)}?`;
    const answer = await askLine(`${question} Only "yes" is accepted: `, { ...shell, signal });
    return answer?.trim() === 'yes' ? succeed(known) : fail(notAgreed());
  }
  const answer = await askLine(`Which operations are lost? As ${first}..${first + 2}, or none: `, { ...shell, signal });
  const typed = answer === undefined ? undefined : parseLoss(answer);
  if (typed === undefined) return fail(notAgreed());
  return matches(typed === 'none' ? nothing : typed, undefined, first);
}

function matches(named: Loss, known: Loss | undefined, first: number): Outcome<Loss> {
  const expected = known ?? { from: first, to: named.to };
  if (named.from === expected.from && named.to === expected.to) return succeed(named);
  return fail({
    severity: 'error',
    code: 'STATE_LOSS_DIFFERS',
    summary: 'What would be lost is not what was accepted',
    detail: `A restore of this backup loses ${known === undefined ? `what came after #${first - 1}` : known.to < known.from ? 'nothing' : range(known)}. Nothing was changed.`,
    expected: known === undefined ? `${first}..LAST` : known.to < known.from ? 'none' : `${known.from}..${known.to}`,
    observed: named.to < named.from ? 'none' : `${named.from}..${named.to}`,
  });
}

function unstated(known: Loss | undefined, first: number): Diagnostic {
  const how =
    known === undefined
      ? `Say with --accept-loss which operations came after it (status, evidence or the log of the last run name them), as --accept-loss ${first}..${first + 2}, or none; or name the store that was lost with --replaces.`
      : `Give --auto-approve, or --accept-loss ${known.to < known.from ? 'none' : `${known.from}..${known.to}`}.`;
  return {
    severity: 'error',
    code: 'STATE_LOSS_UNSTATED',
    summary: 'Nobody said what may be lost',
    detail: `A restore gives up whatever came after the backup, and stdin is no terminal to ask on. Nothing was changed. ${how}`,
  };
}

function notAgreed(): Diagnostic {
  return {
    severity: 'error',
    code: 'NOT_APPROVED',
    summary: 'The restore was not approved',
    detail: 'The answer was not one that approves it. Nothing was changed.',
  };
}

/** What the backup is, and what is lost with it. */
function describe(shell: Shell, file: BackupFile, { loss, operations }: RestoreOutlook): string {
  const { environment, serial, createdAt, by, open } = file.header;
  const lines = [
    `${environment}: a backup of #${serial}, taken ${createdAt} by ${by}, ${count(file.count('resources'), 'resource')}, ${file.digest}`,
    ...(open === null ? [] : [`${open} had not ended when it was taken.`]),
  ];
  if (loss === undefined)
    lines.push(`Everything that came after #${serial} is lost. What it made stays in the world, and the state will not know of it.`);
  else if (loss.to < loss.from) lines.push('Nothing came after it.');
  else {
    lines.push(`Lost with it: ${range(loss)}. What they made stays in the world, and the state will not know of it.`);
    const listed = shell.output.clean(operations).slice(0, LISTED);
    lines.push(
      ...listed.map(({ serial: at, kind, startedAt, actor, outcome }) => `  #${at}  ${kind}  ${startedAt}  ${actor}  ${outcome ?? 'open'}`),
    );
    if (operations.length > LISTED) lines.push(`  and ${operations.length - LISTED} more`);
  }
  return `${lines.join('\n')}\n`;
}

function range({ from, to }: Loss): string {
  return from === to ? `#${from}` : `#${from} to #${to}`;
}
