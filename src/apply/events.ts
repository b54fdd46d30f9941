import type { Diagnostic } from '../core/diagnostic.ts';

/**
 * What a run tells while it goes on, format `accede.event/v1`: the one source of the live view, the plain lines and the NDJSON stream.
 * `time` is ISO 8601 in UTC, `sequence` counts from 1.
 */
export interface EventHead {
  readonly format: 'accede.event/v1';
  readonly time: string;
  readonly sequence: number;
  /** `op-12`; null before there is one. */
  readonly operation: string | null;
}

export type EventBody =
  | { readonly type: 'operation.started'; readonly plan: string; readonly class: string; readonly steps: number; readonly serial: number }
  | { readonly type: 'lock.acquired'; readonly lock: string; readonly fence: number; readonly tookOver: string | null }
  | { readonly type: 'lock.waiting'; readonly holder: string; readonly since: string; readonly purpose: string }
  | { readonly type: 'guard.checked'; readonly name: string; readonly ok: boolean }
  | { readonly type: 'stage.started' | 'stage.done'; readonly stage: string; readonly steps: number }
  | { readonly type: 'step.intended'; readonly step: string; readonly address: string; readonly effect: string; readonly stage: string }
  | {
      readonly type: 'step.progress';
      readonly step: string;
      readonly address: string;
      readonly message: string;
      readonly figures: { readonly [name: string]: number };
    }
  | {
      readonly type: 'step.done';
      readonly step: string;
      readonly address: string;
      readonly effect: string;
      readonly seconds: number;
      readonly figures: { readonly [name: string]: number };
    }
  | {
      readonly type: 'step.failed';
      readonly step: string;
      readonly address: string;
      readonly effect: string;
      readonly seconds: number;
      readonly diagnostic: Diagnostic;
      readonly lines: readonly string[];
    }
  | {
      readonly type: 'step.unknown';
      readonly step: string;
      readonly address: string;
      readonly effect: string;
      readonly diagnostic: Diagnostic;
    }
  | { readonly type: 'step.skipped'; readonly step: string; readonly address: string; readonly effect: string; readonly because: string }
  | { readonly type: 'compensation.started'; readonly steps: number }
  | {
      readonly type: 'step.compensated';
      readonly step: string;
      readonly address: string;
      readonly effect: string;
      /** False for a step that had only prepared or waited, so that there was nothing to take back. */
      readonly changed: boolean;
      readonly seconds: number;
    }
  | { readonly type: 'operation.done' | 'operation.failed'; readonly result: ApplyResult }
  /** `continues`: the operation that broke off and whose run is taken to its end. */
  | { readonly type: 'run.started'; readonly address: string; readonly serial: number; readonly continues: string | null }
  | { readonly type: 'run.done' | 'run.failed'; readonly result: RunResult };

export type AccedeEvent = EventHead & EventBody;

/** The account of a run against the plan's own steps: the three lists together hold every step id exactly once. */
export interface ApplyResult {
  readonly exitCode: number;
  /** `compensated`: it failed, and everything that it had done was taken back. */
  readonly outcome: 'done' | 'failed' | 'compensated' | 'interrupted' | 'stale' | 'refused' | 'busy' | 'spent';
  readonly plan: string;
  readonly class: string;
  readonly serial: number | null;
  readonly steps: { readonly done: readonly string[]; readonly notDone: readonly string[]; readonly unknown: readonly string[] };
  readonly seconds: number;
  readonly outputs: { readonly [name: string]: unknown };
  readonly diagnostics: readonly Diagnostic[];
}

/** The account of one run on request. */
export interface RunResult {
  /** Of the process: that of the program where it ran to its end and failed. */
  readonly exitCode: number;
  readonly outcome: 'done' | 'failed' | 'interrupted' | 'refused' | 'busy';
  readonly address: string;
  readonly serial: number | null;
  /** `new`: it ran for this; `continued`: a run that broke off was taken to its end; `earlier`: a completed run stands for it; `none`: it did not run. */
  readonly run: 'new' | 'continued' | 'earlier' | 'none';
  /** With which the program ended; null where that is not known, or it did not run. */
  readonly programCode: number | null;
  /** What it answered, secrets left out; null without an answer. */
  readonly answer: unknown;
  readonly seconds: number;
  readonly diagnostics: readonly Diagnostic[];
}
