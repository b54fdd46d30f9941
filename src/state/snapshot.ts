import type { ResourceAddress } from '../core/address.ts';
import { headDigest } from './digest.ts';
import type { Identity, OperationRow, ResourceRow, Snapshot, StepRow, StoredOutput } from './model.ts';
import { damaged, parseCount, parseHold, parseLock, parseOperation, parseOutputs, parseResource, parseSealed, parseStep } from './rows.ts';
import type { SqlRow, Transaction } from './sql.ts';
import { loadStanding } from './standing.ts';
import type { Statements } from './statements.ts';

/** Rows, and the digest of the head that they make. */
interface Contents {
  readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
  readonly digests: readonly (readonly [string, string])[];
}

/** Reads everything that is in force, in one transaction. */
export async function loadSnapshot(transaction: Transaction, sql: Statements, identity: Identity): Promise<Snapshot> {
  const { tables } = sql;
  const environment = identity.environment;
  const serial = parseCount(tables.head, (await transaction.query(sql.head, [environment]))[0], 'serial');
  const { resources, digests } = parseContents(tables.resource, await transaction.query(sql.resources, [environment]));
  const outputs = await loadOutputs(transaction, sql, environment, serial);
  const sealed = (await transaction.query(sql.sealed, [environment]))[0];
  const last = await loadOperation(transaction, sql, environment, serial);
  const lock = (await transaction.query(sql.lock, [environment]))[0];
  return {
    identity,
    epoch: (await loadStanding(transaction, sql, environment)).epoch,
    head: { serial, digest: headDigest(digests, outputs) },
    resources,
    outputs,
    sealed: sealed === undefined ? null : parseSealed(tables.sealed, sealed),
    holds: (await transaction.query(sql.holds, [environment])).map((row) => parseHold(tables.holds, row)),
    // Beginning an operation ends the one before, so only the last can be open.
    open: last?.outcome === null ? { operation: last, steps: await loadSteps(transaction, sql, environment, serial) } : null,
    lastOperation: last ?? null,
    unsettled: (await transaction.query(sql.unsettled, [environment])).map((row) => parseStep(tables.step, row)),
    lock: lock === undefined ? null : parseLock(tables.lock, lock).info,
  };
}

/** Rows and outputs as they were at the end of that serial. */
export async function loadContentsAt(transaction: Transaction, sql: Statements, environment: string, serial: number) {
  const rows = await transaction.query(sql.resourcesAt, [environment, serial, environment]);
  return {
    resources: parseContents(sql.tables.history, rows).resources,
    outputs: await loadOutputs(transaction, sql, environment, serial),
  };
}

export async function loadOperation(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  serial: number,
): Promise<OperationRow | undefined> {
  const row = (await transaction.query(sql.operation, [environment, serial]))[0];
  return row === undefined ? undefined : parseOperation(sql.tables.operation, row);
}

export async function loadSteps(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  serial: number,
): Promise<readonly StepRow[]> {
  const rows = await transaction.query(sql.steps, [environment, serial]);
  return rows.map((row) => parseStep(sql.tables.step, row));
}

/** The head as a writer compares it: without reading the rows themselves. */
export async function loadHead(transaction: Transaction, sql: Statements, environment: string) {
  const serial = parseCount(sql.tables.head, (await transaction.query(sql.headForUpdate, [environment]))[0], 'serial');
  const rows = await transaction.query(sql.resourceDigests, [environment]);
  const digests = rows.map((row) => [String(row['address']), String(row['digest'])] as const);
  return { serial, digest: headDigest(digests, await loadOutputs(transaction, sql, environment, serial)) };
}

async function loadOutputs(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  serial: number,
): Promise<readonly StoredOutput[]> {
  return parseOutputs(sql.tables.outputs, (await transaction.query(sql.outputsAt, [environment, serial]))[0]);
}

function parseContents(table: string, rows: readonly SqlRow[]): Contents {
  const resources = new Map<ResourceAddress, ResourceRow>();
  const digests: (readonly [string, string])[] = [];
  // Addresses are plain ASCII, for which the database's binary order and ours are one.
  for (const row of rows) {
    const { row: resource, digest } = parseResource(table, row);
    if (resources.has(resource.address)) throw damaged(table, `the row of ${resource.address}`, 'it is there twice');
    resources.set(resource.address, resource);
    digests.push([resource.address, digest]);
  }
  return { resources, digests };
}
