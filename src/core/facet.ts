/** What aspect of a resource an attribute belongs to; the classifier's masks are over (role, facet). */
export const FACETS = [
  'identity',
  'implementation',
  'configuration',
  'tuning',
  'routing',
  'content',
  'credential',
  'authority',
  'placement',
  'governance',
  'annotation',
] as const;
export type Facet = (typeof FACETS)[number];

/** What part a resource plays in the environment. It comes from the resource type, or from `role:` where a type allows several. */
export const ROLES = [
  'service',
  'worker',
  'store',
  'job',
  'frontend',
  'ingress',
  'catalog',
  'ownership',
  'trust',
  'runtime',
  'credential',
  'data',
  'infrastructure',
] as const;
export type Role = (typeof ROLES)[number];

/** The stages of a procedure, in the order in which they run. */
export const STAGES = [
  'preflight',
  'backup',
  'quiesce',
  'snapshot',
  'migrate',
  'publish',
  'claim',
  'start',
  'route',
  'commit',
  'verify',
  'retire',
] as const;
export type Stage = (typeof STAGES)[number];
