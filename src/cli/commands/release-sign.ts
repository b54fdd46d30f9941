import { resolve } from 'node:path';
import { digestBytes } from '../../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import type { PublicKey } from '../../core/ed25519.ts';
import type { Attributes, Plain } from '../../core/value.ts';
import { contentOfRelease, readReleaseFile } from '../../spec/release-file.ts';
import { judgeSignature, parseReleaseSignature, releaseBytes, SIGNATURE_FILE_BYTES, signRelease } from '../../spec/release-signature.ts';
import { parseSignArguments, parseVerifyArguments, type VerifyArguments } from '../arguments/release.ts';
import { usageError } from '../arguments/values.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readBounded } from '../planfiles.ts';
import { findRelease, putFile, shownPath } from '../release-place.ts';
import type { RawInput, Shell } from '../shell.ts';
import { readPublicKeys, readSigningKey } from '../signing-key.ts';
import { oneLine } from '../views/layout.ts';
import { failWith } from './failing.ts';

/** `release sign FILE --key KEY`: writes the signature beside the release, or where the environment looks for it. */
export async function runReleaseSign(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseSignArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const found = await findRelease(args.value, shell);
  if (!found.ok) return failWith(shell, found.diagnostics);
  const { file, location } = found.value;
  const content = contentOf(file);
  if (!content.ok) return failWith(shell, content.diagnostics);
  const key = await readSigningKey(resolve(shell.folder, args.value.key));
  if (!key.ok) return failWith(shell, key.diagnostics);
  const given = args.value.out;
  const out = given === undefined ? (location?.signature ?? signatureBeside(file)) : resolve(shell.folder, given);
  const failed = await putFile(out, signRelease(content.value, key.value), shell);
  if (failed.length > 0) return failWith(shell, failed);
  tell(shell, content.value, key.value.publicKey, { file: shownPath(out, shell), verb: 'Signed' });
  return EXIT.done;
}

/** `release verify`: proves a signature, by keys that are named or by those of the environment. */
export async function runReleaseVerify(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseVerifyArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const found = await findRelease(args.value, shell);
  if (!found.ok) return failWith(shell, found.diagnostics);
  const { file, location } = found.value;
  const asksEnvironment = location !== undefined && args.value.signature === undefined && args.value.keys.length === 0;
  if (asksEnvironment) {
    const release = location.read();
    if (!release.ok) return failWith(shell, release.diagnostics);
    const { document, trust } = release.value;
    if (trust === undefined) return failWith(shell, [unsigned()]);
    tell(shell, document, { text: undefined, fingerprint: trust.signer }, { file: shownPath(file, shell), verb: 'Verified' });
    return EXIT.done;
  }
  const verdict = await verify(args.value, file, shell);
  if (!verdict.ok) return failWith(shell, verdict.diagnostics);
  const { content, signer } = verdict.value;
  tell(shell, content, signer, { file: shownPath(file, shell), verb: 'Verified' });
  return EXIT.done;
}

async function verify(
  args: VerifyArguments,
  file: string,
  shell: Shell,
): Promise<Outcome<{ readonly content: Attributes & Plain; readonly signer: PublicKey }>> {
  if (args.keys.length === 0) {
    const detail = 'A release is proven by the keys that are trusted with it: give --key, or name the folder of the environment.';
    return fail(usageError('FLAG_MISSING', 'A flag is missing', detail));
  }
  const content = contentOf(file);
  if (!content.ok) return content;
  const keys = await readPublicKeys(args.keys, shell.folder);
  if (!keys.ok) return keys;
  const path = args.signature === undefined ? signatureBeside(file) : resolve(shell.folder, args.signature);
  const read = await readBounded(path, SIGNATURE_FILE_BYTES);
  if (!read.ok) return read;
  const signature = parseReleaseSignature(read.value);
  if (signature === undefined) {
    return fail(
      problem('RELEASE_SIGNATURE_MALFORMED', 'The signature of the release is none', `${shownPath(path, shell)} holds no signature.`),
    );
  }
  const verdict = judgeSignature(content.value, signature, keys.value);
  if (verdict.ok) return succeed({ content: content.value, signer: verdict.signer });
  return fail(problem(verdict.code, verdict.summary, verdict.detail));
}

function contentOf(file: string): Outcome<Attributes & Plain> {
  const document = readReleaseFile(file);
  return document.ok ? contentOfRelease(document.value) : document;
}

/** `release.yaml` has its signature in `release.sig`. */
function signatureBeside(file: string): string {
  return `${file.replace(/\.ya?ml$/, '')}.sig`;
}

function tell(
  shell: Shell,
  content: Attributes & Plain,
  key: { readonly text: string | undefined; readonly fingerprint: string },
  { file, verb }: { readonly file: string; readonly verb: 'Signed' | 'Verified' },
): void {
  const release = digestBytes(releaseBytes(content));
  if (shell.output.json) {
    shell.output.document({ format: 'accede.release-proof/v1', release, signer: key.fingerprint, key: key.text ?? null, file });
    return;
  }
  const metadata = content['metadata'] as { readonly [name: string]: Plain };
  const name = oneLine(`${String(metadata['name'])} ${String(metadata['version'])}`);
  const where = verb === 'Signed' ? `${file} is the signature` : `${file} is what was signed`;
  shell.output.print(
    `${verb} ${name}: ${where}.\n  release  ${release}\n  signer   ${key.fingerprint}${key.text === undefined ? '' : `\n  key      ${key.text}`}`,
  );
}

function unsigned(): Diagnostic {
  return problem(
    'RELEASE_UNSIGNED',
    'The environment asks for no signature',
    'release: names neither a signature nor keys, so that there is nothing to prove. Write release: { file, signature, keys }.',
  );
}

function problem(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
