import { oneLine } from './layout.ts';

interface ImageText {
  readonly repository: string | null;
  readonly digest: string | null;
  readonly tag: string | null;
}

/** What an edit of a release did, entry by entry. */
export function renderReleaseEdit(edit: {
  readonly file: string;
  readonly changed: boolean;
  readonly written: boolean;
  readonly signature: string | null;
  readonly entries: readonly { readonly entry: string; readonly before: ImageText; readonly after: ImageText; readonly source: unknown }[];
}): string {
  if (edit.entries.length === 0) return 'No entry of the release names a tag: nothing to do.';
  const lines = edit.entries.map(({ entry, before, after, source }) => {
    const from = imageText(before);
    const to = imageText(after);
    const change = from === to ? `${to}  (as it is)` : `${from} → ${to}`;
    return `  ${entry}  ${change}${source === null ? '' : '  with its source'}`;
  });
  const head = edit.written
    ? `${edit.file} is written.`
    : edit.changed
      ? `${edit.file} would change; nothing was written.`
      : `${edit.file} says so already.`;
  const sign = edit.signature === null ? [] : ['Its signature does not fit any more: accede release sign --key FILE'];
  return [head, ...lines, ...sign].map((text) => text.split('\n').map(oneLine).join('\n')).join('\n');
}

function imageText({ repository, digest, tag }: ImageText): string {
  const name = `${repository ?? ''}${tag === null ? '' : `:${tag}`}`;
  return digest === null ? name : name === '' ? digest : `${name}@${digest}`;
}
