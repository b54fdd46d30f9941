import { type CommandSpec, type FlagSpec, VARIABLES } from './command-spec.ts';

const RELEASE = { notation: '[what]', description: "a release document, or the environment's folder (default: .)" };

const EDITING: readonly FlagSpec[] = [
  { flags: '--from-labels', description: 'fill in source from the labels org.opencontainers.image.source and .revision' },
  { flags: '--check', description: 'write nothing; exit 2 when the document would change' },
  { flags: '--provider <alias>', description: 'the provider block whose server asks the registry (default: the first that can)' },
  ...VARIABLES,
];

/** What a code, an address or a step means. */
export const EXPLAIN: CommandSpec = {
  path: ['explain'],
  operands: [
    { notation: '<what>', description: 'a code, an address, or a step of a plan (ADDRESS:EFFECT)' },
    { notation: '[plan]', description: 'a saved plan; a step needs it' },
    { notation: '[dir]', description: "the environment's folder (default: that of the plan, else .)" },
  ],
  summary: 'say what a code means, where a resource comes from, or why a step of a plan is there',
  flags: VARIABLES,
  examples: [
    { command: 'accede explain STATE_MOVED', does: 'a code in words, and what to do' },
    { command: 'accede explain docker.container.api', does: 'where it is written, what it needs and what needs it' },
    { command: 'accede explain docker.container.api:start plan.json', does: 'what the step waits for, and what changed first' },
  ],
  run: async (input, shell) => (await import('./commands/explain.ts')).runExplain(input, shell),
};

/** The commands that write, sign and prove releases. */
export const RELEASE_COMMANDS: readonly CommandSpec[] = [
  {
    path: ['release', 'set'],
    operands: [
      {
        notation: '<entry=image...>',
        description: "an entry of the release and its image; the last word may be a release document or the environment's folder",
      },
    ],
    summary: 'write other images into a release; comments stay',
    flags: EDITING,
    examples: [
      { command: 'accede release set api=registry.example/crm/api@sha256:4a5b…', does: 'from CI, after a build' },
      { command: 'accede release set api=registry.example/crm/api:3.2 --from-labels', does: 'the tag as it is now, with its source' },
      { command: 'accede release set jobs.catalog=sha256:77ab… release.yaml', does: 'another digest or id, same repository' },
    ],
    run: async (input, shell) => (await import('./commands/release-edit.ts')).runReleaseSet(input, shell),
  },
  {
    path: ['release', 'lock'],
    operands: [RELEASE],
    summary: 'write the digests that the tags of a release mean now; comments stay',
    flags: EDITING,
    examples: [
      { command: 'accede release lock environments/staging', does: 'every entry with a tag' },
      { command: 'accede release lock --check', does: 'exit 2 when a tag means another image by now' },
    ],
    run: async (input, shell) => (await import('./commands/release-edit.ts')).runReleaseLock(input, shell),
  },
  {
    path: ['release', 'sign'],
    operands: [RELEASE],
    summary: 'sign a release with an ed25519 key',
    flags: [
      { flags: '--key <file>', description: 'the private key: PEM (PKCS #8) or OpenSSH, mode 0600, without a passphrase' },
      { flags: '--out <file>', description: 'where the signature goes (default: where the environment looks, else FILE.sig)' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede release sign release.yaml --key release.pem', does: 'writes release.sig' },
      { command: 'accede release sign environments/staging --key ~/.ssh/id_ed25519', does: 'an SSH key' },
    ],
    run: async (input, shell) => (await import('./commands/release-sign.ts')).runReleaseSign(input, shell),
  },
  {
    path: ['release', 'verify'],
    operands: [RELEASE],
    summary: 'prove the signature of a release',
    flags: [
      { flags: '--signature <file>', description: 'the signature (default: FILE.sig)' },
      {
        flags: '--key <key>',
        description: 'a public key that is trusted, or the file of one; without: those of the environment',
        repeatable: true,
      },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede release verify environments/staging', does: 'by the keys that the environment trusts' },
      { command: 'accede release verify release.yaml --signature release.sig --key release.pub', does: 'by this key' },
    ],
    run: async (input, shell) => (await import('./commands/release-sign.ts')).runReleaseVerify(input, shell),
  },
  {
    path: ['release', 'diff'],
    operands: [
      { notation: '<before>', description: 'a release document, or the folder of an environment' },
      { notation: '<after>', description: 'what comes after it' },
    ],
    summary: 'say which class one release would be after another; reads nothing live',
    flags: [
      { flags: '--environment <dir>', description: 'judge both in this environment and by its policy (default: by themselves, strictly)' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede release diff release-1.yaml release-2.yaml', does: 'the class, its rule, and what narrower classes do not admit' },
      { command: 'accede release diff old.yaml new.yaml --environment environments/staging', does: 'with the resources that read them' },
    ],
    run: async (input, shell) => (await import('./commands/release-diff.ts')).runReleaseDiff(input, shell),
  },
];
