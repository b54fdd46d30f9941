/** All classes that a plan can have while no operation is open, in the order in which they are tried. */
export const CLASS_NAMES = [
  'no-op',
  'destroy',
  'initial',
  'drift-repair',
  'annotation',
  'policy-change',
  'reference-completion',
  'worker-tuning',
  'credential-rotation',
  'trust-transition',
  'routing',
  'frontend-content',
  'runtime-generation',
  'job-run',
  'configuration',
  'store-refresh',
  'worker-implementation',
  'serving-refresh',
  'release-refresh',
  'catalog-upgrade',
  'topology',
  'data-reset',
  'replacement',
  'composite',
  'refuse',
] as const;
export type ClassName = (typeof CLASS_NAMES)[number];

/** The classes of a plan over an operation that has not ended, in the order in which they are tried. */
export const OPEN_CLASS_NAMES = [
  'resume',
  'revert',
  'catalog-retry',
  'catalog-supersede',
  'catalog-abandon',
  'worker-supersede',
  'supersede',
] as const;
export type OpenClassName = (typeof OPEN_CLASS_NAMES)[number];

/** Every class that may be named in a policy. `no-op` and `refuse` do nothing, so that nothing can be said of them. */
export const GOVERNED_CLASSES = [
  ...OPEN_CLASS_NAMES,
  ...CLASS_NAMES.filter((name): name is Exclude<ClassName, 'no-op' | 'refuse'> => name !== 'no-op' && name !== 'refuse'),
] as const;

/** Classes that need no place in `allow`: they do nothing, say something to readers alone, or end what was begun. */
const FREE: ReadonlySet<string> = new Set<ClassName | OpenClassName>(['no-op', 'annotation', 'resume', 'revert', 'refuse']);

/** Whether a class has to stand in `allow` when that is given. `destroy`, `initial` and `drift-repair` have to. */
export function needsAllowance(name: string): boolean {
  return !FREE.has(name);
}
