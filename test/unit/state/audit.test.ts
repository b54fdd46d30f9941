import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Acquired, StateStore } from '../../../src/state/contract.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { identityOf } from '../../support/state-rows.ts';

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
});
afterEach(() => folder.remove());

async function locked(store: StateStore): Promise<Acquired> {
  const answer = await store.acquire({ who: 'ann@here', purpose: 'test', create: { identity: identityOf('crm') } });
  if (answer.kind === 'busy') throw new Error('the lock is busy');
  return answer;
}

/** Five operations, and so a chain of eleven records. */
async function fiveOperations(): Promise<void> {
  const store = await folder.store('crm');
  for (let number = 1; number <= 5; number++) {
    const { session } = await locked(store);
    const { head } = await session.read();
    const begun = { kind: 'taint', planDigest: null, class: null, actor: 'ann@here', reason: `number ${number}`, startedAt: NOON } as const;
    const { serial } = await session.begin(begun, head);
    await session.end(serial, 'done', null, undefined, { format: 'accede.evidence/v1', number });
    await session.release();
  }
  await store.close();
}

const NOON = '2026-01-01T12:00:00.000Z';

async function verdict() {
  const store = await folder.store('crm');
  try {
    return await store.verifyAudit();
  } finally {
    await store.close();
  }
}

describe('the audit chain', () => {
  it('must hold a record of every operation, in order, and be whole', async () => {
    await fiveOperations();
    const store = await folder.store('crm');
    const records = await store.audit();
    expect(records.map(({ what, serial }) => `${what} ${serial ?? '-'}`)).toEqual([
      'state.created -',
      ...[1, 2, 3, 4, 5].flatMap((serial) => [`operation.begun ${serial}`, `operation.ended ${serial}`]),
    ]);
    expect(records.map(({ ordinal }) => ordinal)).toEqual(records.map((_, index) => index + 1));
    expect(new Set(records.map(({ actor }) => actor))).toEqual(new Set(['ann@here']));
    await store.close();
    expect(await verdict()).toMatchObject({ records: 11, problem: null, keyFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) });
  });

  it.each([
    ['altered', `UPDATE accede_audit SET body = replace(body, 'number 2', 'number 7')`, { ordinal: 4, kind: 'altered' }],
    [
      'given another time',
      `UPDATE accede_audit SET body = replace(body, '"at":"2', '"at":"1') WHERE ordinal = 6`,
      { ordinal: 6, kind: 'altered' },
    ],
    ['removed', 'DELETE FROM accede_audit WHERE ordinal = 5', { ordinal: 5, kind: 'missing' }],
    ['cut off at the end', 'DELETE FROM accede_audit WHERE ordinal > 9', { ordinal: 10, kind: 'missing' }],
    ['all removed', 'DELETE FROM accede_audit', { ordinal: 1, kind: 'missing' }],
    [
      'swapped with another',
      'UPDATE accede_audit SET ordinal = CASE ordinal WHEN 3 THEN -4 WHEN 4 THEN -3 ELSE ordinal END; UPDATE accede_audit SET ordinal = -ordinal WHERE ordinal < 0',
      { ordinal: 3, kind: 'altered' },
    ],
    [
      'doubled at the end',
      'INSERT INTO accede_audit SELECT environment, 12, epoch, body, mac FROM accede_audit WHERE ordinal = 11',
      { ordinal: 12, kind: 'altered' },
    ],
    ['made unreadable', 'UPDATE accede_audit SET epoch = 0 WHERE ordinal = 8', { ordinal: 8, kind: 'altered' }],
  ])('must name the first record that was %s', async (_, sql, problem) => {
    await fiveOperations();
    for (const statement of sql.split(';')) folder.alter(statement);
    expect((await verdict())?.problem).toMatchObject(problem);
  });

  it('must tell of a lock that was ended and of the state that nobody made', async () => {
    expect(await verdict()).toBeUndefined();
    const store = await folder.store('crm');
    const { lock } = await locked(store);
    expect(await store.unlock(lock.lockId, 'bob@there')).toBe(true);
    expect((await store.audit()).at(-1)).toMatchObject({ what: 'lock.broken', actor: 'bob@there', detail: { lockId: lock.lockId } });
    await store.close();
  });
});

describe('evidence', () => {
  it('must be kept for every run, and be refused when it was altered', async () => {
    await fiveOperations();
    const store = await folder.store('crm');
    const rows = await store.evidence();
    expect(rows.map(({ serial, part }) => [serial, part])).toEqual([1, 2, 3, 4, 5].map((serial) => [serial, 1]));
    expect((await store.evidence(3))[0]?.body).toEqual({ format: 'accede.evidence/v1', number: 3 });
    await store.close();
    folder.alter(`UPDATE accede_evidence SET body = replace(body, '"number":4', '"number":9') WHERE serial = 4`);
    const again = await folder.store('crm');
    await expect(again.evidence()).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    expect(await again.evidence(3)).toHaveLength(1);
    await again.close();
  });
});
