import type { Clock } from '../core/clock.ts';
import type { AccedeEvent, EventBody } from './events.ts';

/** Numbers and dates the events of one run. */
export class Emitter {
  readonly #clock: Clock;
  readonly #sink: (event: AccedeEvent) => void;
  #sequence = 0;
  #operation: string | null = null;

  constructor(clock: Clock, sink: (event: AccedeEvent) => void) {
    this.#clock = clock;
    this.#sink = sink;
  }

  /** From now on events bear this operation's id. */
  belongTo(operation: string): void {
    this.#operation = operation;
  }

  /** An event of another run inside of this one, in this one's sequence. */
  renumbered(event: AccedeEvent): AccedeEvent {
    this.#sequence += 1;
    return { ...event, sequence: this.#sequence };
  }

  emit(body: EventBody): void {
    this.#sequence += 1;
    const time = new Date(this.#clock.now()).toISOString();
    this.#sink({ format: 'accede.event/v1', time, sequence: this.#sequence, operation: this.#operation, ...body });
  }
}
