import { lookForMarks } from '../../apply/marked.ts';
import { errorsOf } from '../../apply/operation-errors.ts';
import { goalOf, type Past, type PastEnvironment, readPast } from '../../apply/past.ts';
import { lineagesOf } from '../../plan/marks.ts';
import { noWayBack } from '../../plan/succession/open-facts.ts';
import { standingHolds } from '../../policy/hold.ts';
import { verifyIntegrity } from '../../state/integrity.ts';
import type { OperationRow, Snapshot } from '../../state/model.ts';
import { stateReadiness } from '../../state/open.ts';
import { systemProcessIdentity } from '../../state/process.ts';
import { parseReadingArguments } from '../arguments/reading.ts';
import type { Workspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderStatus, type StatusRows } from '../views/status.ts';
import { failWith } from './failing.ts';
import { type ReadPlace, readingState } from './reading.ts';

/** `status`: where things stand, from the state alone; where there is none, whether one was lost. Reads only, waits for nobody. */
export async function runStatus(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store, place) => {
    const snapshot = await store.read();
    const past = snapshot === undefined ? undefined : await readPast(store, snapshot);
    const { workspace } = place;
    const marks = snapshot === undefined && workspace !== undefined ? await marksOf(workspace) : null;
    const holds = standingHolds(snapshot?.holds ?? [], await store.now());
    const rows = { ...statusRows(place, snapshot, past, args.value.folder), holds, readiness: await readinessOf(place, snapshot), marks };
    if (shell.output.json) shell.output.document(rows);
    else shell.output.print(renderStatus(shell.output.clean(rows), shell.output.answer));
    return EXIT.done;
  });
}

/** Whether the state can be used right now. What is damaged can be read and is not written. */
async function readinessOf({ state }: ReadPlace, snapshot: Snapshot | undefined): Promise<StatusRows['readiness']> {
  const readiness = await stateReadiness(state);
  const about = { backend: state.location.backend, ...readiness };
  const damage = snapshot === undefined ? undefined : verifyIntegrity(snapshot).find(({ severity }) => severity === 'error');
  if (damage === undefined || readiness.hindrance !== null) return about;
  return { ...about, writable: false, hindrance: { code: 'STATE_CORRUPT', message: damage.detail } };
}

/** What a state that is not there left behind, as far as it can be seen without secrets; null when nothing bears a mark and all was seen. */
async function marksOf({ context, environment }: Workspace): Promise<StatusRows['marks']> {
  const { marked, unlisted } = await lookForMarks(context);
  if (marked.length === 0 && unlisted.size === 0) return null;
  const next = marked.length === 0 ? null : `accede plan ${environment.folder}`;
  return { objects: marked.length, lineages: lineagesOf(marked), unseen: [...unlisted.keys()], next };
}

function statusRows(
  place: ReadPlace,
  snapshot: Snapshot | undefined,
  past: Past | undefined,
  folder: string,
): Omit<StatusRows, 'holds' | 'marks' | 'readiness'> {
  const { environment, workspace } = place;
  const open = snapshot?.open ?? null;
  const sealed = snapshot?.sealed ?? null;
  const last = snapshot?.lastOperation ?? null;
  const lock = snapshot?.lock ?? null;
  // A holder that is certainly dead keeps nobody out: the next apply takes the lock over.
  const isHeld = lock !== null && systemProcessIdentity().isAlive(lock) !== false;
  const running = open !== null && isHeld;
  return {
    format: 'accede.status/v1',
    environment: environment.name,
    folder: environment.folder,
    state:
      snapshot === undefined
        ? null
        : {
            lineage: snapshot.identity.lineage,
            serial: snapshot.head.serial,
            digest: snapshot.head.digest,
            resources: snapshot.resources.size,
            unfinished: [...snapshot.resources.values()]
              .filter((row) => row.status !== 'ready')
              .map((row) => row.address)
              .sort(),
          },
    inForce:
      sealed === null
        ? null
        : {
            serial: sealed.serial,
            sourceDigest: sealed.sourceDigest,
            releaseDigest: sealed.releaseDigest,
            commit: sealed.commit,
            isWritten: workspace === undefined ? null : sealed.sourceDigest === workspace.environment.sourceDigest,
          },
    reachable: (past?.environments ?? []).filter(({ isKept }) => isKept).map((environment) => reachableRow(environment, past)),
    operation:
      open === null
        ? null
        : {
            ...operationRow(open.operation),
            running,
            done: open.steps.filter((step) => step.status === 'done' || step.status === 'settled').map((step) => step.step),
            notDone: open.steps.filter((step) => step.status === 'failed' || step.status === 'compensated').map((step) => step.step),
            unknown: open.steps
              .filter((step) => step.status === 'intended' || step.status === 'unknown' || step.status === 'compensating')
              .map((step) => step.step),
            next: running ? null : `accede ${wayOn(open.operation)}${operand(folder)}`,
            back: running || noWayBack(open.steps) !== undefined ? null : `accede recover --back${operand(folder)}`,
          },
    lock:
      lock === null
        ? null
        : {
            lockId: lock.lockId,
            who: lock.who,
            host: lock.host,
            pid: lock.pid,
            purpose: lock.purpose,
            since: lock.since,
            fence: lock.fence,
            isHeld,
          },
    lastOperation: last === null ? null : operationRow(last),
  };
}

/** The folder as a command takes it: nothing for the one that is meant without saying. */
function operand(folder: string): string {
  return folder === '.' ? '' : ` ${folder}`;
}

/** The command that goes on with an operation. */
function wayOn(operation: OperationRow): string {
  const to = goalOf(operation);
  return to === undefined ? (operation.kind === 'destroy' ? 'destroy' : 'apply') : `rollback --to ${to}`;
}

function reachableRow({ serial, sealed, isInForce }: PastEnvironment, past: Past | undefined): StatusRows['reachable'][number] {
  const endedAt = past?.operations.find((operation) => operation.serial === serial)?.endedAt ?? null;
  return { serial, endedAt, sourceDigest: sealed.sourceDigest, commit: sealed.commit, isInForce };
}

export function operationRow(operation: OperationRow) {
  const { serial, id, kind, planDigest, actor, reason, startedAt, endedAt, outcome } = operation;
  const to = goalOf(operation);
  return {
    serial,
    id,
    kind,
    ...(to === undefined ? {} : { to }),
    planDigest,
    class: operation.class,
    actor,
    reason,
    startedAt,
    endedAt,
    outcome,
    errors: errorsOf(operation),
  };
}
