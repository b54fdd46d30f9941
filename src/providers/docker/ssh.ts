import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, type Readable, type Writable } from 'node:stream';

/** How the SSH client is told where to go. */
export interface SshTarget {
  readonly user: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  /** What the client gets of the environment: where it is, and where it finds keys. */
  readonly environment: { readonly [name: string]: string };
}

/** Channels that may be open at one time, all of them inside of one connection. */
const MOST_CHANNELS = 4;
/** The connection outlives its last channel by this many seconds, and a run that was killed by no more. */
const LINGER_SECONDS = 30;
const FAREWELL_TIMEOUT = 5000;
const STDERR_LIMIT = 4096;

/** What the client's last words mean, as the `code` of the error. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/could not resolve hostname/i, 'ENOTFOUND'],
  [/connection refused/i, 'ECONNREFUSED'],
  [/no route to host/i, 'EHOSTUNREACH'],
  [/network is unreachable/i, 'ENETUNREACH'],
  [/timed out/i, 'ETIMEDOUT'],
  [/host key verification failed|remote host identification has changed/i, 'ssh-host-key'],
  [/connection closed by|connection reset by|kex_exchange_identification/i, 'ssh-closed'],
  [/permission denied \(/i, 'ssh-login'],
  [/docker: (?:command )?not found|docker: no such file/i, 'ssh-without-docker'],
  [/cannot connect to the docker daemon|failed to open the raw stream connection|dial unix/i, 'ssh-engine'],
];

/**
 * An agent whose sockets are channels of the OpenSSH client to `docker system dial-stdio` on the engine's machine. They share one connection,
 * so an SSH server that counts connections sees a single one. `destroy` ends channels and connection.
 */
export class SshAgent extends Agent {
  readonly #target: SshTarget;
  #folder: string | undefined;

  constructor(target: SshTarget) {
    super({ keepAlive: true, maxSockets: MOST_CHANNELS, maxTotalSockets: MOST_CHANNELS });
    this.#target = target;
  }

  override createConnection(): Duplex {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'accede-ssh-'));
    const child = spawn('ssh', [...this.#options(this.#folder), '-T', '--', this.#target.host, 'docker', 'system', 'dial-stdio'], {
      env: { ...this.#target.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return new SshChannel(child);
  }

  override destroy(): void {
    super.destroy();
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder === undefined) return;
    // Without a connection this fails, and then there is nothing to end.
    spawnSync('ssh', [...this.#options(folder), '-O', 'exit', '--', this.#target.host], {
      env: { ...this.#target.environment },
      stdio: 'ignore',
      timeout: FAREWELL_TIMEOUT,
    });
    rmSync(folder, { recursive: true, force: true });
  }

  #options(folder: string): readonly string[] {
    const { user, port } = this.#target;
    const settings = {
      BatchMode: 'yes',
      ConnectTimeout: '15',
      ControlMaster: 'auto',
      ControlPath: join(folder, '%C'),
      ControlPersist: String(LINGER_SECONDS),
      ServerAliveInterval: '15',
      ServerAliveCountMax: '3',
    };
    const named = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    return [...named, ...(user === undefined ? [] : ['-l', user]), ...(port === undefined ? [] : ['-p', String(port)])];
  }
}

/** One channel, with those methods of a socket that an agent calls. */
class SshChannel extends Duplex {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #hasAnswered = false;

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    super({ allowHalfOpen: false });
    this.#child = child;
    let words = '';
    child.stderr.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString('utf8')).slice(-STDERR_LIMIT);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      this.#hasAnswered = true;
      if (!this.push(chunk)) child.stdout.pause();
    });
    // What a write to an ended client meets is told by its exit.
    child.stdin.on('error', () => undefined);
    child.on('error', () => this.destroy(Object.assign(new Error('the SSH client did not start'), { code: 'ssh-missing' })));
    child.on('exit', (code) => {
      // The connection goes on in the background and holds this pipe open.
      child.stderr.destroy();
      if (this.destroyed) return;
      if (this.#hasAnswered && code === 0) this.push(null);
      else this.destroy(failure(this.#hasAnswered ? '' : words, this.#hasAnswered));
    });
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(chunk, () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#child.stdin.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    this.#child.kill('SIGTERM');
    done(error);
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    this.#child.ref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) (stream as { ref?(): void }).ref?.();
    return this;
  }

  unref(): this {
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) (stream as { unref?(): void }).unref?.();
    return this;
  }
}

function failure(words: string, hasAnswered: boolean): Error {
  const code = hasAnswered ? 'ECONNRESET' : (FAULTS.find(([pattern]) => pattern.test(words))?.[1] ?? 'ssh-ended');
  return Object.assign(new Error('the SSH client ended'), { code });
}
