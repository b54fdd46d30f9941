import { resolve } from 'node:path';
import { keptBundle, noSuchSerial } from '../../apply/past.ts';
import { parseAddress } from '../../core/address.ts';
import type { StateStore } from '../../state/contract.ts';
import { parseOptionalReadingArguments } from '../arguments/reading.ts';
import { usageError } from '../arguments/values.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { kindOf } from '../paths.ts';
import { readPlanFile } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { type PastSource, renderPastState, renderResources } from '../views/state.ts';
import { failWith } from './failing.ts';
import { printPlan } from './planning.ts';
import { noState, readingState } from './reading.ts';
import { showResource } from './state.ts';
import { operationRow } from './status.ts';

/** What the operation put in force, and of which files; null when it put nothing in force. */
async function inForceAt(store: StateStore, serial: number): Promise<PastSource | null> {
  const sealed = (await store.sealings()).find((sealing) => sealing.serial === serial)?.sealed ?? null;
  if (sealed === null) return null;
  const manifest = (await keptBundle(store, sealed))?.manifest;
  const { sourceDigest, releaseDigest, commit } = sealed;
  return { sourceDigest, releaseDigest, commit, variables: manifest?.variables ?? null, files: manifest?.files ?? null };
}

/** `show`: a plan from its file, a recorded resource, a past state, or with nothing named the state in force. */
export async function runShow(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseOptionalReadingArguments(input, shell.folder);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const { what } = parsed.value;
  if (what !== undefined && kindOf(resolve(shell.folder, what)) === 'file') {
    const plan = await readPlanFile(resolve(shell.folder, what));
    if (!plan.ok) return failWith(shell, plan.diagnostics);
    printPlan(shell, plan.value, shell.output.json ? 'json' : 'text');
    return EXIT.done;
  }
  const isSerial = what !== undefined && /^#?\d{1,15}$/.test(what);
  if (what !== undefined && !isSerial && parseAddress(what) === undefined) {
    return failWith(shell, [
      usageError(
        'NOTHING_TO_SHOW',
        'There is nothing of that name to show',
        `${JSON.stringify(what)} is no file, no address and no serial.`,
        {
          expected: 'a plan file, an address as docker.container.api, or a serial as 12',
          observed: what,
        },
      ),
    ]);
  }
  return await readingState(shell, parsed.value, async (store, workspace) => {
    const snapshot = await store.read();
    if (snapshot === undefined) return failWith(shell, [noState(workspace.environment.name)]);
    if (what !== undefined && !isSerial) return showResource(shell, snapshot, what);
    if (what === undefined) {
      const rows = [...snapshot.resources.values()];
      if (shell.output.json) shell.output.document({ format: 'accede.resources/v1', resources: rows });
      else shell.output.print(renderResources(shell.output.clean(rows), shell.output.answer));
      return EXIT.done;
    }
    const serial = Number(what.replace('#', ''));
    const past = await store.readAt(serial);
    if (past === undefined) {
      return failWith(shell, [noSuchSerial({ operations: await store.history() }, serial)]);
    }
    const rows = {
      operation: operationRow(past.operation),
      resources: [...past.resources.values()],
      outputs: past.outputs,
      inForce: await inForceAt(store, serial),
    };
    if (shell.output.json) shell.output.document({ format: 'accede.past/v1', ...rows });
    else shell.output.print(renderPastState(shell.output.clean(rows), shell.output.answer));
    return EXIT.done;
  });
}
