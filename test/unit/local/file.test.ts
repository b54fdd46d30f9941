import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { type Attributes, isAttributes, Sensitive, Unknown } from '../../../src/core/value.ts';
import { temporaryPath } from '../../../src/host/atomic.ts';
import { localHost } from '../../../src/host/local.ts';
import type { Change, Host, TypeContext } from '../../../src/providers/contract.ts';
import { fileType } from '../../../src/providers/local/file-type.ts';
import { localProvider } from '../../../src/providers/local/provider.ts';
import { Driver } from '../../conformance/driver.ts';

const context: TypeContext = {
  environment: 'staging',
  address: 'local.file.motd' as ResourceAddress,
  name: 'motd',
  folder: '/srv/environment',
  config: {},
};

describe('the normal form of a file', () => {
  it('must make one spelling of path, mode and accounts', () => {
    expect(fileType.normalize({ path: './out//motd', content: '', mode: '644', owner: 0, group: 'web' }, context)).toEqual({
      path: 'out/motd',
      content: '',
      mode: '0644',
      owner: '0',
      group: 'web',
    });
    expect(fileType.normalize({ path: '/a', content: 'x' }, context)).toEqual({ path: '/a', content: 'x', mode: '0644' });
  });

  it('must take what the loader read in place of the source', () => {
    const read = (member: Attributes) => fileType.normalize({ path: 'a', source: { path: 'x', sha256: 'sha256:0', ...member } }, context);
    expect(read({ text: 'ä\r\n' })).toMatchObject({ content: 'ä\r\n' });
    expect(read({ base64: '/w==' })).toEqual({ path: 'a', content_base64: '/w==', mode: '0644' });
    const secret = Sensitive.open({ path: 'x', sha256: 'sha256:0', base64: '/w==' }, ['key']);
    const normal = fileType.normalize({ path: 'a', source: secret }, context);
    expect(normal['content_base64']).toBeInstanceOf(Sensitive);
    expect(normal['content_base64']).toMatchObject({ names: ['key'] });
  });

  it('must make the content a secret when asked, and keep the names of the secrets in it', () => {
    expect(fileType.normalize({ path: 'a', content: 'x', sensitive: true }, context)['content']).toBeInstanceOf(Sensitive);
    const named = fileType.normalize({ path: 'a', content: Sensitive.open('x', ['token']), sensitive: true }, context);
    expect(named['content']).toMatchObject({ names: ['token'] });
  });

  it('must have the absolute path as identity, and none while it is unknown', () => {
    expect(fileType.identity({ path: '../motd' }, context)).toBe('/srv/motd');
    expect(fileType.identity({ path: '/etc/motd' }, context)).toBe('/etc/motd');
    expect(fileType.identity({ path: new Unknown('x') }, context)).toBeUndefined();
  });

  it('must wrap a live content in the other form when the desired one is a secret', () => {
    const aligned = fileType.align?.({ path: 'a', content: Sensitive.open('x') }, { content_base64: '/w==' });
    expect(aligned?.['content_base64']).toBeInstanceOf(Sensitive);
  });
});

describe('what a file may not be', () => {
  const codes = (attributes: Attributes) => (fileType.check?.(attributes, context) ?? []).map((problem) => problem.code);
  const message = (attributes: unknown) =>
    fileType.schema
      .safeParse(attributes)
      .error?.issues.map((issue) => issue.message)
      .join(' ') ?? '';

  it('must refuse no content and two contents, unknown ones counted', () => {
    expect(codes({ path: 'a' })).toEqual(['CONTENT_MISSING']);
    expect(codes({ path: 'a', content: '', source: 'x' })).toEqual(['CONTENT_TWICE']);
    expect(codes({ path: 'a', content: new Unknown('x') })).toEqual([]);
  });

  it('must refuse more than a mebibyte, counted in bytes', () => {
    expect(codes({ path: 'a', content: 'ä'.repeat(524_288) })).toEqual([]);
    expect(codes({ path: 'a', content: 'ä'.repeat(524_289) })).toEqual(['CONTENT_TOO_LARGE']);
    expect(codes({ path: 'a', source: { base64: Buffer.alloc(1_048_577).toString('base64') } })).toEqual(['CONTENT_TOO_LARGE']);
  });

  it('must refuse a secret path', () => {
    expect(codes({ path: Sensitive.open('a'), content: '' })).toEqual(['PATH_SENSITIVE']);
  });

  it('must refuse a mode that is a number, with the advice to quote it', () => {
    expect(message({ path: 'a', content: '', mode: 420 })).toContain('quoted');
    expect(message({ path: 'a', content: '', mode: '0888' })).toContain('"0644"');
    expect(message({ path: 'a/', content: '' })).toContain('slash');
  });

  it('must refuse another host than this one', () => {
    expect(localProvider.config.safeParse({ host: 'local' }).success).toBe(true);
    expect(localProvider.config.safeParse({ host: 'ssh://a@b' }).error?.issues[0]?.message).toContain('not available yet');
  });
});

describe('the effects of a file', () => {
  const change = (rest: Partial<Change>): Change => ({ action: 'replace', order: 'create-first', paths: [], deposed: false, ...rest });
  const names = (rest: Partial<Change>) => fileType.effects(change(rest)).map((effect) => `${effect.part}:${effect.name}`);
  const paths = (from: string | undefined, to: string) => ({ live: from === undefined ? {} : { path: from }, desired: { path: to } });

  it('must let a successor come first only where its path is surely another one', () => {
    const first = ['apply:depose', 'apply:create', 'retire:retire'];
    const second = ['remove:remove', 'apply:create'];
    expect(names(paths('a', 'b'))).toEqual(first);
    expect(names(paths('/srv/a', '/srv/b'))).toEqual(first);
    expect(names(paths('a', 'a'))).toEqual(second);
    expect(names(paths(undefined, 'a'))).toEqual(second);
    expect(names(paths('a', '/srv/a'))).toEqual(second);
    expect(names(paths('a', '../srv/a'))).toEqual(second);
    expect(names({ ...paths('a', 'b'), order: 'destroy-first' })).toEqual(second);
  });

  it('must do each other change in one step', () => {
    expect(names({ action: 'create' })).toEqual(['apply:create']);
    expect(names({ action: 'update' })).toEqual(['apply:update']);
    expect(names({ action: 'delete' })).toEqual(['retire:remove']);
  });
});

describe('a file on the disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'accede-file-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const driverOn = (host: Host) => new Driver({ provider: localProvider, config: {}, host, folder });

  it('must keep bytes that are no text', async () => {
    const driver = driverOn(localHost());
    const source = { path: 'x', sha256: 'sha256:0', base64: Buffer.from([255, 0, 10]).toString('base64') };
    await driver.create('local.file', 'a', { path: 'a', source });
    expect([...(await readFile(join(folder, 'a')))]).toEqual([255, 0, 10]);
    expect(await driver.differences('local.file', 'a', { path: 'a', source })).toEqual([]);
    expect(await driver.differences('local.file', 'a', { path: 'a', content: 'x' })).toEqual(['content', 'content_base64']);
  });

  it('must keep a byte order mark and line ends as they are', async () => {
    const driver = driverOn(localHost());
    const content = '\uFEFFa\r\nb\r';
    await driver.create('local.file', 'a', { path: 'a', content });
    expect(await driver.differences('local.file', 'a', { path: 'a', content })).toEqual([]);
  });

  it('must not see what is no file, nor take it for absent', async () => {
    const driver = driverOn(localHost());
    const desired = { path: 'a', content: '' };
    await mkdir(join(folder, 'a'));
    expect(await driver.read('local.file', 'a', { desired })).toMatchObject({ kind: 'cannot-see', code: 'CONFLICT' });
    await rm(join(folder, 'a'), { recursive: true });
    await symlink('/etc/hostname', join(folder, 'a'));
    expect(await driver.read('local.file', 'a', { desired })).toMatchObject({ kind: 'cannot-see', code: 'CONFLICT' });
    expect(await driver.read('local.file', 'b', { desired: { path: 'none/b', content: '' } })).toEqual({ kind: 'absent' });
  });

  it('must see a file that grew over the limit as changed', async () => {
    const driver = driverOn(localHost());
    await driver.create('local.file', 'a', { path: 'a', content: 'x' });
    await writeFile(join(folder, 'a'), Buffer.alloc(1_048_577));
    expect(await driver.differences('local.file', 'a', { path: 'a', content: 'x' })).toEqual(['content', 'content_base64']);
    // Not even when the documents hold the words that stand for it.
    const observed = await driver.read('local.file', 'a');
    const words =
      observed.kind === 'found' ? Object.values(observed.attributes).find((value) => String(value).includes('1048577')) : undefined;
    expect(words).toBeDefined();
    expect(await driver.differences('local.file', 'a', { path: 'a', content: words ?? '' })).not.toEqual([]);
  });

  it('must see a path that was spelled in another way as a change only of the path', async () => {
    const driver = driverOn(localHost());
    await driver.create('local.file', 'a', { path: 'a', content: 'x' });
    expect(await driver.differences('local.file', 'a', { path: './a', content: 'x' })).toEqual([]);
    expect(await driver.differences('local.file', 'a', { path: 'b', content: 'x' })).toEqual(['path']);
  });

  it('must see and set owners in the recorded spelling, and not look at those that are not named', async () => {
    const uid = process.getuid?.() ?? 0;
    const gid = process.getgid?.() ?? 0;
    await writeFile(join(folder, 'passwd'), `me:x:${uid}:0:::\nother:x:4242:0:::\n`);
    await writeFile(join(folder, 'group'), `us:x:${gid}:\n`);
    const host = localHost({ passwd: join(folder, 'passwd'), group: join(folder, 'group') });
    const driver = driverOn(host);
    const desired = { path: 'a', content: 'x', owner: 'me', group: 'us' };
    await driver.create('local.file', 'a', desired);
    expect(await driver.differences('local.file', 'a', desired)).toEqual([]);
    expect(await driver.differences('local.file', 'a', { path: 'a', content: 'x' })).toEqual([]);
    expect(await driver.differences('local.file', 'a', { ...desired, owner: 'other', group: 12 })).toEqual(['group', 'owner']);
    const stranger: Host = {
      ...host,
      async status(path) {
        const status = await host.status(path);
        return status === undefined ? undefined : { ...status, uid: 4242 };
      },
    };
    const observed = await driver.read('local.file', 'a', { host: stranger });
    expect(isAttributes(observed.kind === 'found' ? observed.attributes : undefined)).toBe(true);
    expect(observed).toMatchObject({ attributes: { owner: '4242', group: 'us' } });
    await expect(driver.create('local.file', 'b', { path: 'b', content: '', owner: 'nobody-knows' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await host.status(join(folder, 'b'))).toBeUndefined();
  });

  it('must take away what a killed run left, on the next write and on removal', async () => {
    const driver = driverOn(localHost());
    const left = temporaryPath(join(folder, 'a'), `${driver.mark.lineage} local.file.a`);
    await writeFile(left, 'half');
    await driver.create('local.file', 'a', { path: 'a', content: 'x' });
    expect(await readdir(folder)).toEqual(['a']);
    await writeFile(left, 'half');
    await driver.delete('local.file', 'a');
    expect(await readdir(folder)).toEqual([]);
  });

  it('must not remove a directory that took the place of the file', async () => {
    const driver = driverOn(localHost());
    await driver.create('local.file', 'a', { path: 'a', content: 'x' });
    await rm(join(folder, 'a'));
    await mkdir(join(folder, 'a'));
    await expect(driver.delete('local.file', 'a')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('must say which folder is missing and make nothing', async () => {
    const driver = driverOn(localHost());
    await expect(driver.create('local.file', 'a', { path: 'none/a', content: 'x' })).rejects.toThrow(join(folder, 'none'));
    expect(await readdir(folder)).toEqual([]);
  });
});
