import { rmSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import { type Acquired, BackendError } from '../../src/state/contract.ts';
import { openStore, type StateLocation } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { compete } from './state-race.ts';
import { acquired, addressOf, begun, identityOf, rowOf, stepOf } from './state-rows.ts';

/** What a child is told to do with a store; each line that it prints is one JSON document. */
export interface ChildOrder {
  readonly location: StateLocation;
  readonly environment: string;
  readonly command: 'hold' | 'race' | 'write' | 'read' | 'fill' | 'late' | 'deaf' | 'compete';
  readonly leaseMs?: number;
  /** For `compete`: a file that only the holder of the lock may make. */
  readonly witness?: string;
  /** For `fill`: a file whose removal makes room again. */
  readonly ballast?: string;
  /** Whom to be before anything else. */
  readonly user?: number;
  readonly umask?: number;
}

const order = JSON.parse(process.argv[2] ?? '{}') as ChildOrder;
if (order.umask !== undefined) process.umask(order.umask);
if (order.user !== undefined) {
  // The database library has to be loaded while the project's files can still be read.
  await import('libsql');
  process.setgid?.(order.user);
  process.setuid?.(order.user);
}
const store = await openStore({ ...order, clock: systemClock, ids: randomIds, host: systemProcessIdentity() });
const input = createInterface({ input: process.stdin });
const line = () => new Promise<string>((resolve) => input.once('line', resolve));

switch (order.command) {
  case 'hold': {
    const { session, lock, tookOver } = await acquired(store, order.environment);
    say({ lock, tookOver });
    await line();
    await session.release();
    say({ released: true });
    break;
  }
  case 'race': {
    say({ ready: true });
    await line();
    const { session, lock } = await acquireInTurn();
    say({ lineage: (await session.read()).identity.lineage, fence: lock.fence });
    await session.release();
    break;
  }
  case 'write': {
    const { session } = await acquired(store, order.environment);
    const operation = await begun(store, session);
    say({ serial: operation.serial });
    await line();
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < 200; index = next++) {
        const name = `${operation.serial}-${index}`;
        await session.write([
          { kind: 'row', row: rowOf(name) },
          { kind: 'step', step: stepOf(operation.serial, name) },
          { kind: 'row', row: rowOf(`${name}-twin`) },
        ]);
        say({ written: name });
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    say({ done: true });
    await line();
    break;
  }
  case 'late': {
    const { session, lock } = await acquired(store, order.environment);
    const operation = await begun(store, session);
    say({ fence: lock.fence, serial: operation.serial });
    await line();
    say(await answerOf(() => session.write([{ kind: 'row', row: rowOf('late') }]).then(() => ({ written: true }))));
    say(await answerOf(() => session.end(operation.serial, 'done', null).then(() => ({ ended: true }))));
    await session.release();
    break;
  }
  case 'deaf': {
    const { session } = await acquired(store, order.environment);
    await begun(store, session);
    // By then the first renewal has come, and with it the thread that renews from there on.
    await systemClock.sleep(2 * (order.leaseMs ?? 0));
    say({ deaf: true });
    const until = systemClock.monotonic() + 3 * (order.leaseMs ?? 0);
    while (systemClock.monotonic() < until);
    say(await answerOf(() => session.write([{ kind: 'row', row: rowOf('deaf') }]).then(() => ({ written: true }))));
    await session.release();
    break;
  }
  case 'compete':
    say({ ready: true });
    await compete(store, order.environment, order.witness ?? '', line(), say);
    break;
  case 'read':
    say(await answerOf(async () => ({ serial: (await store.read())?.head.serial ?? null })));
    break;
  case 'fill': {
    const found = await answerOf(async () => {
      const { session } = await acquired(store, order.environment);
      await begun(store, session);
      return { session };
    });
    if ('code' in found) {
      say({ ...found, read: (await store.read()) ?? null });
      break;
    }
    const big = { size: 'x'.repeat(4_000) };
    let count = 0;
    const write = () => answerOf(async () => found.session.write([{ kind: 'row', row: rowOf(count, { attributes: big }) }]));
    let failure = await write();
    for (; failure === undefined && count < 1_000; failure = await write()) count += 1;
    const kept = await store.read();
    rmSync(order.ballast ?? '');
    const again = await write();
    const after = await store.read();
    say({ failure, count, kept: kept?.resources.size, again: again ?? null, after: after?.resources.has(addressOf(count)) });
    break;
  }
}
await store.close();
input.close();

async function acquireInTurn(): Promise<Acquired> {
  for (;;) {
    const answer = await store.acquire({
      who: `child ${process.pid}`,
      purpose: 'race',
      create: { identity: identityOf(order.environment) },
    });
    if (answer.kind === 'acquired') return answer;
    await systemClock.sleep(2);
  }
}

async function answerOf<T>(work: () => Promise<T>): Promise<T | { readonly code: string; readonly message: string }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { code: error.code, message: error.message };
  }
}

function say(answer: object): void {
  writeSync(1, `${JSON.stringify(answer)}\n`);
}
