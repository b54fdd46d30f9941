import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { takeCopy } from '../state/backup.ts';
import { BackupFile } from '../state/backup-file.ts';
import { type Acquired, BackendError } from '../state/contract.ts';
import { activateCopy, type Move, receiveCopy } from '../state/migrate.ts';
import type { StoreOptions } from '../state/open.ts';
import { describePlace, lookInto, requireLineage, type StoreLook } from '../state/place.ts';
import { requireInUse } from '../state/standing.ts';
import type { EditRequest } from './edit.ts';
import { diagnoseBackend } from './failure.ts';
import { lockStore } from './store-lock.ts';

/** Where a state went. */
export interface Migrated {
  readonly from: string;
  readonly to: string;
  readonly serial: number;
  readonly epoch: number;
  readonly resources: number;
  /** The operation that has not ended, and ends at the new place. */
  readonly open: string | null;
  /** Whether an earlier run had made the copy, and this one ended the move or found it ended. */
  readonly resumed: boolean;
}

/**
 * Moves a state to another store, under the lock of the former one:
 *
 * 1. the new store is filled with a copy that nobody may work with, read again and compared;
 * 2. the former store is taken out of use, with the name of the new one;
 * 3. the copy is taken into use.
 *
 * Never are two stores in use. A run that is killed before 2 leaves the former one in use, and the next one makes the copy anew. One that is
 * killed between 2 and 3 leaves both refusing writes, each saying how to go on, and the next one does 3. After 3 there is nothing left to do.
 */
export async function migrateState(source: StoreOptions, target: StoreOptions, request: EditRequest): Promise<Outcome<Migrated>> {
  try {
    const found = await lookInto(source);
    if (found === undefined) return fail(nothingToMove(source));
    const places = { from: placeOf(source), to: describePlace(target.location) };
    if (places.from === places.to) return fail(samePlace(places.to));
    if (found.standing.kind === 'retired' && found.standing.to === places.to) {
      const move = { id: found.standing.move, from: places.from, by: found.standing.by };
      return succeed({ ...places, ...(await finish(target, found, move)), resumed: true });
    }
    requireInUse(found.standing, source.environment);
    const locked = await lockStore(source, 'state migrate', request);
    if (!locked.ok) return locked;
    const { acquired, close } = locked.value;
    try {
      const move: Move = { id: source.ids.id(), from: places.from, by: request.actor };
      return succeed({ ...places, ...(await moveUnderLock(source, target, acquired, move)), resumed: false });
    } finally {
      await close();
    }
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
}

async function moveUnderLock(source: StoreOptions, target: StoreOptions, { session }: Acquired, move: Move) {
  const folder = await mkdtemp(join(tmpdir(), 'accede-move-'));
  try {
    const path = join(folder, 'copy');
    if (!(await takeCopy(source, { path, by: move.by })))
      throw new BackendError('STATE_MOVED', 'The state was removed while it was moved.');
    const file = await BackupFile.open(path);
    try {
      await receiveCopy(target, file, move);
      // Holds and approvals need no lock, so that one may have come since the copy was read.
      const auditedUpTo = file.count('audit');
      await session.retire({ to: describePlace(target.location), move: move.id, by: move.by, auditedUpTo });
      const epoch = await activateCopy(target, move);
      const { serial, open } = file.header;
      return { serial, epoch, resources: file.count('resources'), open };
    } finally {
      await file.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Ends a move whose former store is out of use already. */
async function finish(target: StoreOptions, former: StoreLook, move: Move) {
  const found = await lookInto(target);
  if (found === undefined) {
    throw new BackendError(
      'STATE_MOVE_OPEN',
      `The former store says that the state is in ${describePlace(target.location)}, and there is none. If it was lost there, restore a backup.`,
      { next: 'accede state restore' },
    );
  }
  requireLineage(former.lineage, found.lineage, describePlace(target.location));
  const epoch = await activateCopy(target, move);
  return { serial: found.serial, epoch, resources: found.resources, open: openIn(found) };
}

function openIn({ operations }: StoreLook): string | null {
  const [last] = operations;
  return last?.outcome === null ? last.id : null;
}

/** The former place as messages name it: an address that came from a secret stays one. */
function placeOf({ location }: StoreOptions): string {
  return location.backend === 'mysql' && !location.server.place.startsWith('mysql:') ? location.server.place : describePlace(location);
}

function nothingToMove({ environment }: StoreOptions): Diagnostic {
  return {
    severity: 'error',
    code: 'NO_STATE',
    summary: 'There is no state yet',
    detail: `Nothing was ever applied to ${environment}, so that there is nothing to move. Let state in the documents name the new place.`,
  };
}

function samePlace(place: string): Diagnostic {
  return {
    severity: 'error',
    code: 'STATE_NOT_EMPTY',
    summary: 'The state is there already',
    detail: `The documents name ${place} as the place of the state, and it was to move to that very place. Move it with documents that name the former one.`,
  };
}
