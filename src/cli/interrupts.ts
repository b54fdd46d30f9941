import { sharedAbort } from '../core/deadline.ts';

/** The reason with which reads and waits end when the operator interrupts. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  constructor(signal: string) {
    super(`interrupted by ${signal}`);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * What SIGINT, SIGTERM and SIGHUP do. While a command only reads, the first one ends its reads and a second one ends the process. Once
 * effects may be under way they are finished and recorded; no number of signals cuts them off.
 */
export class Interrupts {
  readonly #reads = sharedAbort();
  readonly #stop = sharedAbort();
  readonly #say: (text: string) => void;
  readonly #leave: () => void;
  #phase: 'reading' | 'applying' | 'taking back' = 'reading';
  #count = 0;

  constructor(options: { readonly say: (text: string) => void; readonly leave: () => void }) {
    this.#say = options.say;
    this.#leave = options.leave;
  }

  /** Ends reads and waits. Not aborted once effects may be under way. */
  get reads(): AbortSignal {
    return this.#reads.signal;
  }

  /** Asks an apply to begin nothing new. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  get isInterrupted(): boolean {
    return this.#count > 0;
  }

  /** From now on an interruption only asks to stop. */
  beginApply(): void {
    this.#phase = 'applying';
  }

  /** From now on what was done is taken back, to its end whatever comes: a half of it would be worse than either end. */
  beginWayBack(): void {
    this.#phase = 'taking back';
  }

  /** Takes one signal. */
  receive(signal: string): void {
    this.#count += 1;
    this.#stop.abort(new Interrupted(signal));
    if (this.#phase === 'reading') {
      this.#reads.abort(new Interrupted(signal));
      if (this.#count > 1) this.#leave();
      return;
    }
    if (this.#phase === 'taking back') {
      this.#say(
        `${signal}: taking back goes on to its end, and the lock is released then. It is not broken off: what is done and what is not would be mixed.`,
      );
      return;
    }
    this.#say(
      this.#count === 1
        ? `${signal}: nothing new begins. What is running is finished and recorded, then the lock is released.`
        : 'Still finishing what is running: cutting it off would leave its outcome unknown. Look at what it waits for with accede status.',
    );
  }

  /** Listens on a process. Answers how to stop listening. */
  listen(target: Pick<NodeJS.Process, 'on' | 'off'>): () => void {
    const listeners = SIGNALS.map((signal) => [signal, () => this.receive(signal)] as const);
    for (const [signal, listener] of listeners) target.on(signal, listener);
    return () => {
      for (const [signal, listener] of listeners) target.off(signal, listener);
    };
  }
}
