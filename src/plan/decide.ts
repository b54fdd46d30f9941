import type { Action, Cause, ReplaceOrder } from '../core/action.ts';
import type { ResourceAddress } from '../core/address.ts';
import type { Facet } from '../core/facet.ts';
import type { AttributePath } from '../core/path.ts';
import { type Attributes, decodeValue } from '../core/value.ts';
import type { Found, Observed, ResourceType } from '../providers/contract.ts';
import { traitsAt } from '../providers/define.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { ResourceRow, StepRow } from '../state/model.ts';
import { type Difference, diffAttributes, ignoreChanges, touches } from './diff.ts';
import { alignedLive, type Masks, maskedLive, recordedAttributes } from './live.ts';
import { type Metadata, metadataChanges } from './metadata-changes.ts';
import type { PlannedChange } from './model.ts';

export type ChangedPath = PlannedChange['paths'][number];

/** What is known of one resource when its action is decided. */
export interface Situation extends Metadata {
  readonly type: ResourceType;
  readonly instance: ResourceInstance | undefined;
  readonly row: ResourceRow | undefined;
  readonly desired: Attributes | undefined;
  readonly observed: Observed | undefined;
  readonly occupant: Observed | undefined;
  readonly masks: Masks;
  readonly key: Buffer | undefined;
  /** Attributes that hold on to an object which this plan replaces, with that object's address. */
  readonly rebound: readonly { readonly attribute: string; readonly of: string }[];
  /** Why it is to be replaced whatever differs. */
  readonly forced: Cause | undefined;
  /** Steps of an operation that has not ended, about this address. */
  readonly unsettled: readonly StepRow[];
  readonly importing: boolean;
  /** Another address that the record gives the found object to. */
  readonly holder: ResourceAddress | undefined;
  /** Whether a creation broke off in the latest operation, so that its object may come yet. */
  readonly mayAppear: boolean;
  /** Whether the state holds no record of it, only a step that broke off. */
  readonly leftover: boolean;
  /** Whether the state holds no record of it, only its mark says that it is ours. */
  readonly byMark: boolean;
  /** Live id of what was made at this address and stands in nobody's place by now. */
  readonly elsewhere: string | undefined;
  /** Whether everything is to go, whatever the documents hold. */
  readonly destroy: boolean;
}

/** What will be done with one resource and why. `start`: it has to be started as a part of an update; `restart`: it runs and is stopped first. */
export interface Decision {
  readonly action: Action;
  readonly order: ReplaceOrder | null;
  readonly cause: Cause | null;
  readonly reason: string;
  readonly paths: readonly ChangedPath[];
  readonly before: Attributes | null;
  readonly after: Attributes | null;
  readonly start: boolean;
  readonly restart?: true;
  readonly refusal: { readonly code: string; readonly message: string; readonly next?: string } | undefined;
}

/** The action for one resource. Pure. */
export function decide(situation: Situation): Decision {
  const { observed, row, instance } = situation;
  if (observed?.kind === 'cannot-see') {
    return refuse(situation, observed.code, `It cannot be told what is there: ${observed.reason}`, 'cannot be seen');
  }
  if (situation.type.data) return decideData(situation);
  if (instance === undefined) return decideGone(situation);
  if (observed?.kind === 'found' && row === undefined && situation.holder !== undefined) return refuseHeld(situation, situation.holder);
  if (observed?.kind === 'found' && !isOurs(situation, observed)) return refuseForeign(situation, observed);
  if (situation.occupant?.kind === 'found' && situation.occupant.owner !== 'ours') return refuseForeign(situation, situation.occupant);
  if (observed?.kind !== 'found') {
    return row === undefined && situation.elsewhere !== undefined
      ? refuseElsewhere(situation, situation.elsewhere)
      : decideCreate(situation);
  }
  return row === undefined ? decideAdopt(situation, observed) : decideChange(situation, observed, row);
}

/**
 * Whether an object that was found is ours: by its mark or recorded id, because an import names it, or, for objects that can carry no mark,
 * because a run that broke off had just made exactly this.
 */
function isOurs(situation: Situation, found: Found): boolean {
  if (found.owner === 'ours' || (situation.importing && situation.row === undefined)) return true;
  if (found.owner !== 'nobody' || !situation.unsettled.some((step) => step.object === 'create')) return false;
  // Several runs may have broken off one after another, each in the middle of writing what it wanted.
  return situation.unsettled.some((step) => {
    if (step.desired === null) return false;
    const asMade = decodeValue(step.desired) as Attributes;
    const masks = { ...situation.masks, recorded: asMade };
    return compare(situation, alignedLive(situation.type, found, asMade, masks), asMade).length === 0;
  });
}

/**
 * The reason of a `noop` for what a killed run had just asked for and nobody wants any more: the server may go on with the request after its
 * caller is dead, so that the object comes when nobody looks. It is forgotten only when the next operation does not find it either.
 */
export const MAY_APPEAR = 'a run that broke off may still bring it about';

function decideGone(situation: Situation): Decision {
  const { observed, row } = situation;
  if (row === undefined) throw new Error('a resource that is neither desired nor recorded was to be decided');
  const { byMark } = situation;
  const before =
    byMark && observed?.kind === 'found' ? maskedLive(situation.type, observed, situation.masks) : recordedAttributes(situation.type, row);
  const base = { order: null, paths: [], before, after: null, start: false, refusal: undefined };
  const isThere = observed?.kind === 'found' && isOurs(situation, observed);
  if (!isThere && row.deposed.length === 0) {
    if (situation.mayAppear) return { ...base, before: null, action: 'noop', cause: null, reason: MAY_APPEAR };
    // Nothing is recorded, so there is nothing to forget: the next apply settles the step alone.
    if (situation.leftover) return { ...base, before: null, action: 'noop', cause: null, reason: 'a run that broke off left nothing here' };
  }
  if (observed?.kind !== 'found' && row.deposed.length === 0) {
    return { ...base, action: 'forget', cause: { kind: 'drift' }, reason: 'no longer in the documents, and gone already' };
  }
  if (observed?.kind === 'found' && !isOurs(situation, observed)) {
    return { ...base, action: 'forget', cause: { kind: 'drift' }, reason: 'no longer in the documents; what stands there now is not ours' };
  }
  const marked = byMark ? '; carries our mark, and the state does not know it' : '';
  if (situation.destroy)
    return { ...base, action: 'delete', cause: { kind: 'requested', of: 'destroy' }, reason: `asked for: destroy${marked}` };
  return { ...base, action: 'delete', cause: { kind: 'self' }, reason: `no longer in the documents${marked}` };
}

/** What is only read is either known now or once what it reads is there. */
function decideData(situation: Situation): Decision {
  const { observed, desired } = situation;
  const base = { order: null, paths: [], before: null, after: desired ?? null, start: false, refusal: undefined, cause: null };
  if (observed === undefined) return { ...base, action: 'read', reason: 'read once what it depends on is there' };
  if (observed.kind !== 'found') return refuse(situation, 'DATA_ABSENT', 'What it should read is not there.', 'there is nothing to read');
  if (observed.problem !== undefined)
    return refuse(situation, observed.problem.code, observed.problem.message, 'what was read breaks its condition');
  return { ...base, action: 'noop', reason: 'read' };
}

function decideCreate(situation: Situation): Decision {
  const { row, desired } = situation;
  const after = desired ?? {};
  const base = { order: null, paths: [], before: null, after, start: false, refusal: undefined, action: 'create' } as const;
  if (row === undefined) return { ...base, cause: { kind: 'self' }, reason: 'not there yet' };
  const interrupted = row.ref === null || situation.unsettled.some((step) => step.object === 'remove');
  if (interrupted) {
    const went = row.deposed.length > 0 ? 'was set aside' : 'was removed';
    return { ...base, cause: { kind: 'self' }, reason: `its predecessor ${went} and it has not come yet` };
  }
  return { ...base, cause: { kind: 'drift', of: 'missing' }, reason: 'recorded, but no longer there' };
}

function decideAdopt(situation: Situation, found: Found): Decision {
  const ignored = situation.instance?.lifecycle.ignoreChanges ?? [];
  const raw = situation.desired ?? {};
  const live = alignedLive(situation.type, found, raw, situation.masks);
  // All that is ignored would take over the whole object, and with it what no live object shows.
  const desired = ignored.length > 0 ? withWriteOnly(situation.type, ignoreChanges(raw, live, ignored), raw) : raw;
  const paths = compare(situation, live, desired).map((difference) => changedPath(situation, difference, 'change', live));
  const why = situation.importing
    ? 'imported'
    : situation.unsettled.length > 0
      ? 'made by a run that broke off'
      : found.id === undefined
        ? 'there already, and marked by nobody'
        : 'carries our mark, and the state does not know it';
  const base = {
    cause: { kind: situation.importing ? 'requested' : 'self', of: why },
    before: live,
    after: desired,
    paths,
    refusal: undefined,
  } as const;
  if (paths.some((path) => path.replaces))
    return { ...base, action: 'replace', order: orderOf(situation), reason: `${why}; ${differs(paths)}`, start: false };
  const start = found.dormant !== undefined || situation.unsettled.length > 0;
  const reason = [why, ...(paths.length > 0 ? [differs(paths)] : []), ...(found.dormant === undefined ? [] : [found.dormant.reason])].join(
    '; ',
  );
  return { ...base, action: 'adopt', order: null, reason, start };
}

function decideChange(situation: Situation, found: Found, row: ResourceRow): Decision {
  const { type, instance } = situation;
  const recorded = recordedAttributes(type, row);
  const ignored = instance?.lifecycle.ignoreChanges ?? [];
  const raw = situation.desired ?? {};
  const live = alignedLive(type, found, raw, situation.masks);
  const desired = ignored.length === 0 ? raw : ignoreChanges(raw, live, ignored);
  const ownChanges = compare(situation, recorded, raw).map((difference) => difference.path);
  const paths = [
    ...compare(situation, live, desired).map((difference) =>
      changedPath(
        situation,
        difference,
        difference.unknown ? 'follows' : touches(difference.path, ownChanges) ? 'change' : 'drift',
        recorded,
      ),
    ),
    ...writeOnlyChanges(situation, recorded, desired),
    ...situation.rebound.map(({ attribute }) => ({
      path: attribute,
      facet: traitsAt(type, attribute).facet,
      replaces: type.replaces?.(attribute, desired, recorded) ?? true,
      cause: 'follows' as const,
    })),
  ];
  const metadata = metadataChanges(situation, row, ignored === 'all' ? [] : paths);
  const all = [...deduplicated(paths), ...metadata].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const before = withWriteOnly(type, live, recorded);
  const base = { before, after: desired, paths: all, refusal: undefined, start: false, order: null };
  const replacing = all.filter((path) => path.replaces);
  if (situation.forced !== undefined || row.status === 'tainted' || replacing.length > 0) {
    const cause: Cause =
      situation.forced ?? (row.status === 'tainted' ? { kind: 'requested', of: 'tainted' } : causeOf(situation, replacing));
    const reason = replacing.length > 0 ? differs(replacing) : reasonOfCause(cause);
    return { ...base, action: 'replace', order: orderOf(situation), cause, reason };
  }
  const effective = all.filter((path) => !metadata.includes(path));
  const unrecorded = compare(situation, recorded, desired).filter(({ path }) => ignored !== 'all' && !touches(path, ignored));
  // What was changed already may still have to be started, awaited or committed.
  const isBrokenOff = unrecorded.length > 0 && situation.unsettled.some(({ part }) => part === 'apply');
  const unfinished =
    row.status === 'unfinished' ? 'it was made but not finished' : isBrokenOff ? 'its change broke off before it was finished' : undefined;
  // Whether something that was never finished runs may change from one moment to the next; the plan must not depend on it.
  const dormant = unfinished === undefined ? found.dormant?.reason : undefined;
  if (effective.length > 0) {
    const reason = [differs(effective), ...(dormant === undefined ? [] : [dormant])].join('; ');
    return { ...base, action: 'update', cause: causeOf(situation, effective), reason, start: (dormant ?? unfinished) !== undefined };
  }
  if (dormant !== undefined) return { ...base, action: 'start', cause: { kind: 'drift', of: 'stopped' }, reason: dormant, start: true };
  if (unfinished !== undefined)
    return { ...base, action: 'start', cause: { kind: 'drift', of: 'unfinished' }, reason: unfinished, start: true };
  if (situation.moved) return { ...base, action: 'move', cause: { kind: 'self' }, reason: 'moved in the documents' };
  if (metadata.length > 0) return { ...base, action: 'update', cause: { kind: 'self' }, reason: differs(metadata) };
  if (unrecorded.length > 0) {
    const taken = unrecorded.map((difference) => changedPath(situation, difference, 'change', recorded));
    return {
      ...base,
      action: 'adopt',
      cause: { kind: 'self' },
      paths: taken,
      reason: `already live as the documents have it: ${taken.map((path) => path.path).join(', ')}`,
    };
  }
  if (row.deposed.length > 0) return { ...base, action: 'update', cause: { kind: 'self' }, reason: 'a predecessor is left to remove' };
  return { ...base, action: 'noop', cause: null, reason: 'nothing differs' };
}

function compare(situation: Situation, before: Attributes, after: Attributes): readonly Difference[] {
  const skip = (name: string) => situation.type.traits.get(name)?.writeOnly === true;
  return diffAttributes(situation.type, before, after, { key: situation.key, skip });
}

/** What is live, with what cannot be read back as the record has it: compared with nothing, each of these would look new. */
function withWriteOnly(type: ResourceType, live: Attributes, recorded: Attributes): Attributes {
  const kept = Object.keys(recorded).filter((name) => type.traits.get(name)?.writeOnly === true && live[name] === undefined);
  return kept.length === 0 ? live : { ...live, ...Object.fromEntries(kept.map((name) => [name, recorded[name] ?? null])) };
}

/** What the live object never shows is compared with the record. */
function writeOnlyChanges(situation: Situation, recorded: Attributes, desired: Attributes): readonly ChangedPath[] {
  const skip = (name: string) => situation.type.traits.get(name)?.writeOnly !== true;
  return diffAttributes(situation.type, recorded, desired, { key: situation.key, skip }).map((difference) =>
    changedPath(situation, difference, 'change', recorded),
  );
}

function changedPath(situation: Situation, difference: Difference, cause: ChangedPath['cause'], before: Attributes): ChangedPath {
  const { type, desired } = situation;
  const traits = traitsAt(type, difference.path);
  const replaces = type.replaces?.(difference.path, desired ?? {}, before) ?? traits.immutable;
  return { path: difference.path, facet: traits.facet, replaces, cause };
}

function deduplicated(paths: readonly ChangedPath[]): readonly ChangedPath[] {
  const byPath = new Map<AttributePath, ChangedPath>();
  for (const path of paths) {
    const other = byPath.get(path.path);
    byPath.set(path.path, other === undefined ? path : { ...other, replaces: other.replaces || path.replaces });
  }
  return [...byPath.values()];
}

function causeOf(situation: Situation, paths: readonly ChangedPath[]): Cause {
  if (paths.some((path) => path.cause === 'change')) return { kind: 'self' };
  const follows = paths.find((path) => path.cause === 'follows');
  if (follows === undefined) return { kind: 'drift', of: 'changed' };
  const of = situation.rebound.find((bound) => bound.attribute === follows.path)?.of;
  return of === undefined ? { kind: 'follows' } : { kind: 'follows', of };
}

function reasonOfCause(cause: Cause): string {
  switch (cause.kind) {
    case 'requested':
      return `asked for: ${cause.of ?? ''}`;
    case 'follows':
      return `follows ${cause.of ?? 'what it refers to'}`;
    case 'drift':
      return 'the live object differs';
    case 'self':
      return 'its document differs';
  }
  return cause.kind satisfies never;
}

/** `image.digest differs`; more than three are counted. */
function differs(paths: readonly ChangedPath[]): string {
  const names = paths.map((path) => path.path);
  const shown = names.slice(0, 3).join(', ');
  const rest = names.length > 3 ? ` and ${names.length - 3} more` : '';
  return `${shown}${rest} ${names.length === 1 ? 'differs' : 'differ'}`;
}

function orderOf(situation: Situation): ReplaceOrder {
  return situation.instance?.lifecycle.createBeforeDestroy === true ? 'create-first' : 'destroy-first';
}

function refuse(situation: Situation, code: string, message: string, reason: string, next?: string): Decision {
  const before = situation.row === undefined ? null : recordedAttributes(situation.type, situation.row);
  return {
    action: 'refuse',
    order: null,
    cause: null,
    reason,
    paths: [],
    before,
    after: situation.desired ?? null,
    start: false,
    refusal: { code, message, ...(next === undefined ? {} : { next }) },
  };
}

/** Recorded twice, an object would be removed under one address while the other still needs it. */
function refuseHeld(situation: Situation, holder: ResourceAddress): Decision {
  const address = situation.instance?.address ?? '';
  return refuse(
    situation,
    'ALREADY_RECORDED',
    `The object is recorded as ${holder}. One object has one address: move that one here with a \`moved\` entry or accede state mv, or name another object.`,
    'what is in its place is recorded under another address',
    `accede state mv '${holder}' '${address}'`,
  );
}

/** A second one beside it would be one too many: both would want the same ports and write to the same data. */
function refuseElsewhere(situation: Situation, ref: string): Decision {
  const address = situation.instance?.address ?? '';
  return refuse(
    situation,
    'MARKED_ELSEWHERE',
    `What was made as ${address} carries our mark, but it does not stand where the documents put it: it is ${ref}. Take it over, and the plan after that changes it as the documents say; or remove it by hand, and a new one is made.`,
    'what was made at this address stands elsewhere',
    `accede import '${address}' ${ref}`,
  );
}

function refuseForeign(situation: Situation, found: Found): Decision {
  const whose = found.owner === 'other' ? 'it bears the mark of another environment or state' : 'it does not bear our mark';
  const address = situation.instance?.address ?? situation.row?.address ?? '';
  return refuse(
    situation,
    situation.type.foreignCode,
    `An object is there already and is not ours: ${whose}. It stays as it is. Rename yours, remove that one by hand, or take it over.`,
    'something that is not ours is in its place',
    found.owner === 'nobody' ? `accede import '${address}' ${found.ref}` : undefined,
  );
}

/** The facets of a change, sorted, without doubles. */
export function facetsOf(paths: readonly ChangedPath[]): readonly Facet[] {
  return [...new Set(paths.map((path) => path.facet))].sort();
}
