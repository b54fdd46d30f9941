import type { Clock, IdSource } from '../core/clock.ts';
import type { StateStore } from './contract.ts';
import { SqliteDriver } from './driver-sqlite.ts';
import type { ProcessIdentity } from './process.ts';
import { SqlStore } from './store.ts';

/** Where a state is kept. */
export interface StateLocation {
  readonly backend: 'sqlite';
  readonly path: string;
}

export interface StoreOptions {
  readonly location: StateLocation;
  readonly environment: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: ProcessIdentity;
}

/** Opens the store of an environment. Nothing is touched before the first call on it, and nothing is made before `acquire` is told to. */
export async function openStore(options: StoreOptions): Promise<StateStore> {
  const { location, ...rest } = options;
  switch (location.backend) {
    case 'sqlite':
      return new SqlStore(new SqliteDriver(location.path), { ...rest, prefix: 'accede_' });
  }
  return location.backend satisfies never;
}
