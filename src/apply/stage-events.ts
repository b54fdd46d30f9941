import type { Stage } from '../core/facet.ts';
import type { PlannedStep } from '../plan/model.ts';
import type { Emitter } from './emitter.ts';

/** Tells when a stage begins and when all of its steps have come to an end. */
export class StageEvents {
  readonly #emitter: Emitter;
  /** How many steps a stage has, and how many have not come to an end. */
  readonly #stages = new Map<Stage, { readonly steps: number; left: number; begun: boolean }>();

  constructor(steps: Iterable<PlannedStep>, emitter: Emitter) {
    this.#emitter = emitter;
    for (const { stage } of steps) {
      const seen = this.#stages.get(stage) ?? { steps: 0, left: 0, begun: false };
      this.#stages.set(stage, { ...seen, steps: seen.steps + 1, left: seen.left + 1 });
    }
  }

  /** A step of the stage begins. */
  enter(stage: Stage): void {
    const seen = this.#stages.get(stage);
    if (seen === undefined || seen.begun) return;
    seen.begun = true;
    this.#emitter.emit({ type: 'stage.started', stage, steps: seen.steps });
  }

  /** A step of the stage came to its end. */
  leave(stage: Stage): void {
    const seen = this.#stages.get(stage);
    if (seen === undefined) return;
    seen.left -= 1;
    if (seen.left === 0) this.#emitter.emit({ type: 'stage.done', stage, steps: seen.steps });
  }
}
