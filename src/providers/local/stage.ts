import { basename, dirname, join } from 'node:path';
import type { ResourceAddress } from '../../core/address.ts';
import { digestBytes } from '../../core/canonical.ts';
import { type FileStatus, type Host, type Mark, type Operation, ProviderError } from '../contract.ts';
import { absolutePath } from './file-type.ts';

/** What a temporary file or directory is named after: the resource and not the operation, so that the next run finds what a killed one left. */
export interface Owner {
  readonly mark: Mark;
  readonly address: ResourceAddress;
}

/** The key of temporary files of a resource. */
export function residueKey({ mark, address }: Owner): string {
  return `${mark.lineage} ${address}`;
}

/** Makes a directory beside its place, fills it and renames it: it is there whole or not at all. Nothing is left behind on failure. */
export async function makeStaged(
  path: string,
  about: Owner & { readonly mode: number },
  host: Host,
  fill: (stage: string) => Promise<void>,
): Promise<void> {
  const stage = stagePath(path, about);
  await removeStage(stage, host);
  try {
    await host.makeFolder(stage, { mode: about.mode });
    await fill(stage);
    await host.rename(stage, path);
  } catch (error) {
    await removeStage(stage, host);
    throw error;
  }
}

/** Removes what a run that was killed in `makeStaged` left. */
export async function removeStaged(path: string, about: Owner, host: Host): Promise<void> {
  await removeStage(stagePath(path, about), host);
}

/** Refuses what stands in the place of a directory and is none. */
export function requireDirectory(path: string, status: FileStatus): void {
  if (status.kind === 'directory') return;
  const kind = { file: 'A file', symlink: 'A symbolic link', other: 'A device, socket or pipe' }[status.kind];
  throw new ProviderError('CONFLICT', `${kind} stands at ${path}, where a directory belongs.`, { next: `Remove or move ${path}.` });
}

/** Where the documents put the object. */
export function desiredPath(operation: Pick<Operation, 'address' | 'desired' | 'context'>): string {
  const { path } = operation.desired;
  if (typeof path !== 'string') throw new Error(`${operation.address} has no path`);
  return absolutePath(path, operation.context.folder);
}

/** Permission bits of a normal form. */
export function desiredMode(mode: unknown, address: string): number {
  if (typeof mode === 'string' && /^[0-7]{4}$/.test(mode)) return Number.parseInt(mode, 8);
  throw new ProviderError('INVALID', `The mode of ${address} is not four octal digits.`);
}

function stagePath(path: string, about: Owner): string {
  const digest = digestBytes(residueKey(about)).slice('sha256:'.length, 'sha256:'.length + 16);
  return join(dirname(path), `.${basename(path).slice(0, 60)}.accede-${digest}`);
}

async function removeStage(stage: string, host: Host): Promise<void> {
  if ((await host.status(stage))?.kind !== 'directory') return;
  for (const name of await host.list(stage)) await host.removeFile(join(stage, name));
  await host.removeFolder(stage);
}
