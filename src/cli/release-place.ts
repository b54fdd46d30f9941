import { relative, resolve } from 'node:path';
import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import { succeed } from '../core/diagnostic.ts';
import { localHost } from '../host/local.ts';
import { ProviderError } from '../providers/contract.ts';
import { defaultRegistry } from '../providers/registry.ts';
import { locateRelease, type ReleaseLocation } from '../spec/release-location.ts';
import type { ReleaseArguments } from './arguments/release.ts';
import { kindOf } from './paths.ts';
import type { Shell } from './shell.ts';

/** The release that a command is about. */
export interface ReleasePlace {
  /** Absolute. */
  readonly file: string;
  /** The environment that names it; undefined for a document that was named itself. */
  readonly location: ReleaseLocation | undefined;
}

/** Finds the release that was named: the document itself, or that of the environment in a folder. */
export async function findRelease(args: ReleaseArguments, shell: Shell): Promise<Outcome<ReleasePlace>> {
  const path = resolve(shell.folder, args.what);
  if (kindOf(path) === 'file') return succeed({ file: path, location: undefined });
  const located = await locateRelease({
    folder: path,
    registry: defaultRegistry(),
    variables: args.variables,
    variableFiles: args.variableFiles.map((file) => resolve(shell.folder, file)),
    processEnvironment: shell.environment,
    secrets: 'none',
    signal: shell.interrupts.reads,
  });
  return located.ok ? succeed({ file: located.value.file, location: located.value }) : located;
}

/** A path as it is shown: relative to the working folder where it lies below it. */
export function shownPath(path: string, shell: Shell): string {
  const short = relative(shell.folder, path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** Puts a file in place in one step. One that is there keeps its mode. */
export async function putFile(path: string, text: string, shell: Shell): Promise<readonly Diagnostic[]> {
  const host = localHost();
  try {
    const present = await host.status(path);
    await host.writeFile(path, Buffer.from(text, 'utf8'), { mode: present?.mode ?? 0o644, key: shell.ids.id() });
    return [];
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const next = error.next === undefined ? {} : { next: error.next };
    return [{ severity: 'error', code: 'FILE_UNWRITABLE', summary: 'A file can not be written', detail: error.message, ...next }];
  }
}
