import type { Plain } from '../core/value.ts';
import type { PlanDocument, PlannedStep } from '../plan/model.ts';
import type { AccedeEvent } from './events.ts';

/** Steps of one address between which it does not serve. */
interface Watch {
  readonly address: string;
  readonly steps: ReadonlySet<string>;
  /** Whether it comes back. */
  readonly returns: boolean;
  readonly begun: Set<string>;
  readonly done: Set<string>;
  readonly takenBack: Set<string>;
  downAt: string | null;
  readyAt: string | null;
}

/** Notes of every address that a plan takes down when that began, and when it was ready again, or back as it was. */
export class OutageRecorder {
  readonly #watches: readonly Watch[];
  readonly #byStep = new Map<string, Watch>();

  constructor(plan: Pick<PlanDocument, 'outageAddresses' | 'changes' | 'steps'>) {
    const deleted = new Set(plan.changes.filter(({ action }) => action === 'delete').map(({ address }) => address));
    this.#watches = plan.outageAddresses.map((address) => {
      const returns = !deleted.has(address);
      const own = plan.steps.filter((step) => step.address === address && isOfOutage(step, returns)).map(({ id }) => id);
      return {
        address,
        steps: new Set(own),
        returns,
        begun: new Set(),
        done: new Set(),
        takenBack: new Set(),
        downAt: null,
        readyAt: null,
      };
    });
    for (const watch of this.#watches) for (const step of watch.steps) this.#byStep.set(step, watch);
  }

  receive(event: AccedeEvent): void {
    if (event.type !== 'step.intended' && event.type !== 'step.done' && event.type !== 'step.compensated') return;
    const watch = this.#byStep.get(event.step);
    if (watch === undefined) return;
    switch (event.type) {
      case 'step.intended':
        watch.begun.add(event.step);
        watch.downAt ??= event.time;
        return;
      case 'step.done':
        watch.done.add(event.step);
        if (watch.returns && watch.done.size === watch.steps.size) watch.readyAt = event.time;
        return;
      case 'step.compensated':
        watch.takenBack.add(event.step);
        if (watch.takenBack.size === watch.begun.size) watch.readyAt = event.time;
        return;
    }
    return event satisfies never;
  }

  /** By address, those that went down: `readyAt` and `seconds` are null for one that did not come back. */
  document(): Plain {
    return this.#watches.flatMap(({ address, downAt, readyAt }) => {
      if (downAt === null) return [];
      const seconds = readyAt === null ? null : (Date.parse(readyAt) - Date.parse(downAt)) / 1000;
      return [{ address, downAt, readyAt, seconds }];
    });
  }
}

/** What only proves or fetches, lets time pass, or clears a predecessor away is no outage. */
function isOfOutage({ stage, seconds }: PlannedStep, returns: boolean): boolean {
  return stage !== 'preflight' && seconds === undefined && !(returns && stage === 'retire');
}
