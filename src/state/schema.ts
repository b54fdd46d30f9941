import { BackendError } from './contract.ts';
import { damaged } from './rows.ts';
import type { Dialect, Driver, SqlRow, Transaction } from './sql.ts';

/** Version of the tables. A change of their meaning raises it and adds an upgrade; an older program then refuses instead of misreading. */
export const SCHEMA_VERSION = 3;

export interface Tables {
  /** What every name begins with. */
  readonly prefix: string;
  readonly schema: string;
  readonly identity: string;
  readonly standing: string;
  readonly encryption: string;
  readonly head: string;
  readonly fence: string;
  readonly lock: string;
  readonly resource: string;
  readonly history: string;
  readonly outputs: string;
  readonly operation: string;
  readonly step: string;
  readonly sealed: string;
  readonly source: string;
  readonly spent: string;
  readonly audit: string;
  readonly auditTip: string;
  readonly evidence: string;
  readonly holds: string;
  readonly approval: string;
}

export function tableNames(prefix: string): Tables {
  return {
    prefix,
    schema: `${prefix}schema`,
    identity: `${prefix}identity`,
    standing: `${prefix}standing`,
    encryption: `${prefix}encryption`,
    head: `${prefix}head`,
    fence: `${prefix}fence`,
    lock: `${prefix}lock`,
    resource: `${prefix}resource`,
    history: `${prefix}resource_history`,
    outputs: `${prefix}outputs`,
    operation: `${prefix}operation`,
    step: `${prefix}step`,
    sealed: `${prefix}sealed`,
    source: `${prefix}source`,
    spent: `${prefix}spent`,
    audit: `${prefix}audit`,
    auditTip: `${prefix}audit_tip`,
    evidence: `${prefix}evidence`,
    holds: `${prefix}holds`,
    approval: `${prefix}approval`,
  };
}

/** Makes the tables that are missing and then writes the version of the schema, without which they are no state yet. */
export async function createTables(transaction: Transaction, dialect: Dialect, tables: Tables): Promise<void> {
  await createMissing(transaction, dialect, tables);
  await transaction.execute(dialect.upsert(tables.schema, ['part'], ['version'], ['version']), ['state', SCHEMA_VERSION]);
}

/** Makes the tables that are missing, and leaves the version as it is. */
export async function createMissing(transaction: Transaction, dialect: Dialect, tables: Tables): Promise<void> {
  for (const statement of definitions(dialect, tables)) await transaction.execute(statement);
}

/**
 * The version of our tables, undefined when they are not there. Throws `STATE_FORMAT` for a database that is somebody else's or that has a
 * table of somebody else under one of our names.
 */
export async function versionOfTables(transaction: Transaction, driver: Driver, tables: Tables): Promise<number | undefined> {
  const { dialect, place } = driver;
  const names = (await transaction.query(dialect.listTables(tables.prefix))).map((row) => String(row['name']));
  if (!names.includes(tables.schema)) {
    const foreign = names.find((name) => dialect.ownsDatabase || ours(tables).includes(name));
    if (foreign === undefined) return undefined;
    throw new BackendError(
      'STATE_FORMAT',
      `The database ${place} is not a state of accede: it has ${dialect.ownsDatabase ? 'tables' : `a table ${foreign}`} of something else. It was left as it is; ${dialect.ownsDatabase ? 'name another file in state.path' : 'name another state.prefix or another database'}.`,
    );
  }
  const rows = await transaction.query(`SELECT version FROM ${tables.schema} WHERE part = ?`, ['state']);
  const version = versionIn(rows[0]);
  if (version !== undefined) return version;
  // Where tables are made one by one, a creation that was killed leaves some of them; the next one makes the rest.
  if (!dialect.definesInTransaction && rows.length === 0) return undefined;
  throw damaged(tables.schema, 'the version of the tables', 'it is not there');
}

/** Whether our tables are there. Throws `STATE_FORMAT` as above, and for tables of a version that this program does not know. */
export async function findTables(transaction: Transaction, driver: Driver, tables: Tables): Promise<boolean> {
  const version = await versionOfTables(transaction, driver, tables);
  if (version === undefined) return false;
  if (version === SCHEMA_VERSION) return true;
  throw unknownVersion(driver.place, version);
}

/** Says what to do about tables of another version. */
export function unknownVersion(place: string, version: number): BackendError {
  const known = `The state ${place} has the format ${version}, and this version of accede knows format ${SCHEMA_VERSION} alone. It was left as it is`;
  return version < SCHEMA_VERSION
    ? new BackendError('STATE_FORMAT', `${known}; it can be converted once nobody works on it with an older version any more.`, {
        next: 'accede state upgrade',
      })
    : new BackendError('STATE_FORMAT', `${known}; use the version that wrote it, or a newer one.`);
}

function ours(tables: Tables): readonly string[] {
  const { prefix: _, ...names } = tables;
  return Object.values(names);
}

function versionIn(row: SqlRow | undefined): number | undefined {
  const version = row?.['version'];
  return typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined;
}

/**
 * Rows that are read by what is in them have columns for it; the rest of a row is its canonical JSON in `body`. The table of the schema's
 * version is the one that belongs to the database and not to an environment in it.
 */
function definitions(dialect: Dialect, tables: Tables): readonly string[] {
  const { key, text, document, integer } = dialect.types;
  const environment = `environment ${key(128)} NOT NULL`;
  const address = `address ${key(400)} NOT NULL`;
  const serial = `serial ${integer} NOT NULL`;
  const table = (name: string, columns: readonly string[], primary: string, ...more: readonly string[]) =>
    tableDefinition(dialect, name, columns, primary, more);
  return [
    table(tables.schema, [`part ${key(32)} NOT NULL`, `version ${integer} NOT NULL`], 'part'),
    table(
      tables.identity,
      [
        environment,
        `format ${integer} NOT NULL`,
        `lineage ${text} NOT NULL`,
        `fingerprint_key ${text} NOT NULL`,
        `created_at ${text} NOT NULL`,
      ],
      'environment',
    ),
    // Without a row it is the first epoch and the store is in use; without a body it is in use.
    table(tables.standing, [environment, `epoch ${integer} NOT NULL`, `body ${document}`], 'environment'),
    table(tables.encryption, [environment, `body ${document} NOT NULL`], 'environment'),
    table(tables.head, [environment, serial], 'environment'),
    table(tables.fence, [environment, `fence ${integer} NOT NULL`], 'environment'),
    lockDefinition(dialect, tables),
    table(tables.resource, [environment, address, `digest ${text} NOT NULL`, `body ${document} NOT NULL`], 'environment, address'),
    // A row without a body is the tombstone of an address that was dropped.
    table(tables.history, [environment, address, serial, `digest ${text}`, `body ${document}`], 'environment, address, serial'),
    table(tables.outputs, [environment, serial, `body ${document} NOT NULL`], 'environment, serial'),
    table(
      tables.operation,
      [
        environment,
        serial,
        `kind ${text} NOT NULL`,
        `plan_digest ${text}`,
        `class ${text}`,
        `fence ${integer} NOT NULL`,
        `actor ${text} NOT NULL`,
        `reason ${text}`,
        `started_at ${text} NOT NULL`,
        `ended_at ${text}`,
        `outcome ${text}`,
        `summary ${document} NOT NULL`,
      ],
      'environment, serial',
    ),
    table(
      tables.step,
      [
        environment,
        serial,
        `step ${key(600)} NOT NULL`,
        `ordinal ${integer} NOT NULL`,
        `unsettled ${integer} NOT NULL`,
        `body ${document} NOT NULL`,
      ],
      'environment, serial, step',
      dialect.index('environment, ordinal'),
      // The index by which the few unsettled steps are found among all that ever were.
      dialect.index('environment, unsettled, ordinal'),
    ),
    table(tables.sealed, [environment, serial, `body ${document} NOT NULL`], 'environment, serial'),
    // Contents by their digest: equal ones of many environments in force are one row.
    table(tables.source, [environment, `digest ${key(80)} NOT NULL`, `body ${document} NOT NULL`], 'environment, digest'),
    table(tables.spent, [environment, `plan_digest ${key(80)} NOT NULL`, serial], 'environment, plan_digest'),
    table(
      tables.audit,
      [environment, `ordinal ${integer} NOT NULL`, `epoch ${integer} NOT NULL`, `body ${document} NOT NULL`, `mac ${text} NOT NULL`],
      'environment, ordinal',
    ),
    // The key of the chain and its last record, by which a chain that was cut off is told from a whole one.
    table(
      tables.auditTip,
      [environment, `epoch ${integer} NOT NULL`, `secret ${text} NOT NULL`, `ordinal ${integer} NOT NULL`, `mac ${text} NOT NULL`],
      'environment',
    ),
    // `part` counts the runs of one operation: one that was recovered has several.
    table(
      tables.evidence,
      [environment, serial, `part ${integer} NOT NULL`, `digest ${text} NOT NULL`, `body ${document} NOT NULL`],
      'environment, serial, part',
    ),
    table(tables.holds, [environment, `kind ${key(16)} NOT NULL`, `body ${document} NOT NULL`], 'environment, kind'),
    table(
      tables.approval,
      [environment, `plan_digest ${key(80)} NOT NULL`, `signer ${key(80)} NOT NULL`, `body ${document} NOT NULL`],
      'environment, plan_digest, signer',
    ),
  ];
}

/** The table of the lock: its row is there while somebody holds it, and its lease is a moment on the store's clock. */
function lockDefinition(dialect: Dialect, tables: Tables): string {
  const { key, text, integer } = dialect.types;
  return tableDefinition(
    dialect,
    tables.lock,
    [
      `environment ${key(128)} NOT NULL`,
      `lock_id ${text} NOT NULL`,
      `fence ${integer} NOT NULL`,
      `token_digest ${text} NOT NULL`,
      `who ${text} NOT NULL`,
      `host ${text} NOT NULL`,
      `boot_id ${text} NOT NULL`,
      `pid ${integer} NOT NULL`,
      `process_start ${text} NOT NULL`,
      `purpose ${text} NOT NULL`,
      `since ${text} NOT NULL`,
      `lease_clock ${text} NOT NULL`,
      `lease_end ${integer} NOT NULL`,
    ],
    'environment',
    [],
  );
}

function tableDefinition(dialect: Dialect, name: string, columns: readonly string[], primary: string, more: readonly string[]): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (${[...columns, `PRIMARY KEY (${primary})`, ...more].join(', ')})${dialect.tableSuffix}`;
}
