import { canonicalText, type Digest, digestBytes, isDigest } from '../core/canonical.ts';
import { isSignedBy, type PrivateKey, type PublicKey, parsePublicKey, SIGNATURE_BYTES, signBytes, strictBase64 } from '../core/ed25519.ts';
import { isAttributes, type Plain } from '../core/value.ts';

export const SIGNATURE_FORMAT = 'accede.signature/v1';
/** No signature file has more bytes. */
export const SIGNATURE_FILE_BYTES = 4096;

/** What stands in a signature file. Only the signature itself proves anything; the rest tells what went wrong where it does not fit. */
export interface ReleaseSignature {
  readonly signature: Buffer;
  readonly signer?: PublicKey;
  readonly release?: Digest;
}

/** Whether a release is signed by one of the keys that are trusted, and if not, why. */
export type SignatureVerdict =
  | { readonly ok: true; readonly signer: PublicKey }
  | {
      readonly ok: false;
      readonly code: 'RELEASE_ALTERED' | 'RELEASE_KEY_UNTRUSTED' | 'RELEASE_SIGNATURE_WRONG';
      readonly summary: string;
      readonly detail: string;
    };

/** What is signed: comments, order of keys and spelling of the YAML stand outside of it. */
export function releaseBytes(document: Plain): Buffer {
  return Buffer.from(canonicalText(document), 'utf8');
}

/** The text of the signature file of a release. */
export function signRelease(document: Plain, key: PrivateKey): string {
  const bytes = releaseBytes(document);
  return `${canonicalText({
    format: SIGNATURE_FORMAT,
    key: key.publicKey.text,
    release: digestBytes(bytes),
    signature: signBytes(key, bytes).toString('base64'),
  })}\n`;
}

/**
 * Reads a signature file: what `signRelease` writes, or the 64 bytes of a signature alone, as they are or in base64. Undefined when it is
 * neither.
 */
export function parseReleaseSignature(bytes: Uint8Array): ReleaseSignature | undefined {
  if (bytes.length === SIGNATURE_BYTES) return { signature: Buffer.from(bytes) };
  const text = Buffer.from(bytes).toString('utf8').trim();
  if (!text.startsWith('{')) {
    const signature = strictBase64(text);
    return signature?.length === SIGNATURE_BYTES ? { signature } : undefined;
  }
  const found = parseJson(text);
  if (found === undefined || !isAttributes(found)) return undefined;
  const { format, key, release, signature, ...rest } = found as { readonly [name: string]: Plain };
  if (format !== SIGNATURE_FORMAT || Object.keys(rest).length > 0) return undefined;
  if (typeof key !== 'string' || typeof release !== 'string' || typeof signature !== 'string' || !isDigest(release)) return undefined;
  const signer = parsePublicKey(key);
  const raw = strictBase64(signature);
  return signer.ok && raw?.length === SIGNATURE_BYTES ? { signature: raw, signer: signer.key, release } : undefined;
}

/** Judges a signature of a release by the keys that are trusted: any one of them is enough. */
export function judgeSignature(document: Plain, written: ReleaseSignature, trusted: readonly PublicKey[]): SignatureVerdict {
  const bytes = releaseBytes(document);
  const found = trusted.find((key) => isSignedBy(key, bytes, written.signature));
  if (found !== undefined) return { ok: true, signer: found };
  const { signer, release } = written;
  if (signer === undefined) {
    return {
      ok: false,
      code: 'RELEASE_SIGNATURE_WRONG',
      summary: 'The signature does not fit the release',
      detail:
        'None of the keys made this signature for this release: the release was altered after it was signed, or another key signed it.',
    };
  }
  if (!trusted.some((key) => key.fingerprint === signer.fingerprint)) {
    return {
      ok: false,
      code: 'RELEASE_KEY_UNTRUSTED',
      summary: 'The release is signed by a key that is not trusted',
      detail: `The signature was made with the key ${signer.fingerprint}, which is none of ${trusted.map(({ fingerprint }) => fingerprint).join(', ')}.`,
    };
  }
  const digest = digestBytes(bytes);
  return {
    ok: false,
    code: 'RELEASE_ALTERED',
    summary: 'The release is not what was signed',
    detail:
      release === digest
        ? `The signature names this release and the key ${signer.fingerprint}, which is trusted, but was not made with it: the signature itself was altered.`
        : `The key ${signer.fingerprint} signed the release ${release ?? 'unknown'}, and this one is ${digest}: it was altered after it was signed.`,
  };
}

function parseJson(text: string): Plain | undefined {
  try {
    return JSON.parse(text) as Plain;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
