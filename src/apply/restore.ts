import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { BackupFile } from '../state/backup-file.ts';
import { BackendError } from '../state/contract.ts';
import type { OperationRow } from '../state/model.ts';
import type { StoreOptions } from '../state/open.ts';
import { describePlace, lookInto, requireLineage, type StoreLook } from '../state/place.ts';
import { type Restored, requireEnvironment, restoreBackup } from '../state/restore.ts';
import { requireInUse } from '../state/standing.ts';
import type { EditRequest } from './edit.ts';
import { diagnoseBackend } from './failure.ts';
import { lockStore } from './store-lock.ts';

/** The operations that a restore gives up; from above to where there are none. */
export interface Loss {
  readonly from: number;
  readonly to: number;
}

/** What a restore would do, as far as it can be told before anybody is asked. */
export interface RestoreOutlook {
  /** What is lost, as the store says whose place the backup takes; undefined when no such store was named. */
  readonly loss: Loss | undefined;
  /** The operations of it that are known, newest first. */
  readonly operations: readonly OperationRow[];
}

/**
 * Looks whether a backup can be put back: the environment is that of the documents, nothing stands in its place, and the store whose place it
 * takes holds the same lineage. Changes nothing.
 */
export async function examineRestore(
  target: StoreOptions,
  file: BackupFile,
  replaced: StoreOptions | undefined,
): Promise<Outcome<RestoreOutlook>> {
  try {
    requireEnvironment(file, target.environment);
    const present = await lookInto(target);
    if (present !== undefined) return fail(present.standing.kind === 'in-use' ? inUse(target, present) : outOfUse(target, present));
    if (replaced === undefined) return succeed({ loss: undefined, operations: [] });
    const former = await lookInto(replaced);
    if (former === undefined) return fail(nothingToReplace(replaced));
    requireReplaced(target, former, replaced.environment);
    const { serial } = file.header;
    requireLineage(file.header.lineage, former.lineage, describePlace(replaced.location));
    return succeed({
      loss: { from: serial + 1, to: Math.max(serial, former.serial) },
      operations: former.operations.filter((operation) => operation.serial > serial),
    });
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
}

/**
 * Puts a backup back. The store whose place it takes is taken out of use first, under its lock: whoever still works with it is refused from then
 * on. A run that was killed in between is ended by the next one. `LOCK_BUSY` while somebody works there; `STATE_MOVED` when it holds operations
 * that are not in the loss which was agreed to.
 */
export async function restoreState(
  target: StoreOptions,
  file: BackupFile,
  request: EditRequest & { readonly loss: Loss; readonly replaced: StoreOptions | undefined },
): Promise<Outcome<Restored>> {
  const { actor, reason, loss, replaced } = request;
  try {
    let former: StoreLook | undefined;
    if (replaced !== undefined) {
      const retired = await retireReplaced(target, file, { ...request, replaced });
      if (!retired.ok) return retired;
      former = retired.value;
    }
    const order = { actor, reason, lostUpTo: loss.to };
    if (former === undefined || replaced === undefined) return succeed(await restoreBackup(target, file, order));
    const { fence, epoch } = former;
    return succeed(await restoreBackup(target, file, { ...order, replaced: { place: describePlace(replaced.location), fence, epoch } }));
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
}

async function retireReplaced(
  target: StoreOptions,
  { header }: BackupFile,
  request: EditRequest & { readonly loss: Loss; readonly replaced: StoreOptions },
): Promise<Outcome<StoreLook | undefined>> {
  const { replaced, loss, actor } = request;
  const found = await lookInto(replaced);
  if (found?.standing.kind === 'retired') return succeed(found);
  const locked = await lockStore(replaced, 'state restore', request);
  if (!locked.ok) return locked;
  const { acquired, close } = locked.value;
  try {
    // Under the lock nobody adds to it any more.
    const former = await lookInto(replaced);
    if (former === undefined) return fail(nothingToReplace(replaced));
    if (Math.max(former.serial, header.serial) !== loss.to) {
      throw new BackendError(
        'STATE_MOVED',
        `The store whose place the backup takes went to #${former.serial} meanwhile. Nothing was changed.`,
      );
    }
    await acquired.session.retire({ to: describePlace(target.location), move: target.ids.id(), by: actor });
    return succeed(former);
  } finally {
    await close();
  }
}

/** One that was taken out of use for this very place was so by a run that did not come to its end. */
function requireReplaced(target: StoreOptions, { standing }: StoreLook, environment: string): void {
  if (standing.kind === 'retired' && standing.to === describePlace(target.location)) return;
  requireInUse(standing, environment);
}

function inUse(target: StoreOptions, { lineage, serial }: StoreLook): Diagnostic {
  return {
    severity: 'error',
    code: 'STATE_NOT_EMPTY',
    summary: 'There is a state already',
    detail: `${describePlace(target.location)} holds a state of ${target.environment}, at #${serial} with the lineage ${lineage}, and a backup never takes the place of one. It was left as it is. Move it away, or let state in the documents name another place, and name the former one with --replaces.`,
    next: 'accede status',
  };
}

function outOfUse(target: StoreOptions, { standing }: StoreLook): Diagnostic {
  const what =
    standing.kind === 'retired' ? `a state that was taken out of use (it went to ${standing.to})` : 'a copy whose move has not ended';
  return {
    severity: 'error',
    code: 'STATE_NOT_EMPTY',
    summary: 'There is a state already',
    detail: `${describePlace(target.location)} holds ${what}. It was left as it is. Move it away, or let state in the documents name another place.`,
  };
}

function nothingToReplace({ location, environment }: StoreOptions): Diagnostic {
  return {
    severity: 'error',
    code: 'NO_STATE',
    summary: 'There is no state yet',
    detail: `--replaces names ${describePlace(location)}, and no state of ${environment} is there. Nothing was changed.`,
  };
}
