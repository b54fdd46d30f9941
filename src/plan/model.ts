import type { Action, Cause, ReplaceOrder } from '../core/action.ts';
import type { ResourceAddress } from '../core/address.ts';
import type { Digest } from '../core/canonical.ts';
import type { SourceRange } from '../core/diagnostic.ts';
import type { Facet, Role, Stage } from '../core/facet.ts';
import type { AttributePath } from '../core/path.ts';
import type { Plain } from '../core/value.ts';

/**
 * The plan document, format `accede.plan/v1`: plain data in canonical form, without any secret. The digest covers everything but itself,
 * `createdAt`, `expiresAt`, `inputs.commit`, `inputs.folder` and every `source`.
 */
export interface PlanDocument {
  readonly format: 'accede.plan/v1';
  readonly digest: Digest;
  readonly environment: string;
  readonly engine: { readonly version: string };
  readonly inputs: {
    readonly sourceDigest: Digest;
    readonly releaseDigest: Digest | null;
    readonly commit: string | null;
    readonly folder: string;
    readonly variables: { readonly [name: string]: Plain };
    /** By alias: what each provider speaks to. */
    readonly providers: { readonly [alias: string]: { readonly [name: string]: string } };
    readonly options: PlanOptions;
  };
  readonly state: {
    /** Null while there is no state. */
    readonly lineage: string | null;
    /** Raised whenever the state is put back from a backup or moved, so that plans from before are stale. Null while there is no state. */
    readonly epoch: number | null;
    readonly serial: number;
    readonly digest: Digest;
    /** The lineage with which an apply begins the state that is not there: that of the marks which one that was lost has left. Null without marks. */
    readonly begins: string | null;
  };
  readonly succession: Succession;
  readonly applicable: boolean;
  /** Every resource that the plan knows, `noop` ones included, sorted by address. */
  readonly changes: readonly PlannedChange[];
  readonly steps: readonly PlannedStep[];
  /** Sorted by resource; resources whose instances are all done at once are not in it. */
  readonly rolling: readonly Rolling[];
  /** Fingerprint of every live object that the plan touches or relies on; null for one that is absent. */
  readonly fingerprints: { readonly [address: string]: string | null };
  readonly outageAddresses: readonly ResourceAddress[];
  readonly affected: readonly ResourceAddress[];
  readonly secretsChanged: readonly { readonly name: string; readonly addresses: readonly ResourceAddress[] }[];
  readonly drift: readonly Drift[];
  readonly outputs: readonly PlannedOutput[];
  readonly summary: Summary;
  readonly warnings: readonly PlanMessage[];
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** How the plan was asked for; apply plans again in the same way. */
export interface PlanOptions {
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  readonly replace: readonly string[];
  readonly destroy: boolean;
  readonly refreshOnly: boolean;
  readonly refresh: boolean;
  readonly refreshTags: boolean;
  readonly skipSecrets: boolean;
  readonly keepProtected: boolean;
  readonly includeProtected: boolean;
  /** Whether an operation that has not ended is ended by going on to what the documents hold, whatever it was about. */
  readonly recover: boolean;
}

export interface Succession {
  readonly class: string;
  /** The second part of a `supersede`; null else. */
  readonly then: string | null;
  /** The class that the changes have, also where the plan is refused or ends an open operation; null when no class admits them. */
  readonly chosen: string | null;
  /** The open operation that `supersede` and `revert` take back first, step by step; null else. */
  readonly backsOut: { readonly operation: string; readonly steps: readonly string[] } | null;
  /** One sentence: why this class. */
  readonly rule: string;
  readonly outage: string;
  readonly direction: string;
  readonly pointOfNoReturn: string | null;
  readonly stages: readonly Stage[];
  readonly changedPaths: readonly {
    readonly path: string;
    readonly role: Role;
    readonly facet: Facet;
    readonly action: 'changed' | 'added' | 'removed';
    readonly admittedBy: string | null;
  }[];
  readonly rejected: readonly { readonly class: string; readonly uncovered: readonly string[]; readonly reason: string }[];
  readonly guards: readonly { readonly name: string; readonly expected: string; readonly observed: string; readonly ok: boolean }[];
  readonly refusals: readonly Refusal[];
}

export interface Refusal {
  readonly code: string;
  /** Address, or address and path. */
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
  readonly observed?: string;
  readonly next?: string;
  readonly source?: SourceRange;
}

export interface PlannedChange {
  readonly address: ResourceAddress;
  readonly type: string;
  readonly provider: string;
  readonly role: Role;
  readonly action: Action;
  readonly replaceOrder: ReplaceOrder | null;
  readonly cause: Cause | null;
  /** In words: `image differs`, `not there yet`, `no longer in the documents`. */
  readonly reason: string;
  readonly facets: readonly Facet[];
  /** Which attributes differ between what is live and what is desired, each with its facet and what it demands. Sorted. */
  readonly paths: readonly {
    readonly path: AttributePath;
    readonly facet: Facet;
    readonly replaces: boolean;
    readonly cause: 'change' | 'drift' | 'follows';
  }[];
  /** Encoded normal form of what is (live in terms of desired), null when there is nothing. */
  readonly before: { readonly [name: string]: Plain } | null;
  /** Encoded normal form of what will be, null for a delete or forget. */
  readonly after: { readonly [name: string]: Plain } | null;
  readonly unknown: readonly AttributePath[];
  readonly sensitive: readonly AttributePath[];
  /** The address it had before a `moved`. */
  readonly movedFrom: ResourceAddress | null;
  /** The id that an `import` names. */
  readonly importId: string | null;
  readonly protected: boolean;
  /** For `update`, `replace` and `delete` of what is protected or blocked otherwise: the codes in succession.refusals. */
  readonly source: SourceRange | null;
}

export interface PlannedStep {
  /** `<address>:<effect>`; unique and stable. */
  readonly id: string;
  readonly address: ResourceAddress;
  readonly effect: string;
  /** In which it runs: that of its effect, or an earlier one into which it was pulled. */
  readonly stage: Stage;
  /** Place of the stage in the order of stages, 0 for preflight: all steps of one phase are done before any of the next begins. */
  readonly phase: number;
  /** Its own stage, and the step that waits for it and belongs to an earlier one; absent where it runs in its own stage. */
  readonly pulled?: { readonly from: Stage; readonly by: string };
  readonly after: readonly string[];
  /** `back` when it can be taken back, `forward` when not, `stays` when what it did stays and hinders nothing from being taken back. */
  readonly direction: 'back' | 'forward' | 'stays';
  /** How long a step lasts that only lets time pass; absent for every other step. */
  readonly seconds?: number;
}

/** Instances of one `for_each` that take turns: nothing of a batch is stopped or made before all of the batch before it is ready. */
export interface Rolling {
  /** `PROVIDER.TYPE.NAME`, without an instance key. */
  readonly resource: string;
  readonly batches: readonly {
    readonly addresses: readonly ResourceAddress[];
    /** Seconds that pass after it before the next one; 0 for the last. */
    readonly pause: number;
  }[];
}

export interface Drift {
  readonly address: ResourceAddress;
  /** `missing`, `stopped`, `changed`, `unfinished`, `foreign`. */
  readonly kind: 'missing' | 'stopped' | 'changed' | 'unfinished' | 'foreign';
  readonly paths: readonly { readonly path: AttributePath; readonly recorded: Plain; readonly live: Plain }[];
  /** What the plan does about it: `will start`, `will be created again`, `will be put back`, `recorded as it is`. */
  readonly answer: string;
  readonly reason: string;
}

export interface PlannedOutput {
  readonly name: string;
  /** Encoded; null when absent. */
  readonly before: Plain;
  readonly after: Plain;
  readonly changed: boolean;
  readonly unknown: boolean;
  readonly sensitive: boolean;
}

export interface Summary {
  readonly create: number;
  readonly update: number;
  readonly replace: number;
  readonly start: number;
  readonly delete: number;
  readonly adopt: number;
  readonly forget: number;
  readonly move: number;
  readonly noop: number;
  readonly refuse: number;
}

export interface PlanMessage {
  readonly code: string;
  readonly message: string;
  readonly address?: string;
}
