import { decodeContent } from '../core/bundle.ts';
import { type Digest, digestBytes } from '../core/canonical.ts';
import type { Sealing } from './model.ts';
import { damaged, parseCount, parseSealed } from './rows.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** What operations put in force, newest first. */
export async function loadSealings(transaction: Transaction, sql: Statements, environment: string): Promise<readonly Sealing[]> {
  const rows = await transaction.query(sql.sealings, [environment]);
  return rows.map((row) => ({ serial: parseCount(sql.tables.sealed, row, 'serial'), sealed: parseSealed(sql.tables.sealed, row) }));
}

/** Contents that are kept, each checked against its digest. */
export async function loadSources(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  digests: readonly Digest[],
): Promise<ReadonlyMap<Digest, string>> {
  const found = new Map<Digest, string>();
  for (const digest of new Set(digests)) {
    const row = (await transaction.query(sql.source, [environment, digest]))[0];
    if (row === undefined) continue;
    const body = String(row['body']);
    const bytes = decodeContent(body);
    if (bytes === undefined || digestBytes(bytes) !== digest) {
      throw damaged(sql.tables.source, `the content ${digest}`, 'its digest does not match');
    }
    found.set(digest, body);
  }
  return found;
}

/** Keeps a content. One that is there already is not written again. */
export async function keepSource(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  source: { readonly digest: Digest; readonly body: string },
): Promise<void> {
  if ((await transaction.query(sql.source, [environment, source.digest])).length > 0) return;
  await transaction.execute(sql.putSource, [environment, source.digest, source.body]);
}
