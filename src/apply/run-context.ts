import type { Diagnostic } from '../core/diagnostic.ts';
import type { Sensitive } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import type { Session } from '../providers/contract.ts';
import type { Mutation } from '../state/contract.ts';
import type { StepRow } from '../state/model.ts';
import type { Exposures } from './exposures.ts';

/** What all changes of a run share. */
export interface RunContext {
  readonly environmentName: string;
  readonly environmentFolder: string;
  readonly lineage: string;
  readonly operation: string;
  readonly serial: number;
  readonly key: Buffer;
  /** Encrypts the secrets that are kept; undefined when none are. */
  readonly vault: Vault | undefined;
  /** Told each secret that an effect made. */
  readonly conceal?: (secrets: readonly Sensitive[]) => void;
  /** The key under which the plan's fingerprints were made; undefined when there was no state yet. */
  readonly planKey: Buffer | undefined;
  readonly exposures: Exposures;
  /** Fingerprints of the plan; missing where the identity was unknown. */
  readonly fingerprints: { readonly [address: string]: string | null };
  newId(): string;
  session(alias: string): Promise<Session>;
}

/** Why a step could not even begin: nothing was done. `moved` says that the live object is not the one that was planned for. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  readonly diagnostic: Diagnostic;
  readonly moved: boolean;
  constructor(diagnostic: Diagnostic, options: { readonly moved: boolean }) {
    super(diagnostic.detail);
    this.diagnostic = diagnostic;
    this.moved = options.moved;
  }
}

/** What an effect is about to do, for the journal. */
export interface Intent {
  readonly key: string;
  readonly id: string;
  readonly ref: string | null;
  readonly identity: string;
  readonly desired: StepRow['desired'];
  readonly preimage: StepRow['preimage'];
}

/** What a step that is done leaves. */
export interface Settled {
  readonly mutations: readonly Mutation[];
  readonly figures: { readonly [name: string]: number };
  /** The effect was done, and what it left is not what it should be. */
  readonly failure: Diagnostic | undefined;
  /** What the operator should know of an object that was made. */
  readonly notes: readonly Diagnostic[];
}
