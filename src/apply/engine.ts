import type { Clock, IdSource } from '../core/clock.ts';
import type { FailPoint } from '../core/fail-point.ts';
import type { Plain, Sensitive } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Host, Registry } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { StateStore } from '../state/contract.ts';
import type { AccedeEvent } from './events.ts';

/** What a run works with. Nothing in it is global: two contexts can live in one process. */
export interface EngineContext {
  readonly environment: Environment;
  readonly registry: Registry;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  /** Version of Accede, for the plan's digest. */
  readonly version: string;
  /** How many reads or steps may be under way at once. */
  readonly parallelism: number;
  /** Ends reads and waits. Effects under way are finished. */
  readonly signal: AbortSignal;
  /** Told of every boundary that the run passes; absent outside of tests. */
  readonly faults?: FailPoint;
  /** Told each secret that the state keeps or a run makes, so that no output shows it. */
  conceal?(secrets: readonly Sensitive[]): void;
}

/** What stands in a plan and outside of its digest. */
export interface PlanStamp {
  readonly commit: string | null;
  /** The environment's folder relative to the work tree's top, or as given. */
  readonly folder: string;
}

export interface ApplyRequest {
  /** The plan to carry out: exactly this one. The engine plans again under the lock and refuses when the digest differs. */
  readonly plan: PlanDocument;
  readonly stamp: PlanStamp;
  /** Who applies, for the lock and the journal: `user@host`. */
  readonly actor: string;
  readonly reason: string | null;
  /** Milliseconds to wait for a busy lock. */
  readonly lockTimeout: number;
  /** A plan that was spent and finished counts as done. */
  readonly ifDone: boolean;
  /** The serial whose environment the plan brings back; undefined for an environment from documents. */
  readonly rollbackTo?: number;
  /** Approvals of the plan beside those in the store. */
  readonly approvals?: readonly Plain[];
  /** Whether open freeze windows are broken, which takes one approval more. */
  readonly breakFreeze?: boolean;
  /** Whether the run ends an operation that was left open. */
  readonly isRecovery?: boolean;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP: effects under way are finished and recorded, nothing new begins. */
  readonly stop: AbortSignal;
  emit(event: AccedeEvent): void;
}
