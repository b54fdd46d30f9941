import type { CodeTable } from './entry.ts';

/** Codes of releases: what signs them and what edits them. */
export const RELEASE_CODES: CodeTable = {
  IMAGE_LABELS_MISSING: {
    summary: 'Warning: an image has no labels that say where it was built from.',
    remedy: 'Build it with org.opencontainers.image.source and .revision, or write source by hand.',
    exit: [0, 2],
  },
  IMAGE_LOOKUP_FAILED: {
    summary: 'An image cannot be looked up in its registry.',
    remedy: 'Do what the message says; nothing was written.',
    exit: [1],
  },
  RELEASE_ALTERED: {
    summary: 'A release is not what its signature was made for: it was altered afterwards.',
    remedy: 'Look at what changed in it, then sign it with accede release sign --key FILE.',
    exit: [1],
  },
  RELEASE_ENTRY_AMBIGUOUS: {
    summary: 'Several entries of a release have the name.',
    remedy: 'Write the section with it, as in services.api.',
    exit: [1],
  },
  RELEASE_ENTRY_BARE: {
    summary: 'An entry of a release names its image by an id alone, so that no registry can be asked for it.',
    remedy: 'Write the repository with it.',
    exit: [1],
  },
  RELEASE_ENTRY_UNKNOWN: {
    summary: 'A release has no entry of the name.',
    remedy: 'Correct the name, or add the entry to the release.',
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
  RELEASE_NOT_EDITABLE: {
    summary: 'A release shares values between its entries, so that one cannot be changed alone.',
    remedy: 'Write the entry out without anchors, aliases and merge keys.',
    exit: [1],
  },
  RELEASE_NOT_NAMED: {
    summary: 'The environment names no release.',
    remedy: 'Name the release document itself, or add release: FILE to the Environment.',
    exit: [1],
  },
  RELEASE_SIGNATURE_MALFORMED: {
    summary: 'The signature file of a release holds no signature.',
    remedy: 'Write it again with accede release sign --key FILE.',
    exit: [1],
  },
  RELEASE_SIGNATURE_MISSING: {
    summary: 'The signature file of a release is not there.',
    remedy: 'Write it with accede release sign --key FILE, or correct its path.',
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
  RELEASE_UNSIGNED: {
    summary: 'The environment asks for no signature of its release, so that there is nothing to prove.',
    remedy: 'Write release: { file, signature, keys }.',
    exit: [1],
  },
  SIGNING_KEY_UNUSABLE: {
    summary: 'The file of a private key cannot be used: its mode, its owner or what is in it.',
    remedy: 'Name a file of mode 0600 with an ed25519 key in PEM (PKCS #8) or OpenSSH form, without a passphrase.',
    exit: [1],
  },
};
