import type { CodeTable } from './entry.ts';

/** Codes of releases: what signs them and what edits them. */
export const RELEASE_CODES: CodeTable = {
  RELEASE_ALTERED: {
    summary: 'A release is not what its signature was made for: it was altered afterwards.',
    remedy: 'Look at what changed in it, then sign it with accede release sign.',
    exit: [1],
  },
  RELEASE_KEY_INVALID: {
    summary: 'A key is no ed25519 public key.',
    remedy: 'Write ed25519: and its base64 (SPKI DER or the bare 32 bytes), or a line of an OpenSSH .pub file.',
    exit: [1],
  },
  RELEASE_KEY_UNTRUSTED: {
    summary: 'A release is signed by a key that is not among those that are trusted.',
    remedy: 'Have it signed with one of them, or add the public key under release.keys.',
    exit: [1],
  },
  RELEASE_SIGNATURE_MALFORMED: {
    summary: 'The signature file of a release holds no signature.',
    remedy: 'Write it again with accede release sign.',
    exit: [1],
  },
  RELEASE_SIGNATURE_MISSING: {
    summary: 'The signature file of a release is not there.',
    remedy: 'Write it with accede release sign, or correct its path.',
    exit: [1],
  },
  RELEASE_SIGNATURE_WRONG: {
    summary: 'A signature that names no key fits the release with none of the keys that are trusted.',
    remedy: 'Sign the release again, or correct release.keys.',
    exit: [1],
  },
  RELEASE_TRUST_INCOMPLETE: {
    summary: 'release: names a signature without keys, or keys without a signature.',
    remedy: 'Name both, or neither.',
    exit: [1],
  },
};
