import { type Diagnostic, fail, type Outcome, settle, succeed } from '../../core/diagnostic.ts';
import type { ImageFacts, ImageQuestion } from '../../providers/image-seam.ts';
import {
  editRelease,
  entryName,
  findEntry,
  type ReleaseChange,
  type ReleaseEntry,
  releaseEntries,
  splitImage,
} from '../../spec/release-edit.ts';
import { readReleaseFile } from '../../spec/release-file.ts';
import { type EditReleaseArguments, parseLockArguments, parseSetArguments } from '../arguments/release.ts';
import { usageError } from '../arguments/values.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { lookUpImages } from '../image-lookup.ts';
import { findRelease, putFile, type ReleasePlace, shownPath } from '../release-place.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderReleaseEdit } from '../views/release.ts';
import { failWith } from './failing.ts';

/** What an entry shall be: the digest is looked up where only a tag is given. */
interface Wish {
  readonly entry: ReleaseEntry;
  /** Undefined where an id alone takes the place of an id alone. */
  readonly repository: string | undefined;
  readonly digest: string | undefined;
  readonly tag: string | undefined;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const REPOSITORY = /^[A-Za-z0-9[][A-Za-z0-9._:/[\]-]*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** `release set NAME=IMAGE…`: writes other images into the release, comments kept. */
export async function runReleaseSet(input: RawInput, shell: Shell): Promise<ExitCode> {
  return edit(shell, parseSetArguments(input), (entries, args) => {
    const wishes = args.entries.map(([word, image]) => wishOf(entries, word, image));
    const twice = wishes.find(
      (wish, index) => wish.ok && wishes.slice(0, index).some((other) => other.ok && other.value.entry === wish.value.entry),
    );
    if (twice?.ok === true) {
      const detail = `${entryName(twice.value.entry)} is given two images. Leave one of them out.`;
      return fail(usageError('BAD_OPERAND', 'An operand has a value that the command does not take', detail));
    }
    return settle(
      wishes.flatMap((wish) => (wish.ok ? [wish.value] : [])),
      wishes.flatMap((wish) => wish.diagnostics),
    );
  });
}

/** `release lock`: writes the digests that the tags of the release mean now. */
export async function runReleaseLock(input: RawInput, shell: Shell): Promise<ExitCode> {
  return edit(shell, parseLockArguments(input), (entries) => {
    const tagged = entries.filter(({ tag }) => tag !== undefined);
    return settle(
      tagged.flatMap((entry): readonly Wish[] =>
        entry.repository === undefined ? [] : [{ entry, repository: entry.repository, digest: undefined, tag: entry.tag }],
      ),
      tagged.filter(({ repository }) => repository === undefined).map(withoutRepository),
    );
  });
}

async function edit(
  shell: Shell,
  parsed: Outcome<EditReleaseArguments>,
  wishesOf: (entries: readonly ReleaseEntry[], args: EditReleaseArguments) => Outcome<readonly Wish[]>,
): Promise<ExitCode> {
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const args = parsed.value;
  const found = await findRelease(args, shell);
  if (!found.ok) return failWith(shell, found.diagnostics);
  const document = readReleaseFile(found.value.file);
  if (!document.ok) return failWith(shell, document.diagnostics);
  const wishes = wishesOf(releaseEntries(document.value), args);
  if (!wishes.ok) return failWith(shell, wishes.diagnostics);
  const changes = await resolveWishes(wishes.value, args, found.value, shell);
  if (!changes.ok) return failWith(shell, changes.diagnostics);
  const text = editRelease(document.value, changes.value);
  if (!text.ok) return failWith(shell, text.diagnostics);
  const changed = text.value !== document.value.file.text;
  if (changed && !args.check) {
    const failed = await putFile(found.value.file, text.value, shell);
    if (failed.length > 0) return failWith(shell, failed);
  }
  shell.output.warn(changes.diagnostics);
  report(shell, changes.value, { ...found.value, changed, check: args.check });
  return changed && args.check ? EXIT.changes : EXIT.done;
}

/** Looks up what tags mean and what images say of themselves. */
async function resolveWishes(
  wishes: readonly Wish[],
  args: EditReleaseArguments,
  place: ReleasePlace,
  shell: Shell,
): Promise<Outcome<readonly ReleaseChange[]>> {
  const nowhere = wishes.filter(({ repository, digest }) => repository === undefined && (args.fromLabels || digest === undefined));
  if (nowhere.length > 0)
    return settle(
      [],
      nowhere.map(({ entry }) => withoutRepository(entry)),
    );
  const questions = wishes.map((wish) => questionOf(wish, args.fromLabels));
  const asked = questions.flatMap((question) => question ?? []);
  const answers = await lookUpImages(asked, { blocks: place.location?.providers ?? [], alias: args.provider }, shell);
  if (!answers.ok) return answers;
  const left = [...answers.value];
  const warnings: Diagnostic[] = [];
  const changes = wishes.map((wish, index): ReleaseChange => {
    const facts = questions[index] === undefined ? undefined : left.shift();
    const { entry, repository, tag } = wish;
    const digest = wish.digest ?? facts?.digest;
    if (digest === undefined) throw new Error(`the image of ${entryName(entry)} was not looked up`);
    const source = args.fromLabels && facts !== undefined ? sourceOf(entry, facts, warnings) : undefined;
    return { entry, repository, digest, tag, ...(source === undefined ? {} : { source }) };
  });
  return succeed(changes, warnings);
}

function questionOf({ repository, digest, tag }: Wish, labels: boolean): ImageQuestion | undefined {
  if (repository === undefined) return undefined;
  if (digest === undefined) return { repository, version: { tag: tag ?? 'latest' }, labels };
  return labels ? { repository, version: { digest }, labels } : undefined;
}

/** What the labels of the image specification say of the source. */
function sourceOf(entry: ReleaseEntry, { labels = {} }: ImageFacts, warnings: Diagnostic[]): NonNullable<ReleaseChange['source']> {
  const repository = labels['org.opencontainers.image.source'];
  const commit = labels['org.opencontainers.image.revision'];
  const missing = [
    ...(repository === undefined ? ['org.opencontainers.image.source'] : []),
    ...(commit === undefined ? ['org.opencontainers.image.revision'] : []),
  ];
  if (missing.length > 0) {
    warnings.push({
      severity: 'warning',
      code: 'IMAGE_LABELS_MISSING',
      summary: 'An image does not say where it was built from',
      detail: `The image of ${entryName(entry)} has no label ${missing.join(' and ')}; that part of its source stays as it is written.`,
    });
  }
  return { ...(repository === undefined ? {} : { repository }), ...(commit === undefined ? {} : { commit }) };
}

function wishOf(entries: readonly ReleaseEntry[], word: string, image: string): Outcome<Wish> {
  const found = findEntry(entries, word);
  if (!found.ok) return found;
  const entry = found.value;
  const { repository = entry.repository, digest, tag } = splitImage(image);
  if (repository === undefined && digest === undefined) return fail(withoutRepository(entry));
  const isWhole =
    (repository === undefined || REPOSITORY.test(repository)) &&
    (digest !== undefined || tag !== undefined) &&
    (digest === undefined || DIGEST.test(digest)) &&
    (tag === undefined || TAG.test(tag));
  if (isWhole) return succeed({ entry, repository, digest, tag });
  return fail(
    usageError(
      'BAD_OPERAND',
      'An operand has a value that the command does not take',
      `The image of ${word} is neither a repository with a digest or a tag, nor a digest alone.`,
      { expected: 'REPOSITORY@sha256:…, REPOSITORY:TAG, or sha256:… where only the digest changes', observed: image },
    ),
  );
}

function withoutRepository(entry: ReleaseEntry): Diagnostic {
  return {
    severity: 'error',
    code: 'RELEASE_ENTRY_BARE',
    summary: 'An entry of the release names no repository',
    detail: `${entryName(entry)} names its image by an id alone, so that no registry can be asked for it. Write the repository with it.`,
  };
}

function report(
  shell: Shell,
  changes: readonly ReleaseChange[],
  { file, location, changed, check }: ReleasePlace & { readonly changed: boolean; readonly check: boolean },
): void {
  const entries = changes.map(({ entry, repository, digest, tag, source }) => ({
    entry: entryName(entry),
    before: { repository: entry.repository ?? null, digest: entry.digest ?? null, tag: entry.tag ?? null },
    after: { repository: repository ?? null, digest, tag: tag ?? null },
    source: source ?? null,
  }));
  const mustSign = changed && !check && location?.signature !== undefined;
  const data = { file: shownPath(file, shell), changed, written: changed && !check, signature: mustSign ? 'stale' : null, entries };
  if (shell.output.json) shell.output.document({ format: 'accede.release-edit/v1', ...data });
  else shell.output.print(renderReleaseEdit(shell.output.clean(data)));
}
