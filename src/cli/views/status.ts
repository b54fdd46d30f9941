import type { Hold } from '../../state/model.ts';
import { columns, count, lengthOf, oneLine, pad, shortDigest } from './layout.ts';
import type { Style } from './terminal.ts';

export interface OperationRows {
  readonly serial: number;
  readonly id: string;
  readonly kind: string;
  /** Of a rollback: the serial that it goes back to. */
  readonly to?: number;
  readonly planDigest: string | null;
  readonly class: string | null;
  readonly actor: string;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: string | null;
  /** Why it failed, in the words of its run. */
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

/** What `status` tells, as `--json` prints it. */
export interface StatusRows {
  readonly format: 'accede.status/v1';
  readonly environment: string;
  readonly folder: string;
  /** What keeps applies off now; one on every source first. */
  readonly holds: readonly Hold[];
  readonly state: {
    readonly lineage: string;
    readonly serial: number;
    readonly digest: string;
    readonly resources: number;
    readonly unfinished: readonly string[];
  } | null;
  /** Without a state: what bears the environment's mark all the same, and the provider blocks that could not be looked into. */
  readonly marks: {
    readonly objects: number;
    readonly lineages: readonly string[];
    readonly unseen: readonly string[];
    readonly next: string | null;
  } | null;
  /** Whether the state can be read, as it was, and written right now. */
  readonly readiness: {
    readonly backend: 'sqlite' | 'mysql';
    readonly place: string;
    /** Format of the tables; null without a state. */
    readonly schemaVersion: number | null;
    readonly readMilliseconds: number;
    /** Null when nothing tells. */
    readonly writable: boolean | null;
    readonly hindrance: { readonly code: string; readonly message: string } | null;
  };
  readonly inForce: {
    readonly serial: number;
    readonly sourceDigest: string;
    readonly releaseDigest: string | null;
    readonly commit: string | null;
    /** Whether the documents in the folder are those in force. */
    readonly isWritten: boolean | null;
  } | null;
  /** Environments that a rollback can bring back, newest first. */
  readonly reachable: readonly {
    readonly serial: number;
    readonly endedAt: string | null;
    readonly sourceDigest: string;
    readonly commit: string | null;
    readonly isInForce: boolean;
  }[];
  readonly operation:
    | (OperationRows & {
        readonly running: boolean;
        readonly done: readonly string[];
        readonly notDone: readonly string[];
        readonly unknown: readonly string[];
        readonly next: string | null;
        /** How to take it back; null when it is running or has crossed its point of no return. */
        readonly back: string | null;
      })
    | null;
  readonly lock: {
    readonly lockId: string;
    readonly who: string;
    readonly host: string;
    readonly pid: number;
    readonly purpose: string;
    readonly since: string;
    readonly fence: number;
    /** False when its holder is certainly dead. */
    readonly isHeld: boolean;
  } | null;
  readonly lastOperation: OperationRows | null;
}

const MOST_LISTED = 20;

export function renderStatus(status: StatusRows, { color }: Style): string {
  const lines = [`${color.bold(oneLine(status.environment))}  ${color.dim(oneLine(status.folder))}`, ''];
  if (status.holds.length > 0) lines.push(...status.holds.map((hold) => color.red.bold(holdText(hold))), '');
  const rows: (readonly [string, string])[] = [];
  const { state, marks, readiness, inForce, operation, lock, lastOperation } = status;
  if (state === null) rows.push(...missingState(marks));
  else {
    rows.push(['state', `#${state.serial}, ${count(state.resources, 'resource')}, lineage ${state.lineage}`]);
    if (state.unfinished.length > 0) rows.push(['unfinished', state.unfinished.slice(0, MOST_LISTED).map(oneLine).join(', ')]);
  }
  rows.push(['store', `${readiness.backend}, ${oneLine(readiness.place)}${formatText(readiness)}`]);
  rows.push(['ready', readinessText(readiness, color)]);
  const isDestroyed = state?.resources === 0 && lastOperation?.kind === 'destroy' && lastOperation.outcome === 'done';
  if (inForce !== null) {
    const written =
      inForce.isWritten === null
        ? 'the documents here have mistakes'
        : inForce.isWritten
          ? 'the documents here are these, variables aside'
          : 'the documents here differ';
    rows.push(['in force', `#${inForce.serial}, documents ${shortDigest(inForce.sourceDigest)} (${written})`]);
    if (inForce.releaseDigest !== null) rows.push(['release', shortDigest(inForce.releaseDigest)]);
    if (inForce.commit !== null) rows.push(['commit', oneLine(inForce.commit)]);
  } else if (state !== null) {
    rows.push(['in force', isDestroyed ? 'nothing: everything was destroyed' : 'nothing: no apply has finished yet']);
  }
  const past = status.reachable.filter(({ isInForce }) => !isInForce);
  if (past.length > 0) rows.push(['rollback', `to ${serialsText(past)}`]);
  rows.push(['lock', lock === null ? 'free' : lockText(lock)]);
  if (lastOperation !== null) {
    rows.push(['last', operationText(lastOperation)]);
    for (const { code, message } of lastOperation.errors.slice(0, 3)) rows.push(['', `${code}: ${oneLine(message)}`]);
  }
  lines.push(...columns(rows.map(([label, text]) => [`  ${label}`, text])));
  if (operation !== null) {
    lines.push(
      '',
      color.yellow(
        `${operation.id} (${oneLine(operation.kind)}) ${operation.running ? 'is running' : 'is open: its run ended without an end'}`,
      ),
    );
    lines.push(`  ${operation.done.length} done, ${operation.notDone.length} not done, ${operation.unknown.length} unknown`);
    for (const [word, steps] of [
      ['not done', operation.notDone],
      ['unknown', operation.unknown],
    ] as const) {
      for (const step of steps.slice(0, MOST_LISTED)) lines.push(`  ${word.padEnd(9)} ${oneLine(step)}`);
      if (steps.length > MOST_LISTED) lines.push(`  … ${steps.length - MOST_LISTED} more ${word}`);
    }
    const ways = [
      [operation.next, 'goes on from there'],
      [operation.back, 'takes back what it did'],
    ].flatMap(([command, meaning]) => (command == null ? [] : [[oneLine(command), meaning ?? ''] as const]));
    const width = Math.max(0, ...ways.map(([command]) => lengthOf(command)));
    if (ways.length > 0) lines.push('', ...ways.map(([command, meaning]) => `    ${color.cyan(pad(command, width))}  ${meaning}`));
  }
  return `${lines.join('\n')}\n`;
}

function formatText({ schemaVersion }: StatusRows['readiness']): string {
  return schemaVersion === null ? '' : `, format ${schemaVersion}`;
}

function readinessText({ readMilliseconds, writable, hindrance }: StatusRows['readiness'], color: Style['color']): string {
  const read = `read in ${readMilliseconds} ms`;
  if (hindrance !== null) return color.red(`${read}, can not be written: ${oneLine(hindrance.message)}`);
  return writable === null ? `${read}; whether it can be written is not known before there is a state` : `${read}, can be written`;
}

/** `held: every source, by dana@here since …: incident 311 (until …)`. */
function holdText({ source, reason, by, since, until }: Hold): string {
  const what = source === null ? 'every source' : `documents ${shortDigest(source)}`;
  return `held: ${what}, by ${oneLine(by)} since ${since}: ${oneLine(reason)} (until ${until ?? 'it is lifted'})`;
}

/** `#7, #5, #3`, the newest first. */
function serialsText(past: StatusRows['reachable']): string {
  const shown = past.slice(0, MOST_LISTED).map(({ serial }) => `#${serial}`);
  return past.length > MOST_LISTED ? `${shown.join(', ')} and ${past.length - MOST_LISTED} older ones` : shown.join(', ');
}

function missingState(marks: StatusRows['marks']): readonly (readonly [string, string])[] {
  const unseen = marks === null || marks.unseen.length === 0 ? '' : `; nothing was seen of ${marks.unseen.map(oneLine).join(', ')}`;
  if (marks === null || marks.objects === 0) return [['state', `none yet: nothing was ever applied${unseen}`]];
  const objects = `${count(marks.objects, 'object')} ${marks.objects === 1 ? 'bears' : 'bear'} the mark of the environment`;
  return [
    ['state', `none, but ${objects}: it was lost or moved away${unseen}`],
    ['lineage', marks.lineages.join(', ')],
    ['next', `${oneLine(marks.next ?? '')}   shows what an apply would record again`],
  ];
}

function lockText(lock: NonNullable<StatusRows['lock']>): string {
  const held = `${oneLine(lock.who)} on ${oneLine(lock.host)} (pid ${lock.pid}) since ${lock.since} for ${oneLine(lock.purpose)}, id ${lock.lockId}`;
  return lock.isHeld ? held : `free: its last holder, ${held}, is gone`;
}

/** `apply (initial)`, `rollback to #2 (composite)`. */
export function kindText(operation: Pick<OperationRows, 'kind' | 'to' | 'class'>): string {
  const kind = operation.to === undefined ? operation.kind : `${operation.kind} to #${operation.to}`;
  return operation.class === null ? kind : `${kind} (${operation.class})`;
}

export function operationText(operation: OperationRows): string {
  const ending = operation.outcome ?? 'open';
  const of = kindText(operation);
  const reason = operation.reason === null ? '' : `: ${oneLine(operation.reason)}`;
  return `${operation.id} ${oneLine(of)} ${ending} ${operation.endedAt ?? operation.startedAt} by ${oneLine(operation.actor)}${reason}`;
}
