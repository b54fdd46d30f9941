import { type Clock, type IdSource, randomIds, systemClock } from '../core/clock.ts';
import type { FailPoint } from '../core/fail-point.ts';
import { AuditChain } from './audit.ts';
import type { StateStore } from './contract.ts';
import { MysqlDriver } from './driver-mysql.ts';
import { SqliteDriver } from './driver-sqlite.ts';
import { failingDriver } from './failing-driver.ts';
import { startLeaseThread } from './lease-thread.ts';
import { type HeldLock, LEASE_MS, Lock } from './lock.ts';
import type { MysqlServer } from './mysql-connection.ts';
import { type ProcessIdentity, systemProcessIdentity } from './process.ts';
import { proveReadiness, type Readiness } from './readiness.ts';
import { parseIdentity } from './rows.ts';
import { findTables } from './schema.ts';
import type { Driver, StoreTime } from './sql.ts';
import { type Statements, statements } from './statements.ts';
import { SqlStore } from './store.ts';
import { UPGRADES, type Upgraded, upgradeTables } from './upgrade.ts';

/** Where a state is kept. */
export type StateLocation =
  | { readonly backend: 'sqlite'; readonly path: string }
  | {
      readonly backend: 'mysql';
      readonly server: MysqlServer;
      /** What the names of the tables begin with. */
      readonly prefix: string;
    };

export interface StoreOptions {
  readonly location: StateLocation;
  readonly environment: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: ProcessIdentity;
  /** How long a lock outlives its last renewal, in milliseconds; a minute when left out. */
  readonly leaseMs?: number;
  /** Told of every transaction that writes; absent outside of tests. */
  readonly faults?: FailPoint;
}

/** Tables of a SQLite file, which is one environment's alone, need no prefix of their own. */
const SQLITE_PREFIX = 'accede_';

/** Opens the store of an environment. Nothing is touched before the first call on it, and nothing is made before `acquire` is told to. */
export async function openStore(options: StoreOptions): Promise<StateStore> {
  const { location, environment, clock, ids, host, leaseMs = LEASE_MS } = options;
  return new SqlStore(openDriver(options), {
    environment,
    clock,
    ids,
    host,
    prefix: prefixOf(location),
    leaseMs,
    startThread: (held, lost) => startLeaseThread({ location, environment, held, leaseMs }, lost),
  });
}

/**
 * Whether the state can be read and written right now, asked on a fresh connection. Changes nothing and waits for nobody. Throws `BackendError` for
 * a state that can't be read.
 */
export async function stateReadiness(options: StoreOptions): Promise<Readiness> {
  const driver = openDriver(options);
  try {
    return await proveReadiness(driver, statements(driver.dialect, prefixOf(options.location)), options.environment, options.clock);
  } finally {
    await driver.close();
  }
}

/** The environment that a state file belongs to; undefined when there is none. Throws `BackendError` for a file that is something else. */
export async function environmentOf(options: Omit<StoreOptions, 'environment'>): Promise<string | undefined> {
  const driver = openDriver(options);
  const sql = statements(driver.dialect, prefixOf(options.location));
  try {
    return await driver.read(async (transaction) => {
      if (!(await findTables(transaction, driver, sql.tables))) return undefined;
      const [row] = await transaction.query(sql.identities);
      return row === undefined ? undefined : parseIdentity(sql.tables.identity, row).environment;
    });
  } finally {
    await driver.close();
  }
}

/**
 * Brings the tables of a state up to date, and tells of it in the audit chain of every environment in them. Undefined when there is no state.
 * Throws `BackendError`; nothing is changed while anybody holds a lock.
 */
export async function upgradeState(options: Omit<StoreOptions, 'environment'> & { readonly by: string }): Promise<Upgraded | undefined> {
  const driver = openDriver(options);
  const sql = statements(driver.dialect, prefixOf(options.location));
  try {
    return await upgradeTables(driver, sql.tables, options.host, UPGRADES, async (transaction, change) => {
      for (const row of await transaction.query(sql.identities)) {
        const { environment } = parseIdentity(sql.tables.identity, row);
        const entry = { what: 'state.upgraded', serial: null, actor: options.by, detail: change } as const;
        await new AuditChain(sql, environment, options).append(transaction, entry);
      }
    });
  } finally {
    await driver.close();
  }
}

/** What a thread renews a lease with, on a connection of its own. */
export function openLeaseRenewal(
  location: StateLocation,
  lock: { readonly environment: string; readonly leaseMs: number },
): { renew(held: HeldLock): Promise<void>; close(): Promise<void> } {
  const sources = { clock: systemClock, ids: randomIds, host: systemProcessIdentity() };
  const driver = openDriver({ location, ...sources });
  const { environment, leaseMs } = lock;
  const kept = new Lock(statements(driver.dialect, prefixOf(location)), environment, {
    ...sources,
    leaseMs,
    now: (transaction) => driver.now(transaction),
  });
  return {
    renew: (held) => driver.write((transaction) => kept.renew(transaction, held), { boundary: 'state.renew' }),
    close: () => driver.close(),
  };
}

/** What works on the tables of a store below its interface. Whoever opened it closes the driver. */
export interface OpenTables {
  readonly driver: Driver;
  readonly sql: Statements;
  readonly environment: string;
  readonly chain: AuditChain;
  readonly clock: Clock;
}

/** Opens the tables of a store for what is about the store as a whole: a backup, a restore, a move. */
export function openTables(options: StoreOptions): OpenTables {
  const { environment, clock } = options;
  const driver = openDriver(options);
  const sql = statements(driver.dialect, prefixOf(options.location));
  return { driver, sql, environment, chain: new AuditChain(sql, environment, options), clock };
}

type DriverOptions = Pick<StoreOptions, 'location' | 'clock' | 'ids' | 'host' | 'faults'>;

function openDriver(options: DriverOptions): Driver {
  const driver = bareDriver(options);
  return options.faults === undefined ? driver : failingDriver(driver, options.faults);
}

function bareDriver({ location, clock, ids, host }: DriverOptions): Driver {
  switch (location.backend) {
    case 'sqlite':
      return new SqliteDriver(location.path, { clock, time: () => machineTime(clock, host) });
    case 'mysql':
      return new MysqlDriver(location.server, { clock, ids, prefix: location.prefix });
  }
  return location satisfies never;
}

function prefixOf(location: StateLocation): string {
  return location.backend === 'mysql' ? location.prefix : SQLITE_PREFIX;
}

/** The time since the boot, which no step of the clock touches. Where the boot can't be told from another one, the wall's time has to do. */
function machineTime(clock: Clock, host: ProcessIdentity): StoreTime {
  return host.bootId === '' ? { domain: 'wall', ms: clock.now() } : { domain: host.bootId, ms: host.uptime() };
}
