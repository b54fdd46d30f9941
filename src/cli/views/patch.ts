import { formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff';
import { decodeText } from '../../core/bundle.ts';
import type { FileChange } from '../folder-changes.ts';

/** Beyond this many changed lines a file is replaced as a whole: finding the shortest way would take too long. */
const LONGEST_EDIT = 3_000;

/** The files of a patch that are no text, so that no patch can hold their difference. */
export function unpatchable(changes: readonly FileChange[]): readonly string[] {
  return changes.filter(isBinary).map(({ name }) => name);
}

/** A unified diff that `git apply` and `patch -p1` take. Files that are no text are left out. */
export function renderPatch(changes: readonly FileChange[]): string {
  return changes
    .filter((change) => !isBinary(change))
    .map(patchOf)
    .join('');
}

function isBinary({ before, after }: FileChange): boolean {
  return [before, after].some((bytes) => bytes !== undefined && (decodeText(bytes) === undefined || bytes.includes(0)));
}

function patchOf({ name, before, after }: FileChange): string {
  return formatPatch({
    oldFileName: before === undefined ? '/dev/null' : `a/${name}`,
    newFileName: after === undefined ? '/dev/null' : `b/${name}`,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunksOf(textOf(before), textOf(after)),
    isGit: true,
    ...(before === undefined ? { isCreate: true } : after === undefined ? { isDelete: true } : {}),
  });
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : (decodeText(bytes) ?? '');
}

function hunksOf(old: string, next: string): StructuredPatchHunk[] {
  const patch = structuredPatch('', '', old, next, undefined, undefined, { context: 3, maxEditLength: LONGEST_EDIT });
  return patch?.hunks ?? [replacement(old, next)];
}

/** One hunk that takes every old line away and puts every new one in its place. */
function replacement(old: string, next: string): StructuredPatchHunk {
  const side = (mark: '-' | '+', text: string) => {
    const lines = text.replace(/\n$/, '').split('\n');
    return {
      count: lines.length,
      lines: [...lines.map((line) => `${mark}${line}`), ...(text.endsWith('\n') ? [] : ['\\ No newline at end of file'])],
    };
  };
  const [removed, added] = [side('-', old), side('+', next)];
  return { oldStart: 1, oldLines: removed.count, newStart: 1, newLines: added.count, lines: [...removed.lines, ...added.lines] };
}
