import { resolve } from 'node:path';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import { type Compared, compareEnvironments, compareReleases } from '../../plan/succession/compare.ts';
import type { SuccessionPolicy } from '../../plan/succession/match.ts';
import { successionPolicy } from '../../plan/succession/policy.ts';
import type { Environment } from '../../spec/environment.ts';
import { loadEnvironment } from '../../spec/load.ts';
import { type Release, readReleaseFile } from '../../spec/release.ts';
import { parseReleaseDiffArguments, type ReleaseDiffArguments } from '../arguments/release-diff.ts';
import { usageError } from '../arguments/values.ts';
import { documentsOnly } from '../documents-only.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { kindOf } from '../paths.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderReleaseDiff } from '../views/release-diff.ts';
import { failWith } from './failing.ts';

/** Without an environment nothing says that changes of several kinds may come together. */
const STRICT: SuccessionPolicy = { mode: 'strict', allow: null };

/** `release diff`: the class that one release, or one environment, would be after another. Reads nothing live. */
export async function runReleaseDiff(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseReleaseDiffArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const args = parsed.value;
  const found = await compare(args, shell);
  if (!found.ok) return failWith(shell, found.diagnostics);
  const document = { format: 'accede.release-diff/v1', before: args.before, after: args.after, ...found.value };
  if (shell.output.json) shell.output.document(document);
  else shell.output.print(renderReleaseDiff(shell.output.clean(found.value), shell.output.answer));
  return found.value.class === 'refuse' ? EXIT.refused : EXIT.done;
}

async function compare(args: ReleaseDiffArguments, shell: Shell): Promise<Outcome<Compared>> {
  const [before, after] = [resolve(shell.folder, args.before), resolve(shell.folder, args.after)];
  const kinds = [kindOf(before), kindOf(after)];
  if (kinds.includes('none') || kinds[0] !== kinds[1]) return fail(notTwoOfAKind(args));
  const governing = args.environment === undefined ? undefined : await load(resolve(shell.folder, args.environment), args, shell);
  if (governing?.ok === false) return governing;
  const environment = governing?.value;
  const policy = environment === undefined ? STRICT : successionPolicy(environment.policy);
  if (kinds[0] === 'folder') {
    const sides = [await load(before, args, shell), await load(after, args, shell)] as const;
    const [one, other] = sides;
    if (!one.ok || !other.ok) return { ok: false, diagnostics: sides.flatMap(({ diagnostics }) => diagnostics) };
    return compareEnvironments(one.value, other.value, shell.registry, policy);
  }
  const releases = [await readReleaseFile(before), await readReleaseFile(after)] as const;
  const [one, other] = releases;
  if (!one.ok || !other.ok) return { ok: false, diagnostics: releases.flatMap(({ diagnostics }) => diagnostics) };
  if (environment === undefined) return succeed(compareReleases(one.value.document, other.value.document, policy));
  const [left, right] = [withRelease(environment, one.value), withRelease(environment, other.value)];
  if (!left.ok || !right.ok) return { ok: false, diagnostics: [...left.diagnostics, ...right.diagnostics] };
  return compareEnvironments(left.value, right.value, shell.registry, policy);
}

function load(folder: string, args: ReleaseDiffArguments, shell: Shell): Promise<Outcome<Environment>> {
  return loadEnvironment(documentsOnly(shell, args, folder));
}

/** The environment as it would be with this release. */
function withRelease(environment: Environment, { paths, digest, document }: Release): Outcome<Environment> {
  const resources = environment.resourcesUnder?.(document);
  if (resources !== undefined) return succeed({ ...environment, release: { digest, document }, resources });
  return fail({
    severity: 'error',
    code: 'RELEASE_UNFIT',
    summary: 'A release does not go with the environment',
    detail: `The environment in ${environment.folder} cannot be put together with ${paths[0]}: it names no release, or reads what this one does not hold.`,
    next: 'accede validate',
  });
}

function notTwoOfAKind({ before, after }: ReleaseDiffArguments): Diagnostic {
  return usageError(
    'NOTHING_TO_COMPARE',
    'There are not two of a kind to compare',
    `${JSON.stringify(before)} and ${JSON.stringify(after)} are neither two release documents nor two folders of environments.`,
    { expected: 'two release documents, or two folders' },
  );
}
