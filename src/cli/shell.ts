import type { Clock, IdSource } from '../core/clock.ts';
import type { FailPoint } from '../core/fail-point.ts';
import type { Registry } from '../providers/contract.ts';
import type { Interrupts } from './interrupts.ts';
import type { Output } from './views/output.ts';
import type { Pipes } from './views/pipe.ts';

/** Where answers come from, as far as a command must know it. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** What a command gets of the process that it runs in. */
export interface Shell {
  readonly output: Output;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly folder: string;
  readonly stdin: Input;
  /** For bytes that are not ours: what programs wrote, as they wrote it. */
  readonly pipes: Pipes;
  readonly stderr: NodeJS.WriteStream;
  readonly interrupts: Interrupts;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly version: string;
  readonly registry: Registry;
  /** Told of every boundary that a run passes; absent outside of tests. */
  readonly faults?: FailPoint;
}

/** The words of a command line after commander has sorted them: operands in their order, flags by camel-case name. */
export interface RawInput {
  readonly operands: readonly (string | undefined)[];
  readonly options: { readonly [name: string]: string | boolean | readonly string[] | undefined };
  /** What stands behind `--`, for commands that take it; undefined where there is no `--`. */
  readonly rest?: readonly string[];
}
