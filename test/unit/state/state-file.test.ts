import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { SqliteDriver } from '../../../src/state/driver-sqlite.ts';
import { StateChild } from '../../support/state-children.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, begun, identityOf, rowOf } from '../../support/state-rows.ts';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
});
afterEach(() => folder.remove());

describe('where nothing is', () => {
  it('must not make a file or a folder for reading', async () => {
    const store = await folder.store('crm', join(folder.root, 'a', 'b', 'state.db'));
    expect(await store.read()).toBeUndefined();
    expect(await store.history()).toEqual([]);
    expect(await store.unlock('x', 'tester@here')).toBe(false);
    await expect(store.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject({ code: 'STATE_UNREACHABLE' });
    await store.close();
    expect(readdirSync(folder.root)).toEqual([]);
  });

  it('must make the file 0600 and its folders 0700 under any umask, its companions too', async () => {
    const path = join(folder.root, 'a', 'b', 'state.db');
    const child = new StateChild({ location: { backend: 'sqlite', path }, environment: 'crm', command: 'hold', umask: 0 });
    await child.answer(0);
    const files = readdirSync(join(folder.root, 'a', 'b'));
    expect(files.sort()).toEqual(['state.db', 'state.db-shm', 'state.db-wal']);
    expect(files.map((name) => modeOf(join(folder.root, 'a', 'b', name)))).toEqual(['600', '600', '600']);
    expect([modeOf(join(folder.root, 'a')), modeOf(join(folder.root, 'a', 'b'))]).toEqual(['700', '700']);
    child.tell('release');
    expect(await child.exit()).toBe(0);
  });

  it('must keep the mode of a folder that was there', async () => {
    chmodSync(folder.root, 0o755);
    await folder.filled();
    expect([modeOf(folder.root), modeOf(folder.path)]).toEqual(['755', '600']);
  });

  it('must take an empty file for no state yet, and fill it', async () => {
    writeFileSync(folder.path, '', { mode: 0o600 });
    expect(await (await folder.store()).read()).toBeUndefined();
    await folder.filled();
    expect((await (await folder.store()).read())?.resources.size).toBe(2);
  });

  it('must say that the folder cannot be made where a file stands in its way', async () => {
    writeFileSync(join(folder.root, 'a'), '');
    const store = await folder.store('crm', join(folder.root, 'a', 'state.db'));
    await expect(acquired(store, 'crm')).rejects.toMatchObject({ code: 'STATE_UNREACHABLE' });
  });

  it('must work at a path with every awkward character', async () => {
    const odd = await StateFolder.make('a b?c#d%e&mode=rw.db');
    await odd.filled();
    expect((await (await odd.store()).read())?.resources.size).toBe(2);
    expect(existsSync(odd.path)).toBe(true);
    await odd.remove();
  });
});

describe('an unsafe file', () => {
  const refused = async (path: string, problem: string) => {
    const before = readFileSync(path);
    const store = await folder.store('crm', path);
    const error = { name: 'BackendError', code: 'STATE_FILE_UNSAFE', message: expect.stringContaining(problem) };
    await expect(store.read()).rejects.toMatchObject(error);
    await expect(store.acquire({ who: 'a', purpose: 'b', create: { identity: identityOf('crm') } })).rejects.toMatchObject(error);
    expect(readFileSync(path)).toEqual(before);
  };

  it('must be refused when it is a symbolic link, even to a good state', async () => {
    await folder.filled();
    const link = join(folder.root, 'link.db');
    symlinkSync(folder.path, link);
    await refused(link, 'symbolic link');
  });

  it('must be refused when it has another hard link', async () => {
    await folder.filled();
    linkSync(folder.path, join(folder.root, 'other.db'));
    await refused(folder.path, 'hard links');
  });

  it.each([0o640, 0o604, 0o660, 0o620])('must be refused with the mode %o', async (mode) => {
    await folder.filled();
    chmodSync(folder.path, mode);
    await refused(folder.path, 'mode');
  });

  it('must be refused when it belongs to somebody else', async () => {
    await folder.filled();
    // Who is not root can't give a file away, but finds one of root's.
    if (isRoot) chownSync(folder.path, NOBODY, NOBODY);
    await refused(isRoot ? folder.path : '/etc/passwd', 'belongs to user');
  });

  it('must be refused when it is a folder', async () => {
    mkdirSync(folder.path);
    await expect((await folder.store()).read()).rejects.toMatchObject({ code: 'STATE_FILE_UNSAFE' });
  });

  it.each(['-wal', '-shm', '-journal'])('must be refused when its companion %s is a link', async (companion) => {
    await folder.filled();
    const target = join(folder.root, 'target');
    writeFileSync(target, 'mine', { mode: 0o600 });
    for (const suffix of ['-wal', '-shm']) renameIfThere(`${folder.path}${suffix}`);
    symlinkSync(target, `${folder.path}${companion}`);
    await refused(folder.path, companion);
    expect(readFileSync(target, 'utf8')).toBe('mine');
  });

  it('must fail a write, and not acknowledge it, when the file was moved away meanwhile', async () => {
    const store = await folder.store();
    const { session } = await acquired(store, 'crm');
    await begun(store, session);
    renameSync(folder.path, `${folder.path}.moved`);
    await expect(session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject({ code: 'STATE_FILE_UNSAFE' });
    expect(await store.read()).toBeUndefined();
  });
});

describe('a commit', () => {
  it('must not be acknowledged when the file was moved away before its end', async () => {
    await folder.filled();
    const driver = new SqliteDriver(folder.path, { clock: systemClock, time: () => ({ domain: 'test', ms: 0 }) });
    const writing = driver.write(
      async (transaction) => {
        await transaction.execute('DELETE FROM accede_resource');
        renameSync(folder.path, `${folder.path}.moved`);
      },
      { boundary: 'state.write' },
    );
    await expect(writing).rejects.toMatchObject({ code: 'STATE_FILE_UNSAFE' });
    await driver.close();
  });
});

describe('the first write', () => {
  it('must wait for another process that is making the same file', async () => {
    writeFileSync(folder.path, '', { mode: 0o600 });
    const other = new Database(folder.path);
    other.exec('BEGIN IMMEDIATE');
    const store = await folder.store();
    const pending = acquired(store, 'crm');
    // The first try meets the other one, and the later ones do until it is through.
    for (let tick = 0; tick < 20; tick++) await systemClock.sleep(1);
    other.exec('COMMIT');
    other.close();
    expect((await pending).lock.fence).toBe(1);
  });
});

describe('reading', () => {
  it('must not change a byte of the file', async () => {
    await folder.filled(50);
    const before = readFileSync(folder.path);
    const store = await folder.store();
    await store.read();
    await store.readAt(1);
    await store.history();
    await store.close();
    expect(readFileSync(folder.path)).toEqual(before);
  });

  it('must answer at once, with the last commit, while a transaction is open, and so must a busy lock', async () => {
    await folder.filled();
    const { lock } = await acquired(await folder.store(), 'crm');
    const driver = new SqliteDriver(folder.path, { clock: systemClock, time: () => ({ domain: 'test', ms: 0 }) });
    let finish: () => void = () => undefined;
    let reached: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const writing = driver.write(
      async (transaction) => {
        await transaction.execute('DELETE FROM accede_resource');
        reached();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      },
      { boundary: 'state.write' },
    );
    await inside;
    const store = await folder.store();
    expect((await store.read())?.resources.size).toBe(2);
    expect(await store.acquire({ who: 'a', purpose: 'b' })).toEqual({ kind: 'busy', holder: lock });
    finish();
    await writing;
    expect((await store.read())?.resources.size).toBe(0);
    await driver.close();
  });

  it('must work in a folder that may not be written, after a clean end and after a kill', { timeout: 60_000 }, async () => {
    const location = { backend: 'sqlite', path: folder.path } as const;
    const user = isRoot ? { user: NOBODY } : {};
    const seal = () => {
      for (const name of readdirSync(folder.root)) if (isRoot) chownSync(join(folder.root, name), NOBODY, NOBODY);
      if (isRoot) chownSync(folder.root, NOBODY, NOBODY);
      chmodSync(folder.root, 0o500);
    };
    const answer = async () => {
      const child = new StateChild({ location, environment: 'crm', command: 'read', ...user });
      const found = await child.answer(0);
      await child.exit();
      return found;
    };
    const unseal = () => {
      chmodSync(folder.root, 0o700);
      for (const path of [folder.root, ...readdirSync(folder.root).map((name) => join(folder.root, name))]) {
        if (isRoot) chownSync(path, 0, 0);
      }
    };

    const calm = new StateChild({ location, environment: 'crm', command: 'hold' });
    await calm.answer(0);
    calm.tell('release');
    await calm.exit();
    seal();
    expect(await answer()).toEqual({ serial: 0 });
    unseal();
    for (const suffix of ['-wal', '-shm']) renameIfThere(`${folder.path}${suffix}`);
    seal();
    expect(await answer()).toEqual({ serial: 0 });
    unseal();

    const writer = new StateChild({ location, environment: 'crm', command: 'write' });
    await writer.answer(0);
    await writer.kill();
    seal();
    expect(await answer()).toEqual({ serial: 1 });
    unseal();
  });
});

/** The companions are empty of what counts after a clean end; whether they stay is SQLite's affair. */
function renameIfThere(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.away`);
}
