import type { ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Sensitive } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import type { Observed, Registry } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { Snapshot } from '../state/model.ts';
import type { MarkedObject } from './marks.ts';
import type { PlanOptions } from './model.ts';

/** Everything that a plan is made from. The same inputs give the same plan, byte for byte. */
export interface PlanInputs {
  readonly environment: Environment;
  readonly registry: Registry;
  /** Undefined while there is no state. */
  readonly snapshot: Snapshot | undefined;
  /**
   * Whether nothing was ever in force by this state: there is none, or no whole apply of it has come to its end. Then it may stand for one that
   * was lost, and what bears our mark counts though it is not recorded.
   */
  readonly beginning: boolean;
  /** What the state keeps encrypted; absent when it keeps nothing. */
  readonly opened?: OpenedVault | undefined;
  readonly world: World;
  /** The open operation that is taken back first. Then `snapshot` and `world` are as they will be after that. */
  readonly backsOut?: BackOut | undefined;
  readonly options: PlanOptions;
  /** Version of the engine. */
  readonly version: string;
  readonly commit: string | null;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds for which the plan may be applied. */
  readonly maxAge: number;
}

/** The secrets that a state keeps, and what opens them. */
export interface OpenedVault {
  readonly vault: Vault;
  readonly secrets: readonly Sensitive[];
}

/** What a plan takes back before it does anything of its own. */
export interface BackOut {
  /** `op-12`. */
  readonly operation: string;
  /** Ids of the steps that are taken back, what came last first. */
  readonly steps: readonly string[];
  /** What those steps touched: it is planned as it will be, not as it stands now. */
  readonly addresses: ReadonlySet<ResourceAddress>;
}

/** What was read of the live world. */
export interface World {
  /** By address in the documents, or for what the documents do not hold by recorded address. Missing where the identity was not known yet. */
  readonly observations: ReadonlyMap<ResourceAddress, Observed>;
  /** What stands at the new identity of a recorded resource whose identity changes. */
  readonly occupants: ReadonlyMap<ResourceAddress, Observed>;
  /** What each provider block that could be opened speaks to, by alias. */
  readonly versions: ReadonlyMap<string, { readonly [name: string]: string }>;
  /** Why a provider block could not be opened, by alias. */
  readonly unreachable: ReadonlyMap<string, readonly Diagnostic[]>;
  /** While the state begins: what bears a mark of this environment, without a state of whatever lineage. Sorted by our id, none twice. */
  readonly marked: readonly MarkedObject[];
  /** While the state begins: why the marked objects of a provider block cannot be listed, by alias. */
  readonly unlisted: ReadonlyMap<string, string>;
}

export const EMPTY_WORLD: World = {
  observations: new Map(),
  occupants: new Map(),
  versions: new Map(),
  unreachable: new Map(),
  marked: [],
  unlisted: new Map(),
};

export const DEFAULT_OPTIONS: PlanOptions = {
  targets: [],
  excludes: [],
  replace: [],
  destroy: false,
  refreshOnly: false,
  refresh: true,
  refreshTags: false,
  skipSecrets: false,
  keepProtected: false,
  includeProtected: false,
  recover: false,
};
