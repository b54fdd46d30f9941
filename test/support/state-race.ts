import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { Acquired, StateStore } from '../../src/state/contract.ts';
import { addressOf, begun, identityOf, rowOf } from './state-rows.ts';

/**
 * Takes the lock again and again until it is told to stop, and each time counts a number up by one: reads it from the state, writes it back.
 * While it holds the lock it keeps a file that nobody else may find.
 */
export async function compete(
  store: StateStore,
  environment: string,
  witness: string,
  stop: Promise<unknown>,
  say: (answer: object) => void,
): Promise<void> {
  let isOver = false;
  void stop.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const answer = await store.acquire({
      who: `racer ${process.pid}`,
      purpose: 'race',
      create: { identity: identityOf(environment) },
    });
    if (answer.kind === 'busy') {
      await systemClock.sleep(2 + (Number.parseInt(randomIds.id().slice(0, 2), 16) % 8));
      continue;
    }
    enter(witness);
    const count = await countUp(store, answer);
    unlinkSync(witness);
    await answer.session.release();
    say({ fence: answer.lock.fence, count });
  }
}

async function countUp(store: StateStore, { session }: Acquired): Promise<number> {
  const operation = await begun(store, session);
  const attributes = (await session.read()).resources.get(addressOf('count'))?.attributes;
  const count = Number(attributes?.['size'] ?? 0) + 1;
  await session.write([{ kind: 'row', row: rowOf('count', { attributes: { size: count } }) }]);
  await session.end(operation.serial, 'done', null);
  return count;
}

/** Makes the file. Throws when it is there already, unless who made it was killed. */
function enter(witness: string): void {
  try {
    writeFileSync(witness, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const other = Number(readFileSync(witness, 'utf8'));
    if (other !== 0 && isRunning(other)) throw new Error(`the lock is held by ${other} as well`);
    unlinkSync(witness);
    writeFileSync(witness, String(process.pid), { flag: 'wx' });
  }
}

function isRunning(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && !/^\d+ \(.*\) [ZX] /s.test(stat);
}

function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
