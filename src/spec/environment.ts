import type { ResourceAddress, TypeName } from '../core/address.ts';
import type { Bundle } from '../core/bundle.ts';
import type { Digest } from '../core/canonical.ts';
import type { SourceRange } from '../core/diagnostic.ts';
import type { Role } from '../core/facet.ts';
import type { Expression, ResourceReference, Template } from '../core/template.ts';
import type { Attributes, Plain, Sensitive } from '../core/value.ts';

/** The desired environment: every document merged, checked and located; only what reads other resources is still an expression. */
export interface Environment {
  readonly name: string;
  /** Absolute path of the environment's folder. */
  readonly folder: string;
  /** Absolute path of the Git work tree that holds it, or the folder itself. Nothing outside of it is ever read. */
  readonly workTree: string;
  /** Digest over the canonical merged documents and the content of every file that an expression or attribute read. File names and key order stand outside. */
  readonly sourceDigest: Digest;
  /** `trust`: the fingerprints of the keys that it may be signed with, sorted, and of the one that did; absent when the documents ask for no signature. */
  readonly release?: {
    readonly digest: Digest;
    readonly document: Plain;
    readonly trust?: { readonly keys: readonly string[]; readonly signer: string };
  };
  /** The effective variables by name, sorted. */
  readonly variables: Attributes;
  /** Each secret by name with its value wrapped; a bundle is one entry. */
  readonly secrets: ReadonlyMap<string, Sensitive>;
  readonly state: StateLocation;
  /** What the state keeps secrets encrypted with; absent when the documents name nothing. */
  readonly encryption?: StateEncryption;
  readonly providers: readonly ProviderBlock[];
  /** Enabled instances only, sorted by address. */
  readonly resources: readonly ResourceInstance[];
  readonly outputs: readonly OutputBlock[];
  readonly moved: readonly MovedBlock[];
  readonly removed: readonly RemovedBlock[];
  readonly imports: readonly ImportBlock[];
  /** The parsed `policy`, `hooks` and `quiesce` blocks in canonical form. */
  readonly policy: Attributes;
  readonly hooks: Attributes;
  readonly quiesce: Attributes;
  /** The resources as they would be with another release in place of its own; undefined where the documents do not go with that. */
  resourcesUnder?(release: Plain): readonly ResourceInstance[] | undefined;
  /**
   * Everything that it was made of, so that it can be loaded again; undefined when that is more than is kept. Missing for an environment that
   * was made without documents.
   */
  bundle?(): Bundle | undefined;
}

export type StateLocation =
  | { readonly backend: 'sqlite' /** Absolute. */; readonly path: string }
  | {
      readonly backend: 'mysql';
      /** Undefined when a secret that it is made of was not read. */
      readonly server: StateServer | undefined;
      readonly prefix: string;
    };

/** A database server that keeps the state. */
export interface StateServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: Sensitive;
  readonly database: string;
  /** Absolute paths of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string; readonly serverName?: string };
  /** The place in words for messages; nothing of a secret is in it. */
  readonly place: string;
}

/** The key of the secrets that a state keeps. A passphrase that was not read is sealed. */
export type StateEncryption =
  | { readonly kind: 'key-file' /** Absolute. */; readonly path: string }
  | { readonly kind: 'passphrase'; readonly passphrase: Sensitive };

/** One provider configuration. A provider that is used without a block gets an implied one with an empty configuration. */
export interface ProviderBlock {
  /** `local`, or with an alias `local:edge-1`. */
  readonly alias: string;
  /** `local`. */
  readonly provider: string;
  readonly config: Attributes;
  /** Absolute folder of the document that holds the block: what its relative paths are relative to. */
  readonly folder: string;
  readonly source?: SourceRange;
}

export interface ResourceInstance {
  readonly address: ResourceAddress;
  readonly type: TypeName;
  readonly name: string;
  readonly key?: string;
  /** The alias of its provider block. */
  readonly provider: string;
  readonly role: Role;
  /** A map template; its members are the type's own attributes, defaults merged in, common keys taken out. */
  readonly attributes: Template;
  /** What the attributes refer to, and `replace_triggered_by`; sorted, without doubles. Conditions are not in it. */
  readonly references: readonly ResourceReference[];
  readonly dependsOn: readonly Dependency[];
  readonly lifecycle: Lifecycle;
  readonly timeouts: Timeouts;
  /** Undefined without an `update` key: then instances do not wait for one another. */
  readonly update: Update | undefined;
  /** As it is written; empty where absent. */
  readonly commitAfter: readonly string[];
  /** Absolute folder of its document: what its relative paths are relative to. */
  readonly folder: string;
  /** Where the block begins. */
  readonly source: SourceRange;
  /** Where an attribute stands, or its nearest parent that is written. */
  locate(path: readonly (string | number)[]): SourceRange;
}

export interface Dependency {
  /** The address of a resource; without an instance key it means all instances. */
  readonly address: string;
  readonly restart: boolean;
}

export interface Lifecycle {
  /** Undefined leaves it to the type and the policy. */
  readonly preventDestroy: boolean | undefined;
  /** Attribute paths, or everything. */
  readonly ignoreChanges: readonly string[] | 'all';
  readonly createBeforeDestroy: boolean;
  readonly replaceTriggeredBy: readonly ResourceReference[];
  readonly preconditions: readonly Condition[];
  readonly postconditions: readonly Condition[];
  readonly data?: 'copied' | 'empty';
  readonly reversible?: boolean;
}

export interface Condition {
  readonly that: Expression;
  readonly message: string;
}

/** Milliseconds. */
export interface Timeouts {
  readonly create?: number;
  readonly replace?: number;
  readonly remove?: number;
  readonly ready?: number;
}

/** How the instances of one `for_each` take turns when they are replaced or restarted. Times in milliseconds. */
export interface Update {
  /** How many of them at once. */
  readonly batch: number;
  /** What passes between two batches. */
  readonly pause: number;
  /** How long a predecessor goes on after everything has gone over to its successor. Only where the successor comes first. */
  readonly drain: number;
  readonly order: UpdateOrder;
}

/** `start-first` makes the successor before the predecessor goes: the replace order create-first. */
export type UpdateOrder = 'stop-first' | 'start-first';

export interface OutputBlock {
  readonly name: string;
  readonly value: Template;
  readonly description?: string;
  readonly source: SourceRange;
}

/** `from` and `to` are addresses, with or without instance key. A `key` move has been spelled out into one entry per type. */
export interface MovedBlock {
  readonly from: string;
  readonly to: string;
  readonly source: SourceRange;
}

/** Forgets or deletes what the documents no longer hold. */
export interface RemovedBlock {
  readonly address: string;
  readonly destroy: boolean;
  readonly source: SourceRange;
}

export interface ImportBlock {
  readonly address: ResourceAddress;
  readonly id: string;
  readonly source: SourceRange;
}
