import type { ResourceAddress } from '../../core/address.ts';
import { FACETS, type Facet, ROLES, type Role } from '../../core/facet.ts';

/** What happens to a place in the documents: its value differs, or a whole resource or entry comes or goes. */
export const CHANGE_ACTIONS = ['changed', 'added', 'removed'] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/** What only some masks admit although role and facet would not tell it: a reset counter, and a worker role that comes with the release's list. */
export type ChangeMark = 'reset' | 'release-role';

/** One place at which the candidate differs from the sealed predecessor. */
export interface PathChange {
  /** `<address>.<attribute>`, the address alone for a whole resource, or the place in another document: `release.services.api.image.digest`. */
  readonly path: string;
  readonly role: Role;
  /** A resource that comes or goes has the facet configuration. */
  readonly facet: Facet;
  readonly action: ChangeAction;
  readonly mark?: ChangeMark;
  /** The resource that it belongs to, where it is one's. */
  readonly address?: ResourceAddress;
}

/** A rectangle over (role, facet, action) that a class admits. */
export interface MaskEntry {
  readonly roles: ReadonlySet<Role>;
  readonly facets: ReadonlySet<Facet>;
  readonly actions: ReadonlySet<ChangeAction>;
  /** Only changes with this mark. */
  readonly only?: ChangeMark;
  /** All but changes with this mark. */
  readonly except?: ChangeMark;
}

export type Mask = readonly MaskEntry[];

export const ANY_ROLE: readonly Role[] = ROLES;

/** Implementation, configuration, tuning and content: what an ordinary change is made of. */
export const WORKING: readonly Facet[] = ['implementation', 'configuration', 'tuning', 'content'];

/** Changed values of these facets in these roles. */
export function changed(roles: readonly Role[], facets: readonly Facet[], mark: Pick<MaskEntry, 'only' | 'except'> = {}): MaskEntry {
  return { roles: new Set(roles), facets: new Set(facets), actions: new Set<ChangeAction>(['changed']), ...mark };
}

/** Whole resources or entries of these roles that come or go. */
export function whole(roles: readonly Role[], actions: readonly ('added' | 'removed')[], only?: ChangeMark): MaskEntry {
  return {
    roles: new Set(roles),
    facets: new Set(FACETS),
    actions: new Set<ChangeAction>(actions),
    ...(only === undefined ? {} : { only }),
  };
}

/** What rides with every class: what is for readers only, and what says who may do what. */
const RIDERS: Mask = [changed(ANY_ROLE, ['annotation', 'governance'])];

/** Whether a mask, or what rides with every class, admits a change. */
export function admits(mask: Mask, change: PathChange): boolean {
  return RIDERS.some((entry) => entryAdmits(entry, change)) || mask.some((entry) => entryAdmits(entry, change));
}

/** Whether one entry admits a change. */
export function entryAdmits(entry: MaskEntry, change: PathChange): boolean {
  return (
    entry.roles.has(change.role) &&
    entry.facets.has(change.facet) &&
    entry.actions.has(change.action) &&
    (entry.only === undefined || entry.only === change.mark) &&
    (entry.except === undefined || entry.except !== change.mark)
  );
}

/** Whether a change only rides along. */
export function isRider(change: PathChange): boolean {
  return RIDERS.some((entry) => entryAdmits(entry, change));
}
