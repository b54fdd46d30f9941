import { contentsOf, decodeContent, parseManifest } from '../core/bundle.ts';
import { type Digest, isDigest } from '../core/canonical.ts';
import { parseCount } from './rows.ts';
import { loadSealings, loadSources } from './sources.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/**
 * Forgets what is older than the operation `before`. Rows and outputs that it or a later one builds on stay, so that every serial that is left
 * reads as it did. The caller keeps `before` from being above what is in force, open or unsettled.
 */
export async function prune(transaction: Transaction, sql: Statements, environment: string, before: number): Promise<void> {
  await pruneHistory(transaction, sql, environment, before);
  const outputs = (await transaction.query(sql.lastOutputs, [environment, before]))[0];
  if (outputs?.['serial'] !== null) {
    await transaction.execute(sql.dropOutputs, [environment, parseCount(sql.tables.outputs, outputs, 'serial')]);
  }
  await transaction.execute(sql.dropApprovals, [environment, environment, before]);
  for (const statement of [sql.dropOperations, sql.dropSteps, sql.dropSealed, sql.dropSpent]) {
    await transaction.execute(statement, [environment, before]);
  }
  await pruneSources(transaction, sql, environment);
}

/** Of each address the last row up to `before` stays, unless it only says that the address was gone by then. */
async function pruneHistory(transaction: Transaction, sql: Statements, environment: string, before: number): Promise<void> {
  for (const row of await transaction.query(sql.lastHistory, [environment, before, environment])) {
    const last = parseCount(sql.tables.history, row, 'serial');
    await transaction.execute(sql.dropHistory, [environment, String(row['address']), row['digest'] === null ? last + 1 : last]);
  }
}

/** Drops every content that nothing of what was in force names any more. */
async function pruneSources(transaction: Transaction, sql: Statements, environment: string): Promise<void> {
  const sealings = await loadSealings(transaction, sql, environment);
  const named = new Set<Digest>(
    sealings.flatMap(({ sealed }) =>
      sealed?.source !== undefined && sealed.source !== null && isDigest(sealed.source) ? [sealed.source] : [],
    ),
  );
  const manifests = await loadSources(transaction, sql, environment, [...named]);
  for (const body of manifests.values()) {
    const manifest = parseManifest(decodeContent(body) ?? new Uint8Array());
    // One that a newer program wrote names contents that this one cannot tell, so that none may go.
    if (manifest === undefined) return;
    for (const digest of contentsOf(manifest)) named.add(digest);
  }
  for (const row of await transaction.query(sql.sourceDigests, [environment])) {
    const digest = String(row['digest']);
    if (!isDigest(digest) || !named.has(digest)) await transaction.execute(sql.dropSource, [environment, digest]);
  }
}
