import { constants } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryPath } from '../../../src/host/atomic.ts';
import { faultOf } from '../../../src/host/fault.ts';
import { localHost } from '../../../src/host/local.ts';
import { runProgram } from '../../../src/host/program.ts';
import { readOnlyHost } from '../../../src/host/readonly.ts';
import { ProviderError, type ProviderErrorCode } from '../../../src/providers/contract.ts';

const host = localHost();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'accede-host-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function codeOf(attempt: Promise<unknown>): Promise<ProviderErrorCode> {
  return (await failureOf(attempt)).code;
}

async function failureOf(attempt: Promise<unknown>): Promise<ProviderError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('it succeeded and should have failed');
}

const bytes = (text: string) => Buffer.from(text, 'utf8');

describe('writing a file', () => {
  it('must put content and mode in place whatever the umask, and leave nothing beside it', async () => {
    const path = join(folder, 'a');
    const umask = process.umask(0o077);
    try {
      await host.writeFile(path, bytes('one'), { mode: 0o664, key: 'k' });
    } finally {
      process.umask(umask);
    }
    expect(await readFile(path, 'utf8')).toBe('one');
    expect((await host.status(path))?.mode).toBe(0o664);
    await host.writeFile(path, bytes('two'), { mode: 0o600, key: 'k' });
    expect(await readFile(path, 'utf8')).toBe('two');
    expect((await host.status(path))?.mode).toBe(0o600);
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('must replace the name and not the bytes that a reader has open', async () => {
    const path = join(folder, 'a');
    await host.writeFile(path, bytes('old'), { mode: 0o644, key: 'k' });
    await link(path, join(folder, 'other-name'));
    await host.writeFile(path, bytes('new'), { mode: 0o644, key: 'k' });
    expect(await readFile(join(folder, 'other-name'), 'utf8')).toBe('old');
    expect((await host.status(path))?.links).toBe(1);
  });

  it('must name the missing folder', async () => {
    const failure = await failureOf(host.writeFile(join(folder, 'none', 'a'), bytes('x'), { mode: 0o644, key: 'k' }));
    expect(failure.code).toBe('NOT_FOUND');
    expect(failure.message).toContain(join(folder, 'none'));
  });

  it.each(['symlink', 'directory', 'socket or pipe'])('must refuse a %s at the path and leave everything as it was', async (kind) => {
    const path = join(folder, 'a');
    const target = join(folder, 'target');
    await writeFile(target, 'untouched');
    if (kind === 'symlink') await symlink(target, path);
    else if (kind === 'directory') await mkdir(path);
    else await host.run(['mkfifo', path], { signal: new AbortController().signal, timeout: 5000 });
    expect(await codeOf(host.writeFile(path, bytes('x'), { mode: 0o644, key: 'k' }))).toBe('CONFLICT');
    expect((await readdir(folder)).sort()).toEqual(['a', 'target']);
    expect(await readFile(target, 'utf8')).toBe('untouched');
  });

  it('must take away the leftover of a dead run with the same key, and no other file', async () => {
    const path = join(folder, 'a');
    await writeFile(temporaryPath(path, 'k'), 'half a fi');
    await writeFile(temporaryPath(path, 'other'), 'of another run');
    await host.writeFile(path, bytes('whole'), { mode: 0o644, key: 'k' });
    expect(await readFile(path, 'utf8')).toBe('whole');
    expect((await readdir(folder)).sort()).toEqual([temporaryPath('/a', 'other').slice(1), 'a'].sort());
  });

  it('must not follow a link that somebody put where the temporary file goes', async () => {
    const path = join(folder, 'a');
    const victim = join(folder, 'victim');
    await writeFile(victim, 'untouched');
    await symlink(victim, temporaryPath(path, 'k'));
    expect(await codeOf(host.writeFile(path, bytes('x'), { mode: 0o644, key: 'k' }))).toBe('CONFLICT');
    expect(await readFile(victim, 'utf8')).toBe('untouched');
    expect(await host.status(path)).toBeUndefined();
  });

  it('must leave the old file and nothing else when the write breaks off', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    const script = join(folder, 'script.mts');
    const module = new URL('../../../src/host/local.ts', import.meta.url).href;
    await writeFile(
      script,
      `import { localHost } from ${JSON.stringify(module)};
       await localHost().writeFile(${JSON.stringify(path)}, Buffer.alloc(200_000), { mode: 0o644, key: 'k' }).then(
         () => process.stdout.write('written'),
         (error) => process.stdout.write(error.code),
       );`,
    );
    // The largest file that the child may write is 100 KiB: the write of 200 KB fails in its middle.
    const command = 'ulimit -f 100; exec "$0" --import tsx "$1"';
    const environment = { PATH: process.env['PATH'] ?? '', HOME: folder, TSX_DISABLE_CACHE: '1' };
    const run = await runProgram(['bash', '-c', command, process.execPath, script], {
      environment,
      signal: new AbortController().signal,
      timeout: 30_000,
      endedEarly: 'TIMEOUT',
    });
    expect(run).toMatchObject({ stdout: 'EXHAUSTED' });
    expect(await readFile(path, 'utf8')).toBe('old');
    expect((await readdir(folder)).filter((name) => name.includes('.accede-'))).toEqual([]);
  });

  it('must say that a place where nobody may write is forbidden', async () => {
    expect(await codeOf(host.writeFile('/sys/accede-probe', bytes('x'), { mode: 0o644, key: 'k' }))).toBe('FORBIDDEN');
  });

  it('must call a full device exhausted', async () => {
    const full = await open('/dev/full', constants.O_WRONLY);
    const error = await full.writeFile('x').catch((reason: unknown) => reason);
    await full.close();
    expect(faultOf(error, 'The file could not be written')).toMatchObject({ code: 'EXHAUSTED' });
  });
});

describe('reading a file', () => {
  it('must answer the bytes up to the limit and refuse one more', async () => {
    const path = join(folder, 'a');
    await writeFile(path, Buffer.from([0, 255, 10]));
    expect([...(await host.readFile(path, { limit: 3 }))]).toEqual([0, 255, 10]);
    expect(await codeOf(host.readFile(path, { limit: 2 }))).toBe('INVALID');
  });

  it('must refuse a link, a directory and a pipe, without waiting', async () => {
    await writeFile(join(folder, 'a'), 'x');
    await symlink(join(folder, 'a'), join(folder, 'link'));
    await host.run(['mkfifo', join(folder, 'pipe')], { signal: new AbortController().signal, timeout: 5000 });
    for (const path of ['link', 'pipe', '.']) {
      expect(await codeOf(host.readFile(join(folder, path), { limit: 10 })), path).toBe('CONFLICT');
    }
  });

  it('must refuse a file whose size is not what the system says', async () => {
    // Files of /proc say that they are empty, and are not.
    expect(await codeOf(host.readFile('/proc/self/status', { limit: 65_536 }))).toBe('CONFLICT');
  });

  it('must tell missing from unseen', async () => {
    expect(await host.status(join(folder, 'none'))).toBeUndefined();
    expect(await codeOf(host.readFile(join(folder, 'none'), { limit: 1 }))).toBe('NOT_FOUND');
    await symlink('loop', join(folder, 'loop'));
    expect(await codeOf(host.status(join(folder, 'loop', 'a')))).toBe('CONFLICT');
    await writeFile(join(folder, 'file'), '');
    expect(await codeOf(host.status(join(folder, 'file', 'a')))).toBe('CONFLICT');
  });
});

describe('names, folders and owners', () => {
  it('must list sorted by code unit', async () => {
    for (const name of ['b', 'a', 'B', 'ä']) await writeFile(join(folder, name), '');
    expect(await host.list(folder)).toEqual(['B', 'a', 'b', 'ä']);
  });

  it('must make a folder with its mode whatever the umask, and take one that is there as made', async () => {
    const path = join(folder, 'sub');
    const umask = process.umask(0o077);
    try {
      await host.makeFolder(path, { mode: 0o755 });
    } finally {
      process.umask(umask);
    }
    expect((await host.status(path))?.mode).toBe(0o755);
    await host.makeFolder(path, { mode: 0o700 });
    expect((await host.status(path))?.mode).toBe(0o755);
    await writeFile(join(folder, 'file'), '');
    expect(await codeOf(host.makeFolder(join(folder, 'file'), { mode: 0o700 }))).toBe('CONFLICT');
  });

  it('must remove what is there, take what is gone as removed, and keep a folder with content', async () => {
    await writeFile(join(folder, 'a'), '');
    await writeFile(temporaryPath(join(folder, 'a'), 'k'), 'left by a dead run');
    await host.removeFile(join(folder, 'a'), { key: 'k' });
    await host.removeFile(join(folder, 'a'), { key: 'k' });
    expect(await readdir(folder)).toEqual([]);
    await host.makeFolder(join(folder, 'sub'), { mode: 0o700 });
    await writeFile(join(folder, 'sub', 'a'), '');
    expect(await codeOf(host.removeFolder(join(folder, 'sub')))).toBe('CONFLICT');
    await host.removeFile(join(folder, 'sub', 'a'));
    await host.removeFolder(join(folder, 'sub'));
    await host.removeFolder(join(folder, 'sub'));
    expect(await readdir(folder)).toEqual([]);
  });

  it('must rename, and change mode and owner, without following a link', async () => {
    const path = join(folder, 'a');
    await writeFile(path, '');
    await chmod(path, 0o600);
    await symlink(path, join(folder, 'link'));
    expect(await codeOf(host.setMode(join(folder, 'link'), 0o666))).toBe('CONFLICT');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await host.setMode(path, 0o640);
    await host.setOwner(join(folder, 'link'), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    await host.rename(path, join(folder, 'b'));
    expect((await host.status(join(folder, 'b')))?.mode).toBe(0o640);
    expect(await codeOf(host.rename(path, join(folder, 'c')))).toBe('NOT_FOUND');
  });

  it('must find users and groups by name in the tables', async () => {
    const passwd = join(folder, 'passwd');
    const group = join(folder, 'group');
    await writeFile(passwd, 'root:x:0:0::/root:/bin/sh\n# app:x:1:1\napp:x:10001:5::/:/bin/false\nbad:x:-1:0::/:\napp:x:7:7::/:\n');
    await writeFile(group, 'root:x:0:\nweb:x:33:app\n');
    const here = localHost({ passwd, group });
    expect(await here.userId('app')).toBe(10001);
    expect(await here.userId('root')).toBe(0);
    expect(await here.userId('bad')).toBeUndefined();
    expect(await here.userId('nobody-knows')).toBeUndefined();
    expect(await here.groupId('web')).toBe(33);
    expect(await codeOf(localHost({ passwd: join(folder, 'none') }).userId('root'))).toBe('NOT_FOUND');
  });
});

describe('running a program', () => {
  const signal = new AbortController().signal;

  it('must pass arguments without a shell, and an environment of its own', async () => {
    process.env['ACCEDE_TEST_CANARY'] = 'must not be seen';
    const run = await localHost({ environment: { PATH: process.env['PATH'], HOME: folder } }).inspect(['env'], { signal, timeout: 5000 });
    delete process.env['ACCEDE_TEST_CANARY'];
    const names = run.stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    expect(names.filter((name) => name !== '_').sort()).toEqual(['HOME', 'LANG', 'PATH']);
    const echo = await host.inspect(['printf', '%s|', '$HOME', '; ls', 'a b'], { signal, timeout: 5000 });
    expect(echo).toEqual({ code: 0, stdout: '$HOME|; ls|a b|', stderr: '' });
  });

  it('must give input, the exit code and both outputs', async () => {
    const run = await host.run(['sh', '-c', 'cat; echo no >&2; exit 3'], { signal, timeout: 5000, input: bytes('yes') });
    expect(run).toEqual({ code: 3, stdout: 'yes', stderr: 'no\n' });
    expect(await host.run(['sh', '-c', 'kill -TERM $$'], { signal, timeout: 5000 })).toMatchObject({ code: 143 });
    expect(await host.run(['true'], { signal, timeout: 5000, input: Buffer.alloc(4_000_000) })).toMatchObject({ code: 0 });
  });

  it('must cap the output and still see the end', async () => {
    const run = await host.inspect(['sh', '-c', 'head -c 3000000 /dev/zero; exit 7'], { signal, timeout: 20_000 });
    expect(run.code).toBe(7);
    expect(run.stdout.length).toBe(1024 * 1024);
  });

  it('must end the whole group at the timeout, and say of a change that its outcome is unknown', async () => {
    const command = `sleep 60 & echo $! > ${join(folder, 'pid')}; wait`;
    expect(await codeOf(host.inspect(['sh', '-c', command], { signal, timeout: 300 }))).toBe('TIMEOUT');
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await codeOf(host.run(['sleep', '60'], { signal, timeout: 50 }))).toBe('UNKNOWN_OUTCOME');
  });

  it('must end at the signal, and not start after it', async () => {
    const controller = new AbortController();
    const running = codeOf(host.run(['sleep', '60'], { signal: controller.signal, timeout: 60_000 }));
    controller.abort();
    expect(await running).toBe('UNKNOWN_OUTCOME');
    expect(await codeOf(host.run(['touch', join(folder, 'made')], { signal: controller.signal, timeout: 1000 }))).toBe('OTHER');
    expect(await readdir(folder)).toEqual([]);
  });

  it('must say when a program is not there or may not run, and never name its arguments', async () => {
    const missing = await failureOf(host.run(['accede-no-such-program', '--password=hush'], { signal, timeout: 1000 }));
    expect(missing.code).toBe('NOT_FOUND');
    await writeFile(join(folder, 'plain'), '');
    const forbidden = await failureOf(host.run([join(folder, 'plain'), '--password=hush'], { signal, timeout: 1000 }));
    expect(forbidden.code).toBe('FORBIDDEN');
    const late = await failureOf(host.run(['sleep', '60', '--', 'hush'].slice(0, 2) as [string, string], { signal, timeout: 20 }));
    for (const failure of [missing, forbidden, late]) expect(failure.message).not.toContain('hush');
  });
});

describe('the host for reading', () => {
  it('must have the reading methods and no other', () => {
    const reading = readOnlyHost(host);
    expect(Object.keys(reading).sort()).toEqual([
      'groupId',
      'inspect',
      'list',
      'name',
      'processesOf',
      'readFile',
      'status',
      'userId',
      'variables',
    ]);
    expect(Object.getPrototypeOf(reading)).toBe(Object.prototype);
    expect(Object.isFrozen(reading)).toBe(true);
  });

  it('must leave what it reads as it is, times of change included', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'x');
    await utimes(path, 1000, 1000);
    const reading = readOnlyHost(host);
    await reading.readFile(path, { limit: 10 });
    await reading.status(path);
    expect((await stat(path)).mtimeMs).toBe(1_000_000);
    expect(await reading.list(folder)).toEqual(['a']);
  });
});

/** A process that ended and was not collected yet by its parent does not run. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return false;
    throw error;
  }
}
