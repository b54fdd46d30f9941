import { notRecorded } from '../../apply/edit.ts';
import { compareText } from '../../core/address.ts';
import type { Outcome } from '../../core/diagnostic.ts';
import { exportState } from '../../state/document.ts';
import type { ResourceRow, Snapshot } from '../../state/model.ts';
import { parseReadingArguments, type ReadingArguments } from '../arguments/reading.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderAddresses } from '../views/addresses.ts';
import { rowWithDurations } from '../views/durations.ts';
import { renderHistory, renderResource } from '../views/state.ts';
import { failWith } from './failing.ts';
import { noState, type ReadPlace, readingState } from './reading.ts';
import { operationRow } from './status.ts';

/** `state list`: addresses, one per line. */
export async function runStateList(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await reading(shell, parseReadingArguments(input, { what: false }), async (snapshot) => {
    const registry = shell.registry;
    const rows = [...(snapshot?.resources.values() ?? [])].sort((a, b) => compareText(a.address, b.address));
    if (shell.output.json) {
      shell.output.document({
        format: 'accede.resources/v1',
        resources: rows.map((row) => ({
          address: row.address,
          type: row.type,
          provider: row.provider,
          ref: row.ref,
          status: row.status,
          role: row.role,
          protected: row.protected,
          marked: row.marked,
        })),
      });
    } else {
      // What its type could have marked and bears no mark was imported: with the state lost, it is asked for by name.
      const isUnmarked = (row: ResourceRow) => !row.marked && registry.find(row.type)?.type.marks === true;
      const notes = new Map(rows.filter(isUnmarked).map((row) => [shell.output.clean(row.address), 'unmarked'] as const));
      shell.output.print(renderAddresses(shell.output.clean(rows.map((row) => row.address)), notes));
    }
    return EXIT.done;
  });
}

/** `state show ADDRESS`. */
export async function runStateShow(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await reading(shell, parseReadingArguments(input, { what: true }), async (snapshot, args, { environment }) => {
    if (snapshot === undefined) return failWith(shell, [noState(environment.name)]);
    return showResource(shell, snapshot, args.what ?? '');
  });
}

/** Prints one recorded resource. */
export function showResource(shell: Shell, snapshot: Snapshot, address: string): ExitCode {
  const row = [...snapshot.resources.values()].find((candidate) => candidate.address === address);
  if (row === undefined) return failWith(shell, [notRecorded(address, snapshot.resources.keys())]);
  if (shell.output.json) shell.output.document({ format: 'accede.resource/v1', resource: row });
  else shell.output.print(renderResource(rowWithDurations(shell.output.clean(row), shell.registry), shell.output.answer));
  return EXIT.done;
}

/** `state pull`: the whole state as one canonical document. The fingerprints' key is not in it. */
export async function runStatePull(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await reading(shell, parseReadingArguments(input, { what: false }), async (snapshot, _args, { environment }) => {
    if (snapshot === undefined) return failWith(shell, [noState(environment.name)]);
    shell.output.document(exportState(snapshot));
    return EXIT.done;
  });
}

/** `state history`: all operations, the newest first. */
export async function runStateHistory(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store) => {
    const operations = (await store.history()).map(operationRow);
    if (shell.output.json) shell.output.document({ format: 'accede.history/v1', operations });
    else shell.output.print(renderHistory(shell.output.clean(operations), shell.output.answer));
    return EXIT.done;
  });
}

async function reading(
  shell: Shell,
  args: Outcome<ReadingArguments>,
  use: (snapshot: Snapshot | undefined, args: ReadingArguments, place: ReadPlace) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store, place) => use(await store.read(), args.value, place));
}
