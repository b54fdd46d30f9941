import type { Clock, IdSource } from '../core/clock.ts';
import type { FailPoint } from '../core/fail-point.ts';

export interface FileStatus {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  /** Permission bits alone. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly links: number;
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of the machine; number and start together name it, since numbers are used again. */
export interface RunningProcess {
  readonly pid: number;
  /** The path by which it was asked for. */
  readonly executable: string;
  readonly started: string;
}

/** The files and programs of the machine on which things happen, for reading. Paths are absolute. */
export interface ReadHost {
  /** `local`, or `ssh://user@name`. */
  readonly name: string;
  /** The environment that its programs get: where they are looked for, the home folder, where other tools keep their settings. */
  readonly variables: { readonly [name: string]: string };
  /** Undefined when there is nothing. Does not follow a symbolic link at the end of the path. */
  status(path: string): Promise<FileStatus | undefined>;
  /** The whole file; a symbolic link at the end of the path and a file over `limit` bytes are errors. */
  readFile(path: string, options: { readonly limit: number }): Promise<Uint8Array>;
  list(path: string): Promise<readonly string[]>;
  /** Runs a program that only looks: argv without a shell, output capped. */
  inspect(
    argv: readonly [string, ...string[]],
    options: { readonly signal: AbortSignal; readonly timeout: number; readonly input?: Uint8Array },
  ): Promise<Run>;
  /**
   * The processes of these executables, given by absolute path, this one left out. Throws `ProviderError` when any process of the machine cannot
   * be looked at: a list with holes proves nothing.
   */
  processesOf(executables: readonly string[]): Promise<readonly RunningProcess[]>;
  userId(name: string): Promise<number | undefined>;
  groupId(name: string): Promise<number | undefined>;
}

export interface Host extends ReadHost {
  /**
   * Puts a file in place in one step: temporary file with its final mode and owner beside it (named from `key`, so that a dead run's can be
   * told), write, fsync, rename, fsync of the folder. Never follows a link at the end of the path. Nothing is left behind on failure.
   */
  writeFile(
    path: string,
    content: Uint8Array,
    options: { readonly mode: number; readonly uid?: number; readonly gid?: number; readonly key: string },
  ): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  setOwner(path: string, uid: number, gid: number): Promise<void>;
  makeFolder(path: string, options: { readonly mode: number }): Promise<void>;
  /** Removes what a dead `writeFile` of that key left beside the path, and leaves the path itself alone. */
  removeResidue(path: string, options: { readonly key: string }): Promise<void>;
  /** Absent already is no error. With `key`, what a dead `writeFile` of that key left beside it goes as well. */
  removeFile(path: string, options?: { readonly key: string }): Promise<void>;
  removeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Runs a program. `environment` is added to what programs get; `folder` is where it runs. */
  run(
    argv: readonly [string, ...string[]],
    options: {
      readonly signal: AbortSignal;
      readonly timeout: number;
      readonly input?: Uint8Array;
      readonly environment?: { readonly [name: string]: string };
      readonly folder?: string;
    },
  ): Promise<Run>;
  /** Signals a process; one that is gone is no error. */
  signalProcess(process: RunningProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** What a read gets. */
export interface ReadIo {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly host: ReadHost;
}

/** What an effect gets. */
export interface EffectIo extends ReadIo {
  readonly ids: IdSource;
  readonly host: Host;
  /** Told of every request that may change a target, from `open` on; absent outside of tests. */
  readonly faults?: FailPoint;
  /** Progress for the live view: `tries 3`, `bytes 1048576`. */
  progress(message: string, figures?: { readonly [name: string]: number }): void;
}
