// What one step costs the state, with few resources in it and with many, on both backends: milliseconds and bytes that reach the disk.
// Usage: npx tsx test/bench/state-commit.ts [100 1000 10000]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { WriteSession } from '../../src/state/contract.ts';
import { openStore, type StateLocation } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { acquired, begun, rowOf, stepOf } from '../support/state-rows.ts';

const STEPS = 200;
const LANES = 16;

const sizes = process.argv.slice(2).map(Number);
const folder = mkdtempSync(path.join(tmpdir(), 'acc-b-'));
const data = mkdtempSync('/tmp/acc-bdb-');
const server = await startMariadb(data);
try {
  for (const size of sizes.length > 0 ? sizes : [100, 1_000, 10_000]) {
    await measure('SQLite', size, { backend: 'sqlite', path: path.join(folder, `${size}.db`) }, () => written(process.pid));
    const database = `size${size}`;
    await server.execute(`CREATE DATABASE ${database}`);
    const { host, port, user } = server;
    const location: StateLocation = { backend: 'mysql', prefix: 'accede_', server: { host, port, user, database, place: database } };
    await measure('MariaDB', size, location, () => logged(server));
  }
} finally {
  await server.stop();
  for (const made of [folder, data]) rmSync(made, { recursive: true });
}

async function measure(name: string, size: number, location: StateLocation, bytes: () => Promise<number>): Promise<void> {
  const store = await openStore({ location, environment: 'bench', clock: systemClock, ids: randomIds, host: systemProcessIdentity() });
  const { session } = await acquired(store, 'bench');
  const first = await begun(store, session);
  for (let from = 0; from < size; from += 500) {
    const count = Math.min(500, size - from);
    await session.write(Array.from({ length: count }, (_, index) => ({ kind: 'row', row: rowOf(from + index) })));
  }
  await session.end(first.serial, 'done', null);
  const { serial } = await begun(store, session);
  const alone = await timed(session, serial, 1, 'alone', bytes);
  const together = await timed(session, serial, LANES, 'together', bytes);
  console.log(
    `${name.padEnd(8)} ${String(size).padStart(6)} resources · one after another ${figures(alone)} · ${LANES} side by side ${figures(together)}`,
  );
  await session.end(serial, 'done', null);
  await session.release();
  await store.close();
}

/** Steps as an apply writes them: the intent, then the row and the end. */
async function timed(session: WriteSession, serial: number, lanes: number, name: string, bytes: () => Promise<number>) {
  const before = await bytes();
  const begin = performance.now();
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < STEPS; index = next++) {
      const step = stepOf(serial, `${name}-${index}`);
      await session.write([{ kind: 'step', step }]);
      await session.write([
        { kind: 'row', row: rowOf(index, { attributes: { size: index, name } }) },
        { kind: 'step', step: { ...step, status: 'done' } },
      ]);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { ms: (performance.now() - begin) / STEPS, bytes: ((await bytes()) - before) / STEPS };
}

function figures({ ms, bytes }: { readonly ms: number; readonly bytes: number }): string {
  return `${ms.toFixed(2)} ms, ${Math.round(bytes)} bytes a step`;
}

/** What this process handed to the disk so far. */
async function written(pid: number): Promise<number> {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** What the server put into its log so far. */
async function logged(database: MariadbServer): Promise<number> {
  return Number((await database.execute("SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'")).split('\t')[1]);
}
