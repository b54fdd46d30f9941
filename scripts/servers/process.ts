import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A private server that a test started and must stop. */
export interface Server {
  /** Ends the server and waits until it is gone. May be called twice. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** Standard output and error are appended to this file. */
  readonly log: string;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** How long a server may take to end before it is killed. */
const STOP_MS = 20_000;

/**
 * A server's process: a child that is told to end when the process that started it dies, however that dies, so that no test leaves one behind.
 */
export class ServerProcess implements Server {
  readonly #child: ChildProcess;
  readonly #command: string;
  readonly #log: string;
  #failure: string | undefined;

  constructor(program: string, args: readonly string[], options: ProcessOptions) {
    this.#command = program;
    this.#log = options.log;
    const log = openSync(options.log, 'a', 0o600);
    try {
      this.#child = spawn('setpriv', ['--pdeathsig', 'TERM', program, ...args], {
        stdio: ['ignore', log, log],
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.environment === undefined ? {} : { env: { ...process.env, ...options.environment } }),
      });
    } finally {
      closeSync(log);
    }
    this.#child.on('error', (error) => {
      this.#failure = error.message;
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(this.#describe(this.#failure ?? 'could not be started'));
    return this.#child.pid;
  }

  /** True until the process has ended. */
  get running(): boolean {
    return this.#failure === undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Asks `ready` until it says true. Stops the process and throws with the last lines of its log when it ends first or when the deadline passes. */
  async waitUntil(ready: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.running) {
      if (await ready()) return;
      if (performance.now() > deadline) {
        await this.stop();
        throw new Error(this.#describe(`did not answer within ${timeoutMs} ms`));
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(this.#describe(this.#failure ?? `ended with ${this.#child.exitCode ?? this.#child.signalCode}`));
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Ends it as a crash would: at once, without a word. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.running) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill(signal);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(timer);
  }

  #describe(what: string): string {
    const lines = readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-20);
    return [`${this.#command} ${what}. The end of its log:`, ...lines].join('\n  ');
  }
}

/** A TCP port of 127.0.0.1 that nobody listens on, chosen by the kernel. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('the kernel gave no port');
  return address.port;
}

/** True when the URL answers with a status below 500. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.status < 500;
  } catch (error) {
    if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')) return false;
    throw error;
  }
}
