import type { ClassName } from '../../core/successor-class.ts';
import { type ClassRow, MASKED_CLASSES } from './classes.ts';
import { admits, entryAdmits, isRider, type PathChange } from './mask.ts';

/** How changes that no class covers are taken: what is in force of `policy.succession` and `policy.allow`. */
export interface SuccessionPolicy {
  readonly mode: 'permissive' | 'strict';
  /** Null when every class is allowed. */
  readonly allow: readonly string[] | null;
}

/** A class that was not taken, and what it does not admit. */
export interface Rejected {
  readonly class: ClassName;
  readonly uncovered: readonly string[];
  readonly reason: string;
}

/** What the masks say of a set of changes. */
export interface Match {
  /** `refuse` when no class may cover them. */
  readonly class: ClassName;
  /** Why, where it is `refuse`. */
  readonly refusal: { readonly code: string; readonly message: string; readonly paths: readonly string[] } | null;
  /** The class that the masks chose, also where it is refused; null when none admits everything. */
  readonly chosen: ClassName | null;
  /** The nearest classes that were tried before and do not admit everything, the nearest first. */
  readonly rejected: readonly Rejected[];
}

const MOST_REJECTED = 2;

/** The changes that a row does not admit. */
export function uncoveredBy(row: ClassRow, changes: readonly PathChange[]): readonly PathChange[] {
  return changes.filter((change) => !admits(row.mask, change) || row.without?.some((entry) => entryAdmits(entry, change)) === true);
}

/** Whether a row admits every change, and where it is about certain ones, one of these is among them. */
export function covers(row: ClassRow, changes: readonly PathChange[]): boolean {
  if (uncoveredBy(row, changes).length > 0) return false;
  const { needs } = row;
  return needs === undefined || changes.some((change) => needs.some((entry) => entryAdmits(entry, change)));
}

/**
 * The class of a set of changes that is not empty. Pure: masks alone choose, the first row that covers everything in the fixed order. The
 * order of the changes does not matter.
 */
export function matchClass(changes: readonly PathChange[], policy: SuccessionPolicy): Match {
  const row = MASKED_CLASSES.find((candidate) => covers(candidate, changes) && isOpenTo(candidate, policy));
  const rejected = nearest(changes, row);
  if (row === undefined) return { class: 'refuse', refusal: uncovered(changes, policy), chosen: null, rejected };
  if (row.name === 'replacement' && policy.mode === 'strict' && policy.allow?.includes('replacement') !== true) {
    return { class: 'refuse', refusal: replacementRefusal(changes), chosen: row.name, rejected };
  }
  return { class: row.name, refusal: null, chosen: row.name, rejected };
}

/** `composite` is open to permissive policies and to those that name it; everything else the masks decide. */
function isOpenTo(row: ClassRow, policy: SuccessionPolicy): boolean {
  return row.name !== 'composite' || policy.mode === 'permissive' || policy.allow?.includes('composite') === true;
}

/** The rows that were tried before the one that was taken and do not admit everything, by how little they do not admit. */
function nearest(changes: readonly PathChange[], taken: ClassRow | undefined): readonly Rejected[] {
  const end = taken === undefined ? MASKED_CLASSES.length : MASKED_CLASSES.indexOf(taken);
  return MASKED_CLASSES.slice(0, end)
    .map((row, order) => ({ row, order, left: uncoveredBy(row, changes) }))
    .filter(({ left }) => left.length > 0)
    .sort((a, b) => a.left.length - b.left.length || b.order - a.order)
    .slice(0, MOST_REJECTED)
    .map(({ row, left }) => ({ class: row.name, uncovered: pathsOf(left), reason: 'it does not admit everything that differs' }));
}

function uncovered(changes: readonly PathChange[], policy: SuccessionPolicy): NonNullable<Match['refusal']> {
  const own = changes.filter((change) => !isRider(change));
  const identity = own.filter((change) => change.facet === 'identity' && change.action === 'changed');
  if (identity.length > 0) {
    const others = own.filter((change) => !identity.includes(change));
    return {
      code: 'IDENTITY_MIXED',
      message: `${listed(identity)} would become another one, or another’s, together with ${listed(others)}. Neither is done in one commit with the other: split the commit.`,
      paths: [...pathsOf(identity), ...pathsOf(others)],
    };
  }
  const how = policy.mode === 'strict' ? 'the policy in force is strict' : 'the policy in force does not name it';
  return {
    code: 'UNCLASSIFIED_FIELD',
    message: `No class admits all of ${listed(own)}, and ${how}. Split the commit, so that each part has a class of its own.`,
    paths: pathsOf(own),
  };
}

function replacementRefusal(changes: readonly PathChange[]): NonNullable<Match['refusal']> {
  const own = changes.filter((change) => !isRider(change));
  const identity = own.filter((change) => change.facet === 'identity');
  const others = own.filter((change) => change.facet !== 'identity');
  const beside = others.length === 0 ? '' : `, together with ${listed(others)}`;
  return {
    code: 'REPLACEMENT_NOT_ALLOWED',
    message: `${listed(identity)} would become another one, or another’s${beside}. The policy in force is strict, and replacement does not stand in its allow. Allow it in a commit of its own first, or take the change back.`,
    paths: [...pathsOf(identity), ...pathsOf(others)],
  };
}

function pathsOf(changes: readonly PathChange[]): readonly string[] {
  return [...new Set(changes.map((change) => change.path))].sort();
}

const MOST_LISTED = 12;

function listed(changes: readonly PathChange[]): string {
  const paths = pathsOf(changes);
  const shown = paths.slice(0, MOST_LISTED).join(', ');
  return paths.length > MOST_LISTED ? `${shown} and ${paths.length - MOST_LISTED} more` : shown;
}
