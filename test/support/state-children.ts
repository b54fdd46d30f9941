import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ChildOrder } from './state-child.ts';

const SCRIPT = fileURLToPath(new URL('./state-child.ts', import.meta.url));
const THREADS = fileURLToPath(new URL('./typescript-threads.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export type ChildAnswer = { readonly [name: string]: unknown };

/** A process of its own that works on a store. */
export class StateChild {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #answers: ChildAnswer[] = [];
  readonly #exited: Promise<number | null>;
  #errors = '';
  #wake: () => void = () => undefined;
  #ended = false;

  /** `wrap` is a command that runs the child in its own way; the child's own command line follows it. */
  constructor(order: ChildOrder, wrap: readonly string[] = []) {
    const [command, ...args] = [...wrap, process.execPath, '--import', 'tsx', '--import', THREADS, SCRIPT, JSON.stringify(order)];
    this.#process = spawn(command, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    createInterface({ input: this.#process.stdout })
      .on('line', (text) => {
        this.#answers.push(JSON.parse(text) as ChildAnswer);
        this.#wake();
      })
      .on('close', () => {
        this.#ended = true;
        this.#wake();
      });
    this.#exited = new Promise((resolve) => this.#process.once('exit', resolve));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get answers(): readonly ChildAnswer[] {
    return this.#answers;
  }

  /** The answer with that index, waited for. Throws with the child's own words when it ends before. */
  async answer(index: number): Promise<ChildAnswer> {
    for (;;) {
      const found = this.#answers[index];
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`the child ended before its answer ${index}: ${this.#errors}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  tell(text: string): void {
    this.#process.stdin.write(`${text}\n`);
  }

  /** Ends it in the middle of whatever it does. All that it had said is in `answers` then. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exit();
  }

  async exit(): Promise<number | null> {
    const code = await this.#exited;
    while (!this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return code;
  }
}
