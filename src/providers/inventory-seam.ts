import type { ResourceAddress, TypeName } from '../core/address.ts';
import type { Mark } from './contract.ts';

/** The part of the contract for what is found without being asked for by address: by its mark, or where a run broke off. */

/** A read that walks over what carries our mark, for orphans and a lost state. */
export interface Inventory {
  readonly type: TypeName;
  /** Where it was made, as its mark says; it may have moved since. */
  readonly address?: string;
  readonly id: string;
  readonly ref: string;
  readonly lineage: string;
  /** An earlier run left it beside the object: a predecessor that stepped aside, the container of a failed run. It is no address's object. */
  readonly left?: true;
}

/** Whose marks an inventory lists: those of one state, or without a lineage those of every state that this environment ever had. */
export type InventoryMark = Pick<Mark, 'environment'> & Partial<Pick<Mark, 'lineage'>>;

/** Where a run broke off in the middle of an effect. */
export interface Residue {
  readonly address: ResourceAddress;
  readonly type: TypeName;
  readonly mark: Mark;
  readonly identity: string;
  readonly ref: string | null;
}
