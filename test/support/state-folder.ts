import { chmodSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore } from '../../src/state/contract.ts';
import { openStore } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { acquired, begun, rowOf } from './state-rows.ts';

/** A folder of its own for the SQLite file of one test. */
export class StateFolder {
  readonly root: string;
  readonly path: string;
  readonly #open: StateStore[] = [];

  private constructor(root: string, name: string) {
    this.root = root;
    this.path = join(root, name);
  }

  static async make(name = 'state.db'): Promise<StateFolder> {
    return new StateFolder(await mkdtemp(join(tmpdir(), 'accede-state-')), name);
  }

  async store(environment = 'crm', path = this.path): Promise<StateStore> {
    const location = { backend: 'sqlite', path } as const;
    const store = await openStore({ location, environment, clock: systemClock, ids: randomIds, host: systemProcessIdentity() });
    this.#open.push(store);
    return store;
  }

  /** Makes a state with one ended operation and these rows, and leaves it closed. */
  async filled(count = 2): Promise<void> {
    const store = await this.store();
    const { session } = await acquired(store, 'crm');
    const { serial } = await begun(store, session);
    await session.write(Array.from({ length: count }, (_, index) => ({ kind: 'row', row: rowOf(index) })));
    await session.end(serial, 'done', null);
    await session.release();
    await store.close();
  }

  /** Changes the closed file behind the store's back. */
  alter(sql: string, path = this.path): void {
    const database = new Database(path);
    database.exec(sql);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  }

  async remove(): Promise<void> {
    for (const store of this.#open) await store.close();
    chmodSync(this.root, 0o700);
    rmSync(this.root, { recursive: true, force: true });
  }
}
