import { randomBytes } from 'node:crypto';
import { openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalText, digestBytes } from '../../../src/core/canonical.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, addressOf, identityOf, rowOf } from '../../support/state-rows.ts';

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
});
afterEach(() => folder.remove());

/** Every way in must refuse with that code, and leave the file as it is. */
async function mustRefuse(code: string, words: RegExp, environment = 'crm'): Promise<void> {
  const before = readFileSync(folder.path);
  const store = await folder.store(environment);
  const error = { name: 'BackendError', code, message: expect.stringMatching(words) };
  await expect(store.read()).rejects.toMatchObject(error);
  await expect(store.history()).rejects.toMatchObject(error);
  await expect(store.unlock('x', 'tester@here')).rejects.toMatchObject(error);
  await expect(store.acquire({ who: 'a', purpose: 'b', create: { identity: identityOf(environment) } })).rejects.toMatchObject(error);
  await store.close();
  expect(readFileSync(folder.path)).toEqual(before);
}

describe('a file that is not our state', () => {
  it.each([
    ['a word', Buffer.from('hello')],
    ['a text', Buffer.from('not a database\n'.repeat(1_000))],
    ['random bytes', randomBytes(20_000)],
    ['zeros', Buffer.alloc(8_192)],
  ])('must be refused when it is %s', async (_, content) => {
    writeFileSync(folder.path, content, { mode: 0o600 });
    await mustRefuse('STATE_CORRUPT', /not a state/);
  });

  it('must be refused when it is the database of something else', async () => {
    writeFileSync(folder.path, '', { mode: 0o600 });
    folder.alter('CREATE TABLE customers (name TEXT)');
    await mustRefuse('STATE_FORMAT', /something else/);
  });

  it('must be refused under the name of another environment', async () => {
    await folder.filled();
    await mustRefuse('STATE_FOREIGN', /belongs to the environment crm/, 'shop');
  });

  it('must be refused when a newer version wrote its tables', async () => {
    await folder.filled();
    folder.alter('UPDATE accede_schema SET version = 99');
    await mustRefuse('STATE_FORMAT', /format 99/);
  });

  it('must be refused when its identity has a newer format', async () => {
    await folder.filled();
    folder.alter('UPDATE accede_identity SET format = 2');
    await mustRefuse('STATE_FORMAT', /format 2/);
  });
});

describe('a damaged state', () => {
  it('must be refused when its pages are overwritten', async () => {
    await folder.filled(200);
    const size = statSync(folder.path).size;
    const file = openSync(folder.path, 'r+');
    for (let at = 4_096; at < size; at += 4_096) writeSync(file, randomBytes(512), 0, 512, at);
    await expect((await folder.store()).read()).rejects.toMatchObject({ name: 'BackendError', code: 'STATE_CORRUPT' });
  });

  it('must be refused when it was cut', async () => {
    await folder.filled(200);
    truncateSync(folder.path, 20_480);
    await expect((await folder.store()).read()).rejects.toMatchObject({ name: 'BackendError', code: 'STATE_CORRUPT' });
  });

  const body = (changes: object) => canonicalText({ ...rowOf(1), ...changes });
  const put = (text: string) =>
    `UPDATE accede_resource SET body = '${text}', digest = '${digestBytes(text)}' WHERE address = '${addressOf(1)}'`;
  it.each([
    [
      'a body was changed',
      `UPDATE accede_resource SET body = replace(body, '"size":1', '"size":2')`,
      /row of box\.thing\.r0 in the table accede_resource/,
    ],
    ['a body is not JSON', put('{'), /box\.thing\.r1.*not JSON/],
    ['a body lacks a member', put(body({ id: undefined })), /box\.thing\.r1.*\(id /],
    ['a body has a member too many', put(body({ extra: 1 })), /box\.thing\.r1/],
    ['a body has a wrong status', put(body({ status: 'odd' })), /box\.thing\.r1.*\(status /],
    ['a body is of another address', put(canonicalText(rowOf(7))), /box\.thing\.r1.*another address/],
    [
      'a lock has no number',
      `INSERT INTO accede_lock VALUES ('crm', 'l', -1, 't', 'w', 'h', 'b', 1, 's', 'p', 's', 'c', 1)`,
      /accede_lock/,
    ],
    ['the head is gone', 'DELETE FROM accede_head', /accede_head/],
    ['an outcome is unknown', `UPDATE accede_operation SET outcome = 'odd'`, /operation 1 in the table accede_operation/],
    ['outputs are not a list', `INSERT INTO accede_outputs VALUES ('crm', 1, '{}')`, /accede_outputs/],
    ['a sealed document is cut', `INSERT INTO accede_sealed VALUES ('crm', 1, '{"serial":')`, /accede_sealed/],
    ['a step is damaged', `INSERT INTO accede_step VALUES ('crm', 1, 's7', 1, 1, '{}')`, /step s7 in the table accede_step/],
    ['a table is gone', 'DROP TABLE accede_resource', /no such table: accede_resource/],
    ['the version is gone', 'DELETE FROM accede_schema', /accede_schema/],
    ['the key is malformed', `UPDATE accede_identity SET fingerprint_key = 'short'`, /accede_identity/],
  ])('must be named where %s', async (_, sql, words) => {
    await folder.filled();
    folder.alter(sql);
    const store = await folder.store();
    await expect(store.read()).rejects.toMatchObject({
      name: 'BackendError',
      code: 'STATE_CORRUPT',
      message: expect.stringMatching(words),
    });
  });

  it('must never have the damaged content in the message', async () => {
    await folder.filled();
    folder.alter(put('{"canary-7731'));
    const error = await (await folder.store()).read().catch((thrown: unknown) => thrown);
    expect(String(error)).not.toContain('canary-7731');
  });

  it('must be refused for writing when two objects have one id', async () => {
    const store = await folder.store();
    const { session } = await acquired(store, 'crm');
    await session.begin(
      { kind: 'apply', planDigest: null, class: null, actor: 'a', reason: null, startedAt: 'b' },
      (await session.read()).head,
    );
    await session.write([1, 2].map((name) => ({ kind: 'row', row: rowOf(name, { id: 'same' }) })));
    await expect(session.read()).rejects.toMatchObject({ code: 'STATE_CORRUPT', message: expect.stringContaining('same') });
  });
});
