import { constants, existsSync, type Stats } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { canonicalText } from '../core/canonical.ts';
import type { IdSource } from '../core/clock.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';
import { parsePlanFile } from '../plan/planfile.ts';

/** The largest plan that is read: some hundred thousand resources. */
export const PLAN_BYTES = 256 * 1024 * 1024;

/** Reads a saved plan: size, form and digest are checked. */
export async function readPlanFile(path: string): Promise<Outcome<PlanDocument>> {
  const read = await readBounded(path, PLAN_BYTES);
  return read.ok ? parsePlanFile(read.value, path) : read;
}

/** Reads a regular file up to a limit. Pipes are not waited for. */
export async function readBounded(path: string, limit: number): Promise<Outcome<Uint8Array>> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (!status.isFile()) return fail(unreadable(path, 'It is no regular file.'));
      if (status.size > limit) return fail(unreadable(path, `It has ${status.size} bytes; at most ${limit} are read.`));
      return succeed(await file.readFile());
    } finally {
      await file.close();
    }
  } catch (error) {
    return fail(unreadable(path, reasonOf(error)));
  }
}

/** The bytes of a plan file. */
export function planText(document: PlanDocument): string {
  return `${canonicalText(document)}\n`;
}

/**
 * Puts a file in place in one step, readable by its owner alone unless a mode says otherwise: a temporary file beside it, fsync, rename. What stands there and is no regular
 * file (a folder, a link, a device such as /dev/null) is never replaced, and on failure nothing is left behind.
 */
export async function writePrivateFile(path: string, text: string, ids: IdSource, mode = 0o600): Promise<readonly Diagnostic[]> {
  const temporary = join(dirname(path), `.${basename(path)}.${ids.id().slice(0, 12)}.tmp`);
  let made = false;
  try {
    const present = await lstat(path).catch(ifMissing);
    if (present !== undefined && !present.isFile()) return [unwritable(path, kindOf(present))];
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
    made = true;
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    return [];
  } catch (error) {
    if (made) await unlink(temporary).catch(ifMissing);
    return [unwritable(path, reasonOf(error))];
  }
}

/**
 * The folder that a plan was made for. A relative one is relative to the top of a Git work tree: the one that holds the working directory, else
 * the one that holds the plan file.
 */
export function recordedFolder(document: PlanDocument, planFile: string, workingFolder: string): string {
  const { folder } = document.inputs;
  if (isAbsolute(folder)) return folder;
  const tops = [workingFolder, dirname(planFile)].flatMap((from) => topOf(from) ?? []);
  const candidates = [...tops.map((top) => resolve(top, folder)), resolve(workingFolder, folder)];
  return candidates.find((candidate) => existsSync(candidate)) ?? candidates[0] ?? folder;
}

/** The variables as the plan knew them, in the spelling of the command line: exactly the plan, whatever the defaults and the process say by now. */
export function plannedVariables(plan: PlanDocument): readonly (readonly [string, string])[] {
  return Object.entries(plan.inputs.variables).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

function kindOf(present: Stats): string {
  if (present.isDirectory()) return 'It is a folder.';
  if (present.isSymbolicLink()) return 'It is a symbolic link; name the file itself.';
  return 'It is a device, socket or pipe, and only a regular file is replaced. Leave the file out to print to stdout.';
}

function topOf(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return undefined;
  }
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

function unreadable(path: string, reason: string): Diagnostic {
  return { severity: 'error', code: 'FILE_UNREADABLE', summary: 'A file can not be read', detail: `${path} can not be read. ${reason}` };
}

/** What the system refused while something was written, as a diagnostic. */
export function systemRefusal(path: string, error: unknown): Diagnostic {
  return unwritable(path, reasonOf(error));
}

function unwritable(path: string, reason: string): Diagnostic {
  return {
    severity: 'error',
    code: 'FILE_UNWRITABLE',
    summary: 'A file can not be written',
    detail: `${path} can not be written. ${reason}`,
  };
}

/** Why the system refused, as a sentence. An error without a code is no refusal of the system but a bug. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  switch (code) {
    case undefined:
      throw error;
    case 'ENOENT':
      return 'It, or the folder for it, does not exist.';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'The system does not allow it.';
    case 'EISDIR':
      return 'It is a folder.';
    case 'ENOSPC':
      return 'There is no room left.';
    default:
      return `The system answered ${code}.`;
  }
}
