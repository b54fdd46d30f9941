import type { z } from 'zod';
import type { ReplaceOrder } from '../core/action.ts';
import type { ResourceAddress, TypeName } from '../core/address.ts';
import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import type { Facet, Role, Stage } from '../core/facet.ts';
import type { AttributePath } from '../core/path.ts';
import type { Attributes, Plain } from '../core/value.ts';
import type { EffectIo, ReadIo } from './host-seam.ts';
import type { ImageSource } from './image-seam.ts';
import type { Inventory, InventoryMark, Residue } from './inventory-seam.ts';
import type { Command, CommandEnd, LogOptions, OnRequest, Written } from './program-seam.ts';
import type { WriterControl, WriterReads } from './writers-seam.ts';

/**
 * What a provider is to the engine. A resource type has a pure half (`ResourceType`), which alone judges and does no I/O, and a handler,
 * which does I/O and judges nothing. A session without handlers that mutate is a type of its own, so that a plan cannot change anything.
 */

// ───────────────────────────── the pure half ─────────────────────────────

/** How two values of an attribute are compared. `set` ignores order; `keyedBy` pairs the members of a list by one of their members. */
export type Compare = 'exact' | 'set' | { readonly keyedBy: string };

/** What is said of one attribute, once, for validation, editor completion, reference docs, redaction, diff and classification. */
export interface Traits {
  readonly facet: Facet;
  readonly description: string;
  /** The whole attribute is a secret, wherever its value comes from. */
  readonly sensitive: boolean;
  /** The provider sets it; nobody may write it in the YAML. */
  readonly computed: boolean;
  /** A change of it needs a new object. */
  readonly immutable: boolean;
  /** The live object never shows it, so it is compared with the recorded fingerprint alone. */
  readonly writeOnly: boolean;
  /**
   * A secret that is needed again: the record keeps it encrypted beside its fingerprint. A computed one has no other source, so that nothing of
   * its type is made without a key (`state.encryption`); any other is needed to take a change back, and without a key the plan says that it is not kept.
   */
  readonly kept: boolean;
  /** It ties the object to the very object that it refers to: when that one is replaced, this attribute counts as changed. */
  readonly bound: boolean;
  /**
   * It names a file beside the document. The loader reads the file and hands `{ path, sha256, text }` (or `base64` in place of `text` when it
   * is not UTF-8) to `normalize` in place of the name; in a list each item.
   */
  readonly reads: boolean;
  readonly compare: Compare;
}

/** What the pure half may know beside the attributes. */
export interface TypeContext {
  readonly environment: string;
  readonly address: ResourceAddress;
  readonly name: string;
  readonly key?: string;
  /** Absolute folder of the document. */
  readonly folder: string;
  /** The provider block's configuration. */
  readonly config: Attributes;
}

/** A mistake across attributes that the schema cannot state. `path` places it in the YAML. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly path?: readonly (string | number)[];
  readonly expected?: string;
}

/** How an effect changes which live objects a resource has; all that the executor needs to keep the record right. */
export type ObjectChange =
  /** A new object comes to be: the record gets its id. */
  | 'create'
  /** The present object is brought to the desired attributes. */
  | 'update'
  /** The present object ceases to be. */
  | 'remove'
  /** The present object steps aside and becomes the predecessor. */
  | 'depose'
  /** The predecessor ceases to be. */
  | 'retire'
  /** The object stays what it is: started, awaited, signalled. */
  | 'keep';

/**
 * One thing that is done to the live world, journalled before and after. Effects of one change run in their order.
 * `part` places it in the graph: `prepare` (proving or fetching, touching nothing that serves) before everything else; `apply` after the `apply`
 * of everything needed; `commit` (making final what `apply` only activated) when everything that depends on it has converged and all other work is
 * done; `remove` (making room) after the `remove` of everything dependent; `retire` after the `apply` and `retire` of everything
 * dependent. A `prepare` effect sees only those attributes that are known by then.
 *
 * Steps of the stage preflight, and what they need, are all done before any other step begins; steps of the stage retire begin when all others
 * are done.
 */
export interface Effect {
  /** The provider's verb, unique inside of one change: `create`, `start`, `ready`, `stop`, `remove`. */
  readonly name: string;
  readonly part: 'prepare' | 'remove' | 'apply' | 'commit' | 'retire';
  readonly stage: Stage;
  readonly object: ObjectChange;
  readonly direction: EffectDirection;
  /** It only waits and touches nothing: it is broken off when the run is to stop. */
  readonly waits?: boolean;
  /** Milliseconds that the engine itself lets pass, between two batches or before a predecessor goes. No handler sees such an effect; providers leave it out. */
  readonly lasts?: number;
}

/**
 * What becomes of an effect when a later one fails. `back`: it is taken back. `forward`: it cannot be, so that from then on the run only goes
 * forward. `stays`: what it did stays (what a job wrote) and does not stand in the way of going back.
 */
export type EffectDirection = 'back' | 'forward' | 'stays';

/** A decided change, as far as a type needs it to name its effects. */
export interface Change {
  readonly action: 'create' | 'update' | 'replace' | 'start' | 'delete';
  /** For `start`: it runs, and has to be stopped first. Only for types that say `restarts`. */
  readonly restart?: true;
  readonly order: ReplaceOrder;
  /** What differs, for `update` and `replace`. */
  readonly paths: readonly AttributePath[];
  /** In normal form; absent for `delete`. Values may be unknown. */
  readonly desired?: Attributes;
  /** In normal form; absent for `create`. */
  readonly live?: Attributes;
  /** True when a predecessor of an earlier run is still there and has to be retired with this change. */
  readonly deposed: boolean;
}

/** Something that only one object can have at a time. */
export interface Rivalry {
  /** The attribute that says it. */
  readonly path: AttributePath;
  /** A whole sentence: `Two containers cannot publish port 8080 of the host.` */
  readonly message: string;
  /** What to write instead, as a whole sentence. */
  readonly advice: string;
}

export interface ResourceType {
  /** Stands in the state; renaming needs an alias. */
  readonly type: TypeName;
  readonly summary: string;
  /** Version of the stored normal form. */
  readonly schemaVersion: number;
  /** Of what the YAML holds. Validates and never transforms. Every member's metadata holds its traits. */
  readonly schema: z.ZodType;
  /** By path of the normal form; a path without an entry takes that of its nearest parent. */
  readonly traits: ReadonlyMap<AttributePath, Traits>;
  /** Paths of the normal form that hold a time in milliseconds, so that people are shown it as documents write it. */
  readonly durations?: readonly AttributePath[];
  readonly role: Role;
  /** Roles that `role:` may choose beside `role`. */
  readonly roles: readonly Role[];
  readonly stage: Stage;
  /** It plays the part of whatever refers to it; `role` is that of one that nothing refers to. */
  readonly roleOfUsers?: true;
  /** Objects of this type hold data and start protected. */
  readonly protected: boolean;
  /** Its objects bear our mark, so that they are found again when the state is lost. Absent where nothing can be written on an object. */
  readonly marks?: boolean;
  /** Its objects run, and can be stopped and started again (`depends_on` with `restart`). */
  readonly restarts?: boolean;
  /** Only read: nothing is made, nothing is recorded, it has no effects. It is read anew for every plan, by its desired attributes. */
  readonly data: boolean;
  /** A whole environment's `resources` block in YAML which uses this type, for the reference page; it is parsed by a test. */
  readonly example: string;
  /** Code of the refusal when the object is there and is not ours: `CONTAINER_FOREIGN`. */
  readonly foreignCode: string;

  /** What the schema cannot say. Leaves may be unknown or sensitive: those are not judged. */
  check?(attributes: Attributes, context: TypeContext): readonly Problem[];
  /** The normal form: defaults filled in, every spelling made one. Attributes that are absent are at the server's default. Unknown and sensitive leaves pass through. */
  normalize(attributes: Attributes, context: TypeContext): Attributes;
  /** The key in the live world, unique per provider block; undefined while it depends on an unknown value. Takes the normal form. */
  identity(desired: Attributes, context: TypeContext): string | undefined;
  /**
   * Computed attributes that are known before the object is (a name made from the address). Members may be `Unknown`. Takes the normal form, and
   * the computed attributes that are recorded, secrets sealed; undefined when nothing is.
   */
  foresee?(desired: Attributes, context: TypeContext, recorded?: Attributes): Attributes;
  /** Computed attributes that an update at these paths makes anew, so that they are unknown until it is done. None when absent. */
  renews?(paths: readonly AttributePath[]): readonly string[];
  /**
   * The live attributes in terms of the desired ones: what is equal in meaning becomes equal here (a value that image or server would give
   * anyway is dropped when `desired` does not name it). Values in `live` are in clear.
   */
  align?(desired: Attributes, live: Attributes): Attributes;
  /** Ordered effects of a change. */
  effects(change: Change): readonly Effect[];
  /** Whether a difference at this path needs a new object; undefined where the traits say it (`immutable`). Both in normal form. */
  replaces?(path: AttributePath, desired: Attributes, before: Attributes): boolean | undefined;
  /** How an object with these attributes is run by itself, when somebody asks for it; undefined when it is not. */
  onRequest?(attributes: Attributes): OnRequest | undefined;
  /** What its objects let somebody do beside. The session has a method for each. */
  readonly offers?: readonly ('logs' | 'exec')[];
  /**
   * What an object of the first normal form and one that was read like the second cannot both have at once: with any of it, a replacement that makes the new object before the old
   * one goes is refused. Leaves may be unknown or sensitive: those are not judged. Absent where two objects never stand in each other's way.
   */
  rivalries?(desired: Attributes, live: Attributes, role: Role): readonly Rivalry[];
  /** Brings attributes stored by an older `schemaVersion` to the present one. */
  upgrade?(stored: Attributes, from: number): Attributes;
}

// ───────────────────────────── the handler ─────────────────────────────

/** How objects are marked as ours. */
export interface Mark {
  readonly environment: string;
  /** 32 hexadecimal digits; all zeroes while there is no state and no mark that names one. */
  readonly lineage: string;
}

/** Which object is meant: looked for by `ref`, then by `id`, then by `identity`. */
export interface ObjectQuery {
  readonly address: ResourceAddress;
  readonly type: TypeName;
  readonly mark: Mark;
  /** The live id that was recorded: engine id, path. */
  readonly ref?: string;
  /** Our own id of the object, as it stands in its mark. */
  readonly id?: string;
  readonly identity?: string;
  /** What was recorded at the last apply, secrets sealed but for those that are kept. Types whose objects exist nowhere but in the state answer from it. */
  readonly recorded?: { readonly attributes: Attributes; readonly computed: Attributes };
  /**
   * For data types: the normal form of what is asked, in clear. For others, while nothing is recorded: what the documents want, as far as it is
   * known, secrets wrapped. It tells what an object that bears our mark was made with, where the object itself does not.
   */
  readonly desired?: Attributes;
  /** Asks also whether names that move (tags) mean something else by now than what was taken for them; the answer comes in `notes`. */
  readonly refreshTags?: boolean;
}

/** Three answers, never two: there, not there, and cannot see. */
export type Observed =
  | Found
  | { readonly kind: 'absent' }
  | { readonly kind: 'cannot-see'; readonly code: string; readonly reason: string };

export interface Found {
  readonly kind: 'found';
  /** `ours`: it carries our mark of this lineage, or its live id is the recorded one. `other`: somebody else's mark. `nobody`: no mark. */
  readonly owner: 'ours' | 'other' | 'nobody';
  readonly ref: string;
  /** Our id from the mark, where there is one. */
  readonly id?: string;
  /** In normal form, secrets in clear: the engine wraps them at once. */
  readonly attributes: Attributes;
  /** Computed attributes. */
  readonly computed: Attributes;
  /** Exists, but does not run although it should: the action is `start`. `reason` in words: `exited with code 1`. */
  readonly dormant?: { readonly reason: string };
  /** For data types: what was read breaks a condition that the documents set; the plan is refused. */
  readonly problem?: { readonly code: string; readonly message: string };
  /** What it holds, as live ids of its own provider: a plan that would remove or replace it is refused with this, unless all of that goes as well. */
  readonly holding?: { readonly code: string; readonly message: string; readonly refs: readonly string[] };
  /**
   * What the operator should know of it. No change comes from a note: the plan shows it as a warning. One that is `lasting` is true for as long as
   * the object is there: it is said where the object was made, and where a plan does something about it, and not by every plan.
   */
  readonly notes?: readonly { readonly code: string; readonly message: string; readonly lasting?: true }[];
}

/** What a handler gets to do one effect. Values are in clear and known. */
export interface Operation {
  readonly operation: string;
  /** Idempotency key: equal for every repetition of this effect of this operation. */
  readonly key: string;
  readonly effect: Effect;
  readonly change: Omit<Change, 'desired' | 'live'>;
  readonly address: ResourceAddress;
  readonly type: TypeName;
  readonly mark: Mark;
  /** Our id of the object that is made or changed. */
  readonly id: string;
  /** Live id of the object that the effect is about: the present one, or for `retire` the predecessor; undefined before `create` is done. */
  readonly ref?: string;
  /** Normal form; for `delete` what was recorded (secrets left out). */
  readonly desired: { readonly [name: string]: Plain };
  /** The same with each secret as its keyed fingerprint: what a digest may be made from that is shown or stored. */
  readonly sealed: { readonly [name: string]: Plain };
  /** Computed attributes as they were recorded before this operation, secrets that are kept in clear; absent when nothing was. */
  readonly computed?: { readonly [name: string]: Plain };
  readonly context: TypeContext;
  readonly timeouts: { readonly create?: number; readonly replace?: number; readonly remove?: number; readonly ready?: number };
  /** For an effect of a run on request: which run it is, what it is asked, in clear, and a keyed fingerprint of that. */
  readonly request?: { readonly id: string; readonly document?: Plain; readonly fingerprint: string };
}

/** What a handler gets to take one effect back: the same effect as it was done, and what was there before it. */
export interface Undo extends Omit<Operation, 'computed'> {
  /** Live id of the object that the effect left or was about; undefined when a creation did not get so far as to tell it. */
  readonly ref?: string;
  /** The object before the change as it was read, in normal form, secrets in clear where they are known; absent where there was none. */
  readonly before?: { readonly [name: string]: Plain };
  /** Names of attributes in `before` whose values are secrets that are not known any more. */
  readonly sealedBefore: readonly string[];
  /** Whether it existed and did not run although it should: then it is not started again. */
  readonly dormant?: boolean;
}

/** What a step leaves in the state. */
export interface Receipt {
  /** Live id after the effect. Needed from `create`; else the ref stays what it was unless it is given. */
  readonly ref?: string;
  /** Computed attributes that only the effect itself knows. */
  readonly computed?: Attributes;
  readonly figures?: { readonly [name: string]: number };
}

/** What plan gets: by type it cannot mutate. */
export interface ReadSession extends WriterReads {
  /** Versions of what it speaks to, for the plan's digest: `{ engine: '20.10.24', api: '1.41' }`. */
  readonly versions: { readonly [name: string]: string };
  read(query: ObjectQuery, io: ReadIo): Promise<Observed>;
  /** Everything of a type that carries our mark; nothing of a type whose objects carry none. Throws `ProviderError`. */
  inventory?(type: TypeName, mark: InventoryMark, io: ReadIo): Promise<readonly Inventory[]>;
  /** Turns what an operator writes after `import` into a query by `ref`; undefined when there is no such object. */
  resolve(type: TypeName, id: string, io: ReadIo): Promise<string | undefined>;
  /**
   * Hands over what the object's program wrote, for types that offer `logs`. `sink` is awaited. False when there is no object. Throws
   * `ProviderError`, also when `io.signal` is aborted.
   */
  logs?(query: ObjectQuery, options: LogOptions, sink: (written: Written) => Promise<void>, io: ReadIo): Promise<boolean>;
  close(): Promise<void>;
}

/** What apply gets. Every method is idempotent under `operation.key`; an effect whose after is found already is done. */
export interface Session extends ReadSession, WriterControl {
  perform(operation: Operation, io: EffectIo): Promise<Receipt>;
  /**
   * Takes back an effect whose direction is `back`, done or not: afterwards the object is as it was before, or gone where it was not there.
   * Idempotent; what is found as it was before is left alone. Absent where no effect can be taken back.
   */
  undo?(undo: Undo, io: EffectIo): Promise<void>;
  /** Removes what dead runs left beside the objects (temporary files). Called under the lock only, before the first effect; touches no object. */
  reconcile?(residue: readonly Residue[], io: EffectIo): Promise<void>;
  /**
   * Runs a command inside of the object, for types that offer `exec`, and waits for its end. Undefined when there is no object. Throws
   * `ProviderError`, also when `io.signal` is aborted: the command itself then goes on.
   */
  exec?(query: ObjectQuery, command: Command, sink: (written: Written) => Promise<void>, io: EffectIo): Promise<CommandEnd | undefined>;
}

export interface Provider extends ImageSource {
  readonly name: string;
  readonly summary: string;
  readonly config: z.ZodType;
  readonly types: readonly ResourceType[];
  /** Attribute values that stand for the provider block itself, `${provider.address}`. */
  readonly exposes: readonly string[];
  openReadOnly(config: Attributes, io: ReadIo): Promise<Outcome<ReadSession>>;
  open(config: Attributes, io: EffectIo): Promise<Outcome<Session>>;
}

/** All providers of a build, by name, and their types. Made at the composition root; the engine knows providers through it alone. */
export interface Registry {
  readonly providers: ReadonlyMap<string, Provider>;
  /** Sorted by name. */
  readonly types: readonly ResourceType[];
  /** The type and the provider that it belongs to. */
  find(type: string): { readonly type: ResourceType; readonly provider: Provider } | undefined;
}

/** Re-exported for providers, so that they need no other import for what they return. */
export type * from './host-seam.ts';
export type * from './inventory-seam.ts';
export type * from './program-seam.ts';
export { PROVIDER_ERROR_CODES, ProviderError, type ProviderErrorCode } from './provider-error.ts';
export type { Diagnostic, Outcome };
