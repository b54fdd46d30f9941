import { diagnoseBackend } from '../../apply/failure.ts';
import { keptBundle, type Past, type PastEnvironment, readPast, rollbackTarget } from '../../apply/past.ts';
import type { Bundle } from '../../core/bundle.ts';
import type { Diagnostic, Outcome } from '../../core/diagnostic.ts';
import { loadEnvironment } from '../../spec/load.ts';
import { BackendError } from '../../state/contract.ts';
import { parseRollbackArguments, type RollbackArguments } from '../arguments/rollback.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { folderChanges } from '../folder-changes.ts';
import { type LocatedState, openKept, openLocated } from '../past-workspace.ts';
import type { RawInput, Shell } from '../shell.ts';
import { oneLine, shortDigest } from '../views/layout.ts';
import { renderPatch, unpatchable } from '../views/patch.ts';
import { operationText } from '../views/status.ts';
import { planAndApplyIn } from './apply.ts';
import { failWith } from './failing.ts';
import { noState } from './reading.ts';
import { operationRow } from './status.ts';

/** `rollback`: plans what was in force earlier as desired and applies it, or prints what makes the folder agree with it. */
export async function runRollback(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseRollbackArguments(input);
  return parsed.ok ? await rollBack(shell, parsed.value) : failWith(shell, parsed.diagnostics);
}

export async function rollBack(shell: Shell, args: RollbackArguments): Promise<ExitCode> {
  const located = await openLocated(shell, args.planning);
  if (!located.ok) return failWith(shell, located.diagnostics);
  const { store } = located.value;
  let isHandedOver = false;
  try {
    const chosen = await chooseEnvironment(located.value, args);
    if (!chosen.ok) return failWith(shell, chosen.diagnostics);
    if (args.patch) return await printPatch(shell, located.value, chosen.value);
    const { target, bundle, past } = chosen.value;
    const opened = await openKept(
      shell,
      located.value,
      { bundle, commit: target.sealed.commit },
      { secrets: 'read', parallelism: args.planning.parallelism },
    );
    if (!opened.ok) return failWith(shell, opened.diagnostics);
    isHandedOver = true;
    const current = past.environments.find(({ isInForce }) => isInForce);
    const { targets, excludes } = args.planning.options;
    const isWhole = targets.length === 0 && excludes.length === 0;
    const code = await planAndApplyIn(shell, opened, args.planning, args, {
      rollback: {
        to: target.serial,
        heading: headingOf(target, past),
        isAnother: isWhole && current?.sealed.source !== target.sealed.source,
      },
    });
    if (code === EXIT.done && !shell.output.json) await hintAtPatch(shell, located.value, target, args.planning.folder);
    return code;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  } finally {
    if (!isHandedOver) await store.close();
  }
}

interface Chosen {
  readonly target: PastEnvironment;
  readonly bundle: Bundle;
  readonly past: Past;
}

async function chooseEnvironment({ store, location }: LocatedState, args: RollbackArguments): Promise<Outcome<Chosen>> {
  const snapshot = await store.read();
  if (snapshot === undefined) return { ok: false, diagnostics: [noState(location.name)] };
  const past = await readPast(store, snapshot);
  // The documents are to agree with what is in force, so that is what a patch is about when nobody says otherwise.
  const inForce = args.patch ? past.environments.find(({ isInForce }) => isInForce)?.serial : undefined;
  const target = rollbackTarget(past, args.to ?? inForce);
  if (!target.ok) return target;
  const bundle = await keptBundle(store, target.value.sealed);
  if (bundle === undefined) throw new BackendError('STATE_MOVED', 'What is kept was pruned meanwhile. Nothing was changed.');
  return { ok: true, value: { target: target.value, bundle, past }, diagnostics: [] };
}

function headingOf({ serial, sealed }: PastEnvironment, { operations }: Past): string {
  const operation = operations.find((row) => row.serial === serial);
  const of = operation === undefined ? '' : `: ${operationText(operationRow(operation))}`;
  const commit = sealed.commit === null ? '' : `, commit ${oneLine(sealed.commit)}`;
  return `Back to what #${serial} put in force${of}\n  documents ${shortDigest(sealed.sourceDigest)}${commit}`;
}

/** Says how the documents are made to agree, where they differ from what is in force now. */
async function hintAtPatch(shell: Shell, located: LocatedState, target: PastEnvironment, folder: string): Promise<void> {
  const written = await loadEnvironment(located.options);
  if (written.ok && written.value.sourceDigest === target.sealed.sourceDigest) return;
  const place = folder === '.' ? '' : ` ${folder}`;
  const command = `accede rollback --patch${place}`;
  shell.output.say(
    `The documents of the folder are others than those in force now. ${shell.output.conversation.color.cyan(command)} prints what makes them agree.`,
  );
}

async function printPatch(shell: Shell, located: LocatedState, { target, bundle }: Chosen): Promise<ExitCode> {
  const changes = await folderChanges(located.location, bundle, located.options);
  const left = unpatchable(changes);
  if (left.length > 0) shell.output.warn([binaryFiles(left)]);
  const patch = renderPatch(changes);
  if (shell.output.json) shell.output.document({ format: 'accede.patch/v1', serial: target.serial, patch, binary: left });
  else if (changes.length === 0) shell.output.say(`The documents of the folder are those of #${target.serial}.`);
  else shell.output.print(patch);
  return EXIT.done;
}

function binaryFiles(names: readonly string[]): Diagnostic {
  return {
    severity: 'warning',
    code: 'PATCH_BINARY',
    summary: 'A patch can not hold every file',
    detail: `These files differ and are no text, so that the patch leaves them out: ${names.join(', ')}. Take them from where the documents are versioned.`,
  };
}
