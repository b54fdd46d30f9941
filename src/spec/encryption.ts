import path from 'node:path';
import { isAttributes, Sensitive, type Value } from '../core/value.ts';
import type { Assembled } from './assemble.ts';
import { evaluateBlock } from './blocks.ts';
import type { LoadContext } from './context.ts';
import type { StateEncryption } from './environment.ts';
import { stateSchema } from './schema-blocks.ts';
import { memberOf } from './source.ts';

/** The fewest characters of a passphrase: every copy of the state can be tried against guesses, for as long as anybody has it. */
const SHORTEST = 16;

/** What `state.encryption` names; undefined when it is not there or has a mistake, which is reported. */
export function loadEncryption(assembled: Assembled, context: LoadContext): StateEncryption | undefined {
  const { encryption } = evaluateBlock(assembled.single.state, stateSchema, 'state', assembled.environment.file, context);
  if (encryption === undefined || !isAttributes(encryption)) return undefined;
  const block = memberOf(assembled.single.state, 'encryption');
  const refuse = (key: string, code: string, summary: string, detail: string, expected?: string) =>
    context.report.add({ code, summary, detail, expected }, memberOf(block, key) ?? block ?? assembled.environment.root);

  const { key_file: file, passphrase } = encryption;
  if (file !== undefined) {
    if (typeof file === 'string') return { kind: 'key-file', path: path.resolve(context.fixed.workspace.folder, file) };
    if (file instanceof Sensitive) {
      const detail = 'The path of the key file is shown in messages and cannot be a secret; the key is what stands in the file.';
      refuse('key_file', 'SECRET_NOT_ALLOWED_HERE', 'A secret stands where none may be', detail);
    }
    return undefined;
  }
  if (!(passphrase instanceof Sensitive)) {
    const detail =
      'The passphrase of the state must come from a secret, such as one that reads an environment variable or a file; a variable or plain text is seen by everybody who sees the documents.';
    refuse('passphrase', 'PASSPHRASE_IN_CLEAR', 'A passphrase stands in the documents', detail, '"${secrets.state_passphrase}"');
    return undefined;
  }
  if (isShort(passphrase)) {
    const detail = `The passphrase of the state has fewer than ${SHORTEST} characters. Whoever has a copy of the state can try guesses for as long as they like; a key file cannot be guessed.`;
    refuse('passphrase', 'PASSPHRASE_SHORT', 'A passphrase is too short', detail, `${SHORTEST} characters or more`);
    return undefined;
  }
  return { kind: 'passphrase', passphrase };
}

/** One that was not read cannot be judged. */
function isShort(passphrase: Sensitive): boolean {
  const text: Value | undefined = passphrase.isOpen ? passphrase.reveal() : undefined;
  return typeof text === 'string' && [...text].length < SHORTEST;
}
