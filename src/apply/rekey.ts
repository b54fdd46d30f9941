import { fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { BackendError } from '../state/contract.ts';
import { type Encryption, type KeySource, openEncryption, rewrapEncryption } from '../state/encryption.ts';
import { readPassphraseFile } from '../state/key-file.ts';
import type { Identity } from '../state/model.ts';
import { type EditDecision, type EditRequest, type EditResult, editState } from './edit.ts';
import type { EngineContext } from './engine.ts';
import { keyMissing, keySource } from './vaults.ts';

/**
 * Lets the key that the documents name now open the state, in place of the former one, which is in a file. One row is written: what is encrypted
 * stays as it is, since it is encrypted with a data key of its own. Nothing is written when the new key opens the state already.
 */
export async function rekeyState(
  context: EngineContext,
  request: EditRequest,
  former: { readonly kind: 'key-file' | 'passphrase-file'; readonly path: string },
): Promise<Outcome<EditResult>> {
  return await editState(context, request, {
    kind: 'state-rekey',
    purpose: 'state rekey',
    decide: async ({ identity }) => {
      const { encryption } = identity;
      const source = keySource(context.environment);
      if (source === undefined) throw keyMissing();
      if (encryption === null) return fail(notEncrypted(context));
      const isDone = await opens(encryption, source, identity);
      const next = isDone
        ? undefined
        : await rewrapEncryption(await formerKey(encryption, former, identity), source, identity, context.ids);
      return succeed<EditDecision>({
        mutations: next === undefined ? [] : [{ kind: 'encryption', encryption: next }],
        changed: [],
        summary: { from: kindOf(encryption), to: source.kind },
      });
    },
  });
}

async function opens(encryption: Encryption, source: KeySource, identity: Identity): Promise<boolean> {
  try {
    await openEncryption(encryption, source, identity);
    return true;
  } catch (error) {
    if (error instanceof BackendError && error.code === 'STATE_KEY_WRONG') return false;
    throw error;
  }
}

async function formerKey(
  encryption: Encryption,
  former: { readonly kind: 'key-file' | 'passphrase-file'; readonly path: string },
  identity: Identity,
): Promise<Buffer> {
  const source: KeySource =
    former.kind === 'key-file'
      ? { kind: 'key-file', path: former.path }
      : { kind: 'passphrase', passphrase: await readPassphraseFile(former.path) };
  return await openEncryption(encryption, source, identity);
}

function kindOf({ passphrase }: Encryption): KeySource['kind'] {
  return passphrase === null ? 'key-file' : 'passphrase';
}

function notEncrypted({ environment }: EngineContext) {
  return {
    severity: 'error' as const,
    code: 'STATE_NOT_ENCRYPTED',
    summary: 'The state keeps no secrets',
    detail: `The state of ${environment.name} has no key yet, so that there is none to go over from. The next apply begins with the one that the documents name.`,
    next: 'accede apply',
  };
}
