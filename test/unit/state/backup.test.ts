import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds, systemClock } from '../../../src/core/clock.ts';
import { takeBackup } from '../../../src/state/backup.ts';
import { BackupFile } from '../../../src/state/backup-file.ts';
import { openTables, type StoreOptions } from '../../../src/state/open.ts';
import { systemProcessIdentity } from '../../../src/state/process.ts';
import { restoreBackup } from '../../../src/state/restore.ts';
import { tableNames } from '../../../src/state/schema.ts';
import { rowsOf, SECTIONS } from '../../../src/state/sections.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, begun, rowOf, stepOf } from '../../support/state-rows.ts';

let folder: StateFolder;
let path: string;
beforeEach(async () => {
  folder = await StateFolder.make();
  path = join(folder.root, 'backup');
});
afterEach(() => folder.remove());

function optionsOf(name = 'state.db'): StoreOptions {
  const location = { backend: 'sqlite', path: join(folder.root, name) } as const;
  return { location, environment: 'crm', clock: systemClock, ids: randomIds, host: systemProcessIdentity() };
}

async function refusal(): Promise<{ readonly code: string; readonly message: string } | undefined> {
  try {
    await (await BackupFile.open(path)).close();
    return undefined;
  } catch (error) {
    return error as { readonly code: string; readonly message: string };
  }
}

describe('a backup', () => {
  it('must hold every table of a state but those that belong to a store, with every column', async () => {
    await folder.filled();
    const { driver, sql } = openTables(optionsOf());
    const { prefix: _prefix, schema: _schema, lock: _lock, standing: _standing, ...tables } = tableNames('accede_');
    expect(SECTIONS.map(({ table }) => table).sort()).toEqual(Object.keys(tables).sort());
    await driver.read(async (transaction) => {
      for (const { table, columns } of SECTIONS) {
        const rows = await transaction.query(driver.dialect.listColumns(sql.tables[table]));
        expect([...columns, 'environment'].sort(), table).toEqual(rows.map((row) => String(row['name'])).sort());
      }
    });
    await driver.close();
  });

  it('must be refused wherever one byte of it was altered, by the name of the section', async () => {
    await folder.filled(1);
    await takeBackup(optionsOf(), { path, by: 'ann@here' });
    const file = await BackupFile.open(path);
    const { entries } = file;
    await file.close();
    const bytes = readFileSync(path);
    const borders = entries.map((_, index) => entries.slice(0, index + 1).reduce((sum, entry) => sum + entry.bytes, 0));
    const last = borders.at(-1) ?? 0;
    const around = [0, ...borders, bytes.length - 1].flatMap((border) => [border - 1, border, border + 1]);
    const places = new Set([...around, ...Array.from({ length: Math.ceil(bytes.length / 5) }, (_, index) => index * 5)]);
    for (const at of [...places].filter((place) => place >= 0 && place < bytes.length)) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      writeFileSync(path, altered);
      const found = await refusal();
      expect(found?.code, `byte ${at}`).toBe('STATE_BACKUP_DAMAGED');
      const section = entries[borders.findIndex((border) => at < border)]?.name ?? 'manifest';
      // The end of the line before it is where the manifest begins.
      expect(found?.message, `byte ${at}`).toContain(`the section ${at === last - 1 ? 'manifest' : section} was altered`);
    }
    for (const cut of [bytes.length - 1, last, last - 1, 400, 250]) {
      writeFileSync(path, bytes);
      truncateSync(path, cut);
      expect((await refusal())?.code, `cut at ${cut}`).toBe('STATE_BACKUP_DAMAGED');
    }
    writeFileSync(path, Buffer.concat([bytes, Buffer.from('\n')]));
    expect((await refusal())?.code).toBe('STATE_BACKUP_DAMAGED');
    writeFileSync(path, bytes);
    expect(await refusal()).toBeUndefined();
  });

  it('must be told from files of another kind', async () => {
    writeFileSync(path, 'hello\n');
    expect(await refusal()).toMatchObject({ code: 'STATE_BACKUP_FORMAT' });
    writeFileSync(path, '');
    expect(await refusal()).toMatchObject({ code: 'STATE_BACKUP_FORMAT' });
    writeFileSync(path, '{"environment":"crm","format":"accede.state/v1"}\n');
    expect(await refusal()).toMatchObject({ code: 'STATE_BACKUP_FORMAT', next: expect.stringContaining('state push') });
    path = folder.root;
    expect(await refusal()).toMatchObject({ code: 'FILE_UNREADABLE' });
    path = join(folder.root, 'none');
    expect(await refusal()).toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('must not be taken of a state that is damaged or whose audit chain is broken, and leave no file', async () => {
    await folder.filled();
    folder.alter("UPDATE accede_audit SET body = replace(body, 'tester', 'nobody') WHERE ordinal = 2");
    await expect(takeBackup(optionsOf(), { path, by: 'ann@here' })).rejects.toMatchObject({
      code: 'AUDIT_BROKEN',
      message: expect.stringContaining('2'),
    });
    folder.alter("UPDATE accede_resource SET body = replace(body, 'thing', 'thong')");
    await expect(takeBackup(optionsOf(), { path, by: 'ann@here' })).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    await expect(BackupFile.open(path)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('must be put back whole or not at all', async () => {
    await folder.filled(3);
    await takeBackup(optionsOf(), { path, by: 'ann@here' });
    const file = await BackupFile.open(path);
    // Altered behind the back of who has verified it.
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('"thing 2') + 1] = 0x54;
    writeFileSync(path, bytes);
    const order = { actor: 'ann@here', reason: null, lostUpTo: 1 };
    await expect(restoreBackup(optionsOf('new.db'), file, order)).rejects.toMatchObject({ code: 'STATE_BACKUP_DAMAGED' });
    await file.close();
    const store = await folder.store('crm', join(folder.root, 'new.db'));
    expect(await store.read()).toBeUndefined();
  });

  it('must read every row once, however many pages there are', async () => {
    const store = await folder.store();
    const { session } = await acquired(store, 'crm');
    await begun(store, session);
    await session.write([
      ...Array.from({ length: 1_203 }, (_, index) => ({ kind: 'row' as const, row: rowOf(index) })),
      ...Array.from({ length: 1_000 }, (_, index) => ({ kind: 'step' as const, step: stepOf(1, `s${index}`) })),
    ]);
    await session.end(1, 'done', null);
    await begun(store, session);
    await session.write(Array.from({ length: 700 }, (_, index) => ({ kind: 'row' as const, row: rowOf(index, { status: 'tainted' }) })));
    await session.end(2, 'done', null);
    const { driver, sql, environment } = openTables(optionsOf());
    await driver.read(async (transaction) => {
      for (const section of SECTIONS) {
        const seen = new Set<string>();
        let rows = 0;
        for await (const row of rowsOf(transaction, sql, environment, section)) {
          rows += 1;
          seen.add(section.keys.map((key) => String(row[key])).join(' '));
        }
        const [counted] = await transaction.query(`SELECT COUNT(*) AS count FROM ${sql.tables[section.table]}`);
        expect([section.name, rows, seen.size]).toEqual([section.name, counted?.['count'], counted?.['count']]);
      }
    });
    await driver.close();
  });
});
