import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ProviderError, type ProviderErrorCode, type Run } from '../providers/contract.ts';
import { faultOf } from './fault.ts';

/** How much of each of a program's two outputs is kept. */
export const OUTPUT_LIMIT = 1024 * 1024;

/** Milliseconds for which outputs are read on after the program itself has ended. */
const LINGERING = 1000;

export interface ProgramOptions {
  readonly environment: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
  readonly input?: Uint8Array;
  /** Where it runs; where this process does when it is absent. */
  readonly folder?: string;
  /** What an end by timeout or signal means: a program that only looked has not happened, another one may have. */
  readonly endedEarly: ProviderErrorCode;
}

/**
 * Runs a program without a shell, in a process group of its own, and answers its exit code (128 and the signal's number when a signal ended
 * it) and the first mebibyte of its outputs. Throws `ProviderError`: NOT_FOUND or FORBIDDEN when it cannot start, `endedEarly` when the
 * timeout passes or the signal aborts; the whole group is dead then. What outlives the program and holds on to its outputs is ended too. Messages name the program alone, never its arguments or input.
 */
export function runProgram(argv: readonly [string, ...string[]], options: ProgramOptions): Promise<Run> {
  const [program, ...rest] = argv;
  return new Promise((resolve, reject) => {
    if (options.signal.aborted) {
      reject(new ProviderError('OTHER', `${program} was not started: the run was stopped.`));
      return;
    }
    const child = spawn(program, rest, {
      env: { ...options.environment },
      ...(options.folder === undefined ? {} : { cwd: options.folder }),
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      detached: true,
      windowsHide: true,
    });
    let ended: ProviderError | undefined;
    const end = (why: string) => {
      ended ??= new ProviderError(options.endedEarly, `${program} ${why} and was ended.`);
      killGroup(child.pid);
    };
    const timer = setTimeout(() => end(`did not finish within ${options.timeout} ms`), options.timeout);
    const onAbort = () => end('was still at work when the run was stopped');
    options.signal.addEventListener('abort', onAbort, { once: true });
    let lingering: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(lingering);
      options.signal.removeEventListener('abort', onAbort);
    };
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    child.on('error', (error) => {
      settle();
      reject(faultOf(error, `${program} could not be started`) as Error);
    });
    // What the program left behind may hold its outputs open for ever, also out of reach in a group of its own: they are not waited for.
    child.on('exit', () => {
      lingering = setTimeout(() => {
        killGroup(child.pid);
        child.stdout.destroy();
        child.stderr.destroy();
      }, LINGERING);
    });
    child.on('close', (code, signal) => {
      settle();
      if (ended !== undefined) reject(ended);
      else resolve({ code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), stdout: stdout(), stderr: stderr() });
    });
    // A program that does not read its input closes the pipe; its exit code tells whether that was a failure.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input);
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    const room = OUTPUT_LIMIT - size;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    size += kept.length;
    chunks.push(kept);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group is gone already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
