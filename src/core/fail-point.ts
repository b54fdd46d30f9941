/**
 * Every place where a run leaves something behind that outlives it, or asks a target to change. Tests break runs off at each of them; nothing
 * that is not in this table can be named, and one that no test reaches fails the tests.
 */
export const BOUNDARIES = {
  'state.define': 'the tables of a state are made, where that is no part of a transaction',
  'state.acquire': 'the lock is taken; the first time, the state is made with it',
  'state.renew': 'the lease of the lock is renewed',
  'state.begin': 'an operation is begun',
  'state.resume': 'an operation of a run that is gone is taken over',
  'state.write': 'rows and journal are written',
  'state.end': 'an operation is ended',
  'state.release': 'the lock is given back',
  'state.unlock': 'the lock of somebody else is ended',
  'state.upgrade': 'the tables are brought up to date',
  'state.hold': 'a hold is set or lifted',
  'state.approve': 'an approval is kept',
  'state.backup': 'it is noted that a backup was made',
  'state.load': 'what a backup or another store holds is written into an empty store',
  'state.retire': 'a store is put out of use, since its content has moved',
  'state.activate': 'the copy of a store that was put out of use comes into use',
  'effect.perform': 'one effect of a step is done by its provider',
  'effect.undo': 'one effect of a step is taken back by its provider',
  'effect.reconcile': 'a provider removes what a dead run left beside its objects',
  'effect.exec': 'a command is run inside of an object',
  'target.call': 'one request that may change a target is sent to it',
  'host.change': 'one change of the host: of its files, or by a program that may change something',
} as const;
export type Boundary = keyof typeof BOUNDARIES;

/** Those of one transaction of the state. */
export type StateBoundary = Extract<Boundary, `state.${string}`>;

/** When, at a boundary. `inside` is between the last statement of a transaction and its commit; other boundaries have none. */
export const MOMENTS = ['before', 'inside', 'after'] as const;
export type Moment = (typeof MOMENTS)[number];

/** What is told of every boundary that a run passes. There is none outside of tests. */
export interface FailPoint {
  /**
   * Resolves when the run may go on. Throws `InjectedFault` for a fault that whoever passes turns into what it would throw by itself. `about`
   * says in words what passes: an effect of an address, a request.
   */
  pass(boundary: Boundary, moment: Moment, about: string): Promise<void>;
}

export type InjectedFaultKind = 'eio' | 'enospc' | 'lost-reply';

/** A fault that a test asked for. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
  readonly kind: InjectedFaultKind;
  constructor(kind: InjectedFaultKind, boundary: Boundary) {
    super(`A test asked for ${kind} at ${boundary}.`);
    this.kind = kind;
  }
}

/** Passes a boundary: tells of it before and after `act`. What `act` throws is told to nobody. */
export async function passing<T>(faults: FailPoint, boundary: Boundary, about: string, act: () => Promise<T>): Promise<T> {
  await faults.pass(boundary, 'before', about);
  const result = await act();
  await faults.pass(boundary, 'after', about);
  return result;
}
