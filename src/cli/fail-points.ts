import { appendFileSync } from 'node:fs';
import { systemClock } from '../core/clock.ts';
import {
  BOUNDARIES,
  type Boundary,
  type FailPoint,
  InjectedFault,
  type InjectedFaultKind,
  MOMENTS,
  type Moment,
} from '../core/fail-point.ts';

const GRAMMAR = /^(?<boundary>[a-z]+(?:\.[a-z]+)?)(?:@(?<moment>[a-z]+))?(?::(?<nth>\d+))?=(?<action>[a-z-]+)(?::(?<ms>\d+))?$/;
const ACTIONS = ['kill', 'stop', 'eio', 'enospc', 'lost-reply', 'delay'] as const;
type Action = (typeof ACTIONS)[number];

interface Order {
  readonly boundary: Boundary | undefined;
  readonly moment: Moment | undefined;
  readonly nth: number;
  readonly action: Action;
  readonly ms: number;
}

/**
 * What the variable asks for: orders with commas between them. `<boundary>@<moment>:<nth>=<action>` does something at the nth time that a run
 * passes; without a moment each counts, and `any` stands for all boundaries. The actions are `kill` and `stop` (signals to this process), `eio`,
 * `enospc` and `lost-reply` (errors), `delay:<ms>`. `trace=<file>` writes each passage to a file, one line each. Throws on anything else.
 */
export function parseFailPoints(text: string): FailPoint {
  const parts = text.split(',');
  const trace = parts.find((part) => part.startsWith('trace='))?.slice('trace='.length);
  const orders = parts.filter((part) => !part.startsWith('trace=')).map(parseOrder);
  return new FailPoints(orders, trace);
}

function parseOrder(text: string): Order {
  const { boundary = '', moment, nth = '1', action = '', ms = '0' } = GRAMMAR.exec(text)?.groups ?? {};
  const isKnown =
    (boundary === 'any' || Object.hasOwn(BOUNDARIES, boundary)) &&
    (moment === undefined || MOMENTS.some((name) => name === moment)) &&
    ACTIONS.some((name) => name === action);
  if (!isKnown) throw new Error(`ACCEDE_FAILPOINT does not say a boundary and an action that there are: ${text}`);
  return {
    boundary: boundary === 'any' ? undefined : (boundary as Boundary),
    moment: moment as Moment | undefined,
    nth: Number(nth),
    action: action as Action,
    ms: Number(ms),
  };
}

class FailPoints implements FailPoint {
  readonly #orders: readonly Order[];
  readonly #trace: string | undefined;
  readonly #seen = new Map<Order, number>();
  #passed = 0;

  constructor(orders: readonly Order[], trace: string | undefined) {
    this.#orders = orders;
    this.#trace = trace;
  }

  async pass(boundary: Boundary, moment: Moment, about: string): Promise<void> {
    this.#passed += 1;
    if (this.#trace !== undefined) appendFileSync(this.#trace, `${this.#passed}\t${boundary}\t${moment}\t${about}\n`);
    // All are counted before the first of them ends the call.
    const due: Order[] = [];
    for (const order of this.#orders) {
      if (order.boundary !== undefined && order.boundary !== boundary) continue;
      if (order.moment !== undefined && order.moment !== moment) continue;
      const seen = (this.#seen.get(order) ?? 0) + 1;
      this.#seen.set(order, seen);
      if (seen === order.nth) due.push(order);
    }
    for (const order of due) await act(order, boundary);
  }
}

async function act({ action, ms }: Order, boundary: Boundary): Promise<void> {
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      // The signal may come a moment later; nothing more is done meanwhile.
      return new Promise(() => undefined);
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'delay':
      return systemClock.sleep(ms);
    case 'eio':
    case 'enospc':
    case 'lost-reply':
      throw new InjectedFault(action satisfies InjectedFaultKind, boundary);
  }
  return action satisfies never;
}
