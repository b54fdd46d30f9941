import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { digestBytes } from '../core/canonical.ts';
import { ProviderError } from '../providers/contract.ts';
import { errnoOf, faultOf } from './fault.ts';

/** Where `writeAtomically` prepares a file: beside its place, so that the rename stays inside of one file system. */
export function temporaryPath(path: string, key: string): string {
  // A name that is as long as names may be leaves no room for more.
  const name = basename(path).slice(0, 60);
  return join(dirname(path), `.${name}.accede-${digestBytes(key).slice('sha256:'.length, 'sha256:'.length + 16)}`);
}

/**
 * Puts a file in place in one step; the contract's `Host.writeFile`. Throws `ProviderError`: CONFLICT when a link, directory or device
 * stands at the path, NOT_FOUND when the parent folder is missing, FORBIDDEN, EXHAUSTED. On each of these nothing is left behind and what
 * stood there is untouched. Only UNKNOWN_OUTCOME means that the new file is in place and may not outlast a power failure.
 */
export async function writeAtomically(
  path: string,
  content: Uint8Array,
  options: { readonly mode: number; readonly uid?: number; readonly gid?: number; readonly key: string },
): Promise<void> {
  const what = `The file ${path} could not be written`;
  const temporary = temporaryPath(path, options.key);
  await refuseOtherThanFile(path);
  await removeLeftover(temporary);
  try {
    const file = await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY, 0o600);
    try {
      await fill(file, content, options);
    } finally {
      await file.close();
    }
    await refuseOtherThanFile(path);
    await rename(temporary, path);
  } catch (error) {
    await removeLeftover(temporary);
    if (errnoOf(error) === 'ENOENT') {
      throw new ProviderError('NOT_FOUND', `${what}: its folder ${dirname(path)} is not there.`, { cause: error });
    }
    throw faultOf(error, what);
  }
  await syncFolder(dirname(path), `The file ${path} was written, but its folder could not be made durable`);
}

/** Makes what happened to the names in a folder outlast a power failure. Throws UNKNOWN_OUTCOME when that fails. */
export async function syncFolder(folder: string, what: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Some network file systems have no fsync of folders, and a folder that may be written to may still not be listed.
    if (['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return;
    const fault = faultOf(error, what);
    throw fault instanceof ProviderError ? new ProviderError('UNKNOWN_OUTCOME', fault.message, { cause: error }) : fault;
  }
}

/** Removes a temporary file of a dead run. What is no regular file of this process's user is refused: it is not ours. */
export async function removeLeftover(temporary: string): Promise<void> {
  try {
    const status = await lstat(temporary);
    if (!status.isFile() || status.uid !== process.geteuid?.()) {
      throw new ProviderError('CONFLICT', `${temporary} is needed for a moment, but something that is not ours stands there.`, {
        next: `Look at ${temporary} and remove it.`,
      });
    }
    await unlink(temporary);
  } catch (error) {
    const errno = errnoOf(error);
    // Without a folder there is no leftover; the write itself says so.
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return;
    throw faultOf(error, `The temporary file ${temporary} could not be removed`);
  }
}

async function fill(
  file: FileHandle,
  content: Uint8Array,
  options: { readonly mode: number; readonly uid?: number; readonly gid?: number },
): Promise<void> {
  await file.writeFile(content);
  const made = await file.stat();
  const uid = options.uid ?? made.uid;
  const gid = options.gid ?? made.gid;
  if (uid !== made.uid || gid !== made.gid) await file.chown(uid, gid);
  // After the owner, since a change of owner clears the set-id bits.
  await file.chmod(options.mode);
  await file.sync();
}

async function refuseOtherThanFile(path: string): Promise<void> {
  try {
    const status = await lstat(path);
    if (status.isFile()) return;
    const kind = status.isSymbolicLink() ? 'a symbolic link' : status.isDirectory() ? 'a directory' : 'a device, socket or pipe';
    throw new ProviderError('CONFLICT', `The file ${path} could not be written: ${kind} stands there.`, {
      next: `Remove or move ${path}, or choose another path.`,
    });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    throw faultOf(error, `The file ${path} could not be written`);
  }
}
