import { type CommandSpec, VARIABLES } from './command-spec.ts';

/** The commands about releases. */
export const RELEASE_COMMANDS: readonly CommandSpec[] = [
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
