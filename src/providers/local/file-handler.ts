import type { Attributes } from '../../core/value.ts';
import {
  type EffectIo,
  type FileStatus,
  type Host,
  type ObjectQuery,
  type Observed,
  type Operation,
  ProviderError,
  type ReadHost,
  type ReadIo,
  type Receipt,
  type Residue,
  type Undo,
} from '../contract.ts';
import { accountAs } from './accounts.ts';
import { bytesOfContent, CONTENT_LIMIT, contentOfBytes, isTooLarge, tooLarge } from './content.ts';
import { absolutePath, fileType, modeText } from './file-type.ts';
import { placeOf, readAtPath, resolveAtPath } from './path-object.ts';

/** Reads a file. What is at the path and is no file, and what cannot be read, is not seen; it is never taken for absent. */
export async function readFileObject(query: ObjectQuery, io: ReadIo): Promise<Observed> {
  return await readAtPath(query, (path) => observe(path, query, io.host));
}

/** An absolute path of a regular file is its own live id. */
export async function resolveFile(id: string, io: ReadIo): Promise<string | undefined> {
  return await resolveAtPath(id, 'file', io);
}

/** Carries out one effect of a file. */
export async function performFile(operation: Operation, io: EffectIo): Promise<Receipt> {
  switch (operation.effect.object) {
    case 'create':
      return await create(operation, io.host);
    case 'update':
      return await write(operation, desiredPath(operation), io.host);
    case 'remove':
    case 'retire':
      return await remove(operation, operation.ref, io.host);
    case 'depose':
      // The predecessor stays at its path, which is not that of its successor.
      return {};
    case 'keep':
      throw new Error(`local.file has no effect ${operation.effect.name}`);
  }
  return operation.effect.object satisfies never;
}

/** Takes one effect of a file back: what was made goes, what was changed or removed gets its former bytes, mode and owner. */
export async function undoFile(undo: Undo, io: EffectIo): Promise<void> {
  switch (undo.effect.object) {
    case 'create':
      return await unmake(undo, io.host);
    case 'update':
    case 'remove':
      return await putBack(undo, io.host);
    case 'depose':
    case 'keep':
      return;
    case 'retire':
      throw new Error('a predecessor that was removed does not come back');
  }
  undo.effect.object satisfies never;
}

async function unmake(undo: Undo, host: Host): Promise<void> {
  const path = desiredPath(undo);
  const status = await host.status(path);
  if (status === undefined) return;
  refuseOtherKinds(path, status);
  if (!(await isDesired(undo, path, status, host))) {
    throw new ProviderError('CONFLICT', `${path} was changed by somebody else after it was made, and was left as it is.`, {
      next: `Look at ${path} and remove it by hand.`,
    });
  }
  await host.removeFile(path, { key: leftoverKey(undo) });
}

async function putBack(undo: Undo, host: Host): Promise<void> {
  const { before, ref: path } = undo;
  if (before === undefined || path === undefined) return;
  const bytes = bytesOfContent(before);
  if (bytes === undefined || isTooLarge(before['content_base64'])) {
    throw new ProviderError('OTHER', `The former content of ${path} is not known any more.`, { next: `Look at ${path}.` });
  }
  await host.writeFile(path, bytes, {
    mode: Number.parseInt(String(before['mode']), 8),
    key: leftoverKey(undo),
    ...definedAccounts(
      await accountNumber(before['owner'], (name) => host.userId(name)),
      await accountNumber(before['group'], (name) => host.groupId(name)),
    ),
  });
}

async function accountNumber(account: unknown, find: (name: string) => Promise<number | undefined>): Promise<number | undefined> {
  if (typeof account !== 'string') return undefined;
  return /^\d+$/.test(account) ? Number(account) : await find(account);
}

async function observe(path: string | undefined, query: ObjectQuery, host: ReadHost): Promise<Observed | undefined> {
  if (path === undefined) return undefined;
  const status = await host.status(path);
  if (status === undefined) return undefined;
  refuseOtherKinds(path, status);
  const recorded = query.recorded?.attributes;
  const attributes: Attributes = {
    ...placeOf(path, query),
    ...(await liveContent(path, status, host)),
    mode: modeText(status.mode),
    owner: await accountAs(recorded?.['owner'], status.uid, (name) => host.userId(name)),
    group: await accountAs(recorded?.['group'], status.gid, (name) => host.groupId(name)),
  };
  return { kind: 'found', owner: path === query.ref ? 'ours' : 'nobody', ref: path, attributes, computed: {} };
}

async function liveContent(path: string, status: FileStatus, host: ReadHost): Promise<Attributes> {
  if (status.size > CONTENT_LIMIT) return tooLarge(status.size);
  return contentOfBytes(await host.readFile(path, { limit: CONTENT_LIMIT }));
}

async function create(operation: Operation, host: Host): Promise<Receipt> {
  const path = desiredPath(operation);
  const status = await host.status(path);
  if (status === undefined) return await write(operation, path, host);
  refuseOtherKinds(path, status);
  if (await isDesired(operation, path, status, host)) return { ref: path };
  throw new ProviderError('FOREIGN', `${path} is there already with other content, mode or owner, and it is not ours.`, {
    next: `Move ${path} away, or take it over with an import block.`,
  });
}

async function isDesired(
  operation: Pick<Operation, 'address' | 'desired'>,
  path: string,
  status: FileStatus,
  host: Host,
): Promise<boolean> {
  const owner = await desiredAccounts(operation, host);
  if (status.mode !== desiredMode(operation) || status.size > CONTENT_LIMIT) return false;
  if ((owner.uid ?? status.uid) !== status.uid || (owner.gid ?? status.gid) !== status.gid) return false;
  return Buffer.compare(await host.readFile(path, { limit: CONTENT_LIMIT }), desiredBytes(operation)) === 0;
}

async function write(operation: Operation, path: string, host: Host): Promise<Receipt> {
  const present = await host.status(path);
  const owner = await desiredAccounts(operation, host);
  await host.writeFile(path, desiredBytes(operation), {
    mode: desiredMode(operation),
    key: leftoverKey(operation),
    // An owner that the documents do not name stays who it is.
    ...definedAccounts(owner.uid ?? present?.uid, owner.gid ?? present?.gid),
  });
  return { ref: path };
}

async function remove(operation: Operation, path: string | undefined, host: Host): Promise<Receipt> {
  if (path === undefined) return {};
  const status = await host.status(path);
  if (status !== undefined) refuseOtherKinds(path, status);
  await host.removeFile(path, { key: leftoverKey(operation) });
  return {};
}

/** Removes the temporary files of runs that were killed while they wrote. */
export async function removeResidue(residue: readonly Residue[], host: Host): Promise<void> {
  for (const left of residue) {
    if (left.type !== fileType.type) continue;
    for (const path of new Set([left.identity, left.ref ?? left.identity])) {
      if (path !== '') await host.removeResidue(path, { key: leftoverKey(left) });
    }
  }
}

/** Named after the resource and not after the operation, so that the next run finds what a killed one left, whatever it goes on to do. */
function leftoverKey(operation: Pick<Operation, 'mark' | 'address'>): string {
  return `${operation.mark.lineage} ${operation.address}`;
}

function refuseOtherKinds(path: string, status: FileStatus): void {
  if (status.kind === 'file') return;
  const kind = { directory: 'A directory', symlink: 'A symbolic link', other: 'A device, socket or pipe' }[status.kind];
  throw new ProviderError('CONFLICT', `${kind} stands at ${path}, where a file belongs.`, { next: `Remove or move ${path}.` });
}

function desiredPath(operation: Pick<Operation, 'address' | 'desired' | 'context'>): string {
  const path = operation.desired['path'];
  if (typeof path !== 'string') throw new Error(`${operation.address} has no path`);
  return absolutePath(path, operation.context.folder);
}

function desiredBytes(operation: Pick<Operation, 'address' | 'desired'>): Uint8Array {
  const bytes = bytesOfContent(operation.desired);
  if (bytes === undefined) throw new ProviderError('INVALID', `The content of ${operation.address} is no text.`);
  if (bytes.length > CONTENT_LIMIT) {
    throw new ProviderError('INVALID', `The content of ${operation.address} has ${bytes.length} bytes; ${CONTENT_LIMIT} are allowed.`);
  }
  return bytes;
}

function desiredMode(operation: Pick<Operation, 'address' | 'desired'>): number {
  const mode = operation.desired['mode'];
  if (typeof mode === 'string' && /^[0-7]{4}$/.test(mode)) return Number.parseInt(mode, 8);
  throw new ProviderError('INVALID', `The mode of ${operation.address} is not four octal digits.`);
}

async function desiredAccounts(
  operation: Pick<Operation, 'address' | 'desired'>,
  host: Host,
): Promise<{ readonly uid?: number; readonly gid?: number }> {
  const number = async (kind: 'owner' | 'group', find: (name: string) => Promise<number | undefined>) => {
    const name = operation.desired[kind];
    if (typeof name !== 'string') return undefined;
    if (/^\d+$/.test(name)) return Number(name);
    const found = await find(name);
    if (found !== undefined) return found;
    const what = kind === 'owner' ? 'user' : 'group';
    throw new ProviderError('NOT_FOUND', `The ${what} that ${operation.address} names as \`${kind}\` does not exist on this machine.`);
  };
  return definedAccounts(await number('owner', (name) => host.userId(name)), await number('group', (name) => host.groupId(name)));
}

function definedAccounts(uid: number | undefined, gid: number | undefined): { readonly uid?: number; readonly gid?: number } {
  return { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
}
