import { packTar, unpackTar } from 'modern-tar';
import { canonicalText } from '../../core/canonical.ts';
import type { Plain } from '../../core/value.ts';
import { ProviderError } from '../contract.ts';
import type { Acting } from './acting.ts';
import { mapOf } from './container/create-options.ts';
import { isNotFound } from './errors.ts';
import type { ContainerReply } from './wire.ts';

const ACCOUNTS_LIMIT = 1024 * 1024;

interface FileEntry {
  readonly path: string;
  readonly content: string;
  readonly mode: number;
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** Where a job finds what it is asked. */
const REQUEST = '/accede/request.json';

/**
 * Copies inline `configs` and `secrets`, and the request of a run, into a container that has not started yet. Configs belong to root, the rest to the container's user.
 * Throws `INVALID` when that user has no account in the image.
 */
export async function copyFiles(acting: Acting, container: ContainerReply): Promise<void> {
  const { operation, client, io } = acting;
  const configs = entries(operation.desired['configs'], 'content');
  const secrets = [...entries(operation.desired['secrets'], 'value'), ...requestEntry(operation.request?.document)];
  if (configs.length + secrets.length === 0) return;
  const user = secrets.some((file) => file.uid === undefined || file.gid === undefined) ? await userOf(acting, container) : ROOT;
  const files = [
    ...configs.map((file) => ({ ...file, uid: file.uid ?? 0, gid: file.gid ?? 0 })),
    ...secrets.map((file) => ({ ...file, uid: file.uid ?? user.uid, gid: file.gid ?? user.gid })),
  ];
  const archive = await packTar(
    files.map((file) => {
      const body = Buffer.from(file.content, 'utf8');
      const header = {
        name: file.path.slice(1),
        size: body.length,
        mode: file.mode,
        uid: file.uid,
        gid: file.gid,
        mtime: new Date(0),
        uname: '',
        gname: '',
      };
      return { header, body };
    }),
  );
  await client.put(`/containers/${container.Id}/archive`, {
    signal: io.signal,
    doing: `copy files into the container ${container.Name}`,
    query: { path: '/', noOverwriteDirNonDir: '1' },
    file: Buffer.from(archive),
  });
}

function entries(files: Plain | undefined, content: 'content' | 'value'): readonly FileEntry[] {
  return Object.entries(mapOf(files)).map(([path, file]) => {
    const map = mapOf(file);
    const id = (name: string) => (typeof map[name] === 'number' ? map[name] : undefined);
    return { path, content: String(map[content] ?? ''), mode: Number.parseInt(String(map['mode']), 8), uid: id('uid'), gid: id('gid') };
  });
}

function requestEntry(document: Plain | undefined): readonly FileEntry[] {
  if (document === undefined) return [];
  return [{ path: REQUEST, content: `${canonicalText(document)}\n`, mode: 0o400, uid: undefined, gid: undefined }];
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

const ROOT: User = { uid: 0, gid: 0 };

/** The container's user in numbers. Names are looked up in the image's own accounts. */
async function userOf(acting: Acting, container: ContainerReply): Promise<User> {
  const [user = '', group] = container.Config.User.split(':');
  if (user === '') return ROOT;
  const isNumeric = /^\d+$/.test(user);
  const account = isNumeric && group !== undefined ? undefined : await accountOf(acting, container, user);
  if (!isNumeric && account === undefined) {
    throw new ProviderError(
      'INVALID',
      `The image of ${container.Name} has no user ${user}, so it cannot be told who may read its secrets.`,
      {
        next: 'Give uid and gid with each secret, or write the user as a number.',
      },
    );
  }
  const uid = isNumeric ? Number(user) : (account?.uid ?? 0);
  if (group === undefined || group === '') return { uid, gid: account?.gid ?? 0 };
  if (/^\d+$/.test(group)) return { uid, gid: Number(group) };
  const gid = Number((await accounts(acting, container, '/etc/group')).find(([name]) => name === group)?.[2]);
  if (Number.isInteger(gid)) return { uid, gid };
  throw new ProviderError(
    'INVALID',
    `The image of ${container.Name} has no group ${group}, so it cannot be told who may read its secrets.`,
  );
}

async function accountOf(acting: Acting, container: ContainerReply, user: string): Promise<User | undefined> {
  const fields = (await accounts(acting, container, '/etc/passwd')).find(([name, , uid]) => name === user || uid === user);
  return fields === undefined ? undefined : { uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** The lines of a file such as /etc/passwd in the container; none when it has no such file. */
async function accounts(acting: Acting, container: ContainerReply, path: string): Promise<readonly (readonly string[])[]> {
  try {
    const archive = await acting.client.bytes(`/containers/${container.Id}/archive`, {
      signal: acting.io.signal,
      doing: `read ${path} of the container ${container.Name}`,
      query: { path },
      limit: ACCOUNTS_LIMIT,
    });
    const [file] = await unpackTar(new Uint8Array(archive));
    return new TextDecoder()
      .decode(file?.data)
      .split('\n')
      .map((line) => line.split(':'));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
