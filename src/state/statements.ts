import { type Tables, tableNames } from './schema.ts';
import type { Dialect } from './sql.ts';

export type Statements = ReturnType<typeof statements>;

/** The text of every statement of the store, for one dialect and one prefix. The environment is the first parameter of each but `renewLock`. */
export function statements(dialect: Dialect, prefix: string) {
  const tables: Tables = tableNames(prefix);
  const mine = 'WHERE environment = ?';
  const environment = ['environment'];
  const atSerial = ['environment', 'serial'];
  const operation = `SELECT serial, kind, plan_digest, class, fence, actor, reason, started_at, ended_at, outcome, summary FROM ${tables.operation} ${mine}`;
  const identity = ['format', 'lineage', 'fingerprint_key', 'created_at'];
  const holder = ['lock_id', 'fence', 'token_digest', 'who', 'host', 'boot_id', 'pid', 'process_start', 'purpose', 'since'];
  const lock = [...holder, 'lease_clock', 'lease_end'];
  const tip = ['epoch', 'secret', 'ordinal', 'mac'];
  // What is written once is never changed: a second row with its key is an error of the database.
  const insert = (table: string, columns: readonly string[]) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  return {
    tables,
    // Takes no parameter: where the database is ours alone, another environment in it has to be noticed.
    identities: `SELECT environment, ${identity.join(', ')} FROM ${tables.identity}`,
    identity: `SELECT environment, ${identity.join(', ')} FROM ${tables.identity} ${mine}`,
    putIdentity: dialect.upsert(tables.identity, environment, identity, identity),
    standing: `SELECT epoch, body FROM ${tables.standing} ${mine}`,
    putStanding: dialect.upsert(tables.standing, environment, ['epoch', 'body']),
    encryption: `SELECT body FROM ${tables.encryption} ${mine}`,
    putEncryption: dialect.upsert(tables.encryption, environment, ['body']),

    head: `SELECT serial FROM ${tables.head} ${mine}`,
    headForUpdate: `SELECT serial FROM ${tables.head} ${mine}${dialect.forUpdate}`,
    putHead: dialect.upsert(tables.head, environment, ['serial']),
    // Of several that make the state at once the later ones must not set back what the first one has moved on already.
    firstHead: dialect.upsert(tables.head, environment, ['serial'], ['serial']),

    fence: `SELECT fence FROM ${tables.fence} ${mine}${dialect.forUpdate}`,
    fenceSeen: `SELECT fence FROM ${tables.fence} ${mine}`,
    putFence: dialect.upsert(tables.fence, environment, ['fence']),
    firstFence: dialect.upsert(tables.fence, environment, ['fence'], ['fence']),
    lock: `SELECT ${lock.join(', ')} FROM ${tables.lock} ${mine}`,
    lockForUpdate: `SELECT ${lock.join(', ')} FROM ${tables.lock} ${mine}${dialect.forUpdate}`,
    putLock: dialect.upsert(tables.lock, environment, lock),
    renewLock: `UPDATE ${tables.lock} SET lease_clock = ?, lease_end = ? ${mine} AND lock_id = ?`,
    dropLock: `DELETE FROM ${tables.lock} ${mine} AND lock_id = ?`,

    resources: `SELECT address, digest, body FROM ${tables.resource} ${mine} ORDER BY address`,
    resourceDigests: `SELECT address, digest FROM ${tables.resource} ${mine} ORDER BY address`,
    putResource: dialect.upsert(tables.resource, ['environment', 'address'], ['digest', 'body']),
    dropResource: `DELETE FROM ${tables.resource} ${mine} AND address = ?`,
    putHistory: dialect.upsert(tables.history, ['environment', 'address', 'serial'], ['digest', 'body']),
    resourcesAt:
      `SELECT h.address, h.digest, h.body FROM ${tables.history} h JOIN ` +
      `(SELECT address, MAX(serial) AS serial FROM ${tables.history} ${mine} AND serial <= ? GROUP BY address) last ` +
      `ON h.address = last.address AND h.serial = last.serial WHERE h.environment = ? AND h.body IS NOT NULL ORDER BY h.address`,

    outputsAt: `SELECT body FROM ${tables.outputs} ${mine} AND serial <= ? ORDER BY serial DESC LIMIT 1`,
    putOutputs: dialect.upsert(tables.outputs, atSerial, ['body']),

    operations: `${operation} ORDER BY serial DESC`,
    operation: `${operation} AND serial = ?`,
    putOperation: dialect.upsert(tables.operation, atSerial, [
      'kind',
      'plan_digest',
      'class',
      'fence',
      'actor',
      'reason',
      'started_at',
      'ended_at',
      'outcome',
      'summary',
    ]),

    steps: `SELECT step, body FROM ${tables.step} ${mine} AND serial = ? ORDER BY ordinal`,
    unsettled: `SELECT step, body FROM ${tables.step} ${mine} AND unsettled = 1 ORDER BY ordinal`,
    lastOrdinal: `SELECT MAX(ordinal) AS ordinal FROM ${tables.step} ${mine}`,
    putStep: dialect.upsert(tables.step, ['environment', 'serial', 'step'], ['ordinal', 'unsettled', 'body'], ['ordinal']),

    sealed: `SELECT body FROM ${tables.sealed} ${mine} ORDER BY serial DESC LIMIT 1`,
    sealings: `SELECT serial, body FROM ${tables.sealed} ${mine} ORDER BY serial DESC`,
    putSealed: dialect.upsert(tables.sealed, atSerial, ['body']),
    spent: `SELECT serial FROM ${tables.spent} ${mine} AND plan_digest = ?`,
    audit: `SELECT ordinal, epoch, body, mac FROM ${tables.audit} ${mine} ORDER BY ordinal`,
    auditBody: `SELECT body FROM ${tables.audit} ${mine} AND ordinal = ?`,
    putAudit: insert(tables.audit, ['environment', 'ordinal', 'epoch', 'body', 'mac']),
    auditTip: `SELECT ${tip.join(', ')} FROM ${tables.auditTip} ${mine}`,
    auditTipForUpdate: `SELECT ${tip.join(', ')} FROM ${tables.auditTip} ${mine}${dialect.forUpdate}`,
    putAuditTip: dialect.upsert(tables.auditTip, environment, tip),
    evidence: `SELECT serial, part, digest, body FROM ${tables.evidence} ${mine} ORDER BY serial, part`,
    evidenceOf: `SELECT serial, part, digest, body FROM ${tables.evidence} ${mine} AND serial = ? ORDER BY part`,
    lastEvidence: `SELECT MAX(part) AS part FROM ${tables.evidence} ${mine} AND serial = ?`,
    putEvidence: insert(tables.evidence, ['environment', 'serial', 'part', 'digest', 'body']),
    dropEvidence: `DELETE FROM ${tables.evidence} ${mine} AND serial = ? AND part = ?`,
    evidenceKeys: `SELECT serial, part FROM ${tables.evidence} ${mine} ORDER BY serial DESC, part DESC`,
    holds: `SELECT kind, body FROM ${tables.holds} ${mine} ORDER BY kind`,
    putHold: dialect.upsert(tables.holds, ['environment', 'kind'], ['body']),
    dropHold: `DELETE FROM ${tables.holds} ${mine} AND kind = ?`,
    approvals: `SELECT signer, body FROM ${tables.approval} ${mine} AND plan_digest = ? ORDER BY signer`,
    putApproval: dialect.upsert(tables.approval, ['environment', 'plan_digest', 'signer'], ['body']),
    dropApprovals: `DELETE FROM ${tables.approval} ${mine} AND plan_digest IN (SELECT plan_digest FROM ${tables.spent} ${mine} AND serial < ?)`,
    putSpent: dialect.upsert(tables.spent, ['environment', 'plan_digest'], ['serial'], ['serial']),

    source: `SELECT body FROM ${tables.source} ${mine} AND digest = ?`,
    sourceDigests: `SELECT digest FROM ${tables.source} ${mine}`,
    putSource: dialect.upsert(tables.source, ['environment', 'digest'], ['body'], ['body']),
    dropSource: `DELETE FROM ${tables.source} ${mine} AND digest = ?`,

    // Everything older than a serial. Of what later serials build on, the last row before it stays.
    lastHistory:
      `SELECT h.address, h.serial, h.digest FROM ${tables.history} h JOIN ` +
      `(SELECT address, MAX(serial) AS serial FROM ${tables.history} ${mine} AND serial <= ? GROUP BY address) last ` +
      `ON h.address = last.address AND h.serial = last.serial WHERE h.environment = ? ORDER BY h.address`,
    dropHistory: `DELETE FROM ${tables.history} ${mine} AND address = ? AND serial < ?`,
    lastOutputs: `SELECT MAX(serial) AS serial FROM ${tables.outputs} ${mine} AND serial <= ?`,
    dropOutputs: `DELETE FROM ${tables.outputs} ${mine} AND serial < ?`,
    dropOperations: `DELETE FROM ${tables.operation} ${mine} AND serial < ?`,
    dropSteps: `DELETE FROM ${tables.step} ${mine} AND serial < ?`,
    dropSealed: `DELETE FROM ${tables.sealed} ${mine} AND serial < ?`,
    dropSpent: `DELETE FROM ${tables.spent} ${mine} AND serial < ?`,
  };
}
