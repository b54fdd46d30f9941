import type { Facet, Role, Stage } from '../../core/facet.ts';
import type { ClassName } from '../../core/successor-class.ts';
import { ANY_ROLE, changed, type Mask, type MaskEntry, WORKING, whole } from './mask.ts';

/** How much goes down. `tuple`: every worker of a claimed family as well; `stopped`: every service and worker that uses the data. */
export type OutageKind = 'none' | 'role' | 'tuple' | 'stopped' | 'all';

/** Which way a failure goes; a step that cannot be taken back is stricter than its class. */
export type ClassDirection = 'back' | 'back-first' | 'forward';

/** One row of the table: what a class admits and what its procedure is. */
export interface ClassRow {
  readonly name: ClassName;
  readonly mask: Mask;
  /** At least one change has to be admitted by one of these. */
  readonly needs?: Mask;
  /** Not even what rides along may be one of these. */
  readonly without?: Mask;
  /** Needs a backup hook. */
  readonly backup?: true;
  readonly outage: OutageKind;
  readonly direction: ClassDirection;
  /** After what there is no way back; null where there always is one, or never. */
  readonly pointOfNoReturn: string | null;
  readonly stages: readonly Stage[];
  /** Why a plan has this class, as one sentence without its full stop. */
  readonly rule: string;
}

const SERVING: readonly Role[] = ['service', 'worker'];
const ROUTED: readonly Facet[] = ['routing', ...WORKING];

const secrets: Mask = [changed(ANY_ROLE, ['credential']), changed(['credential'], WORKING)];
const ownership: Mask = [changed(['ownership'], ['authority', 'implementation']), whole(['ownership'], ['added'])];
const serving: Mask = [changed(SERVING, WORKING), ...ownership, whole(['worker'], ['added'], 'release-role')];
const release: Mask = [
  changed(['service', 'worker', 'job', 'frontend', 'ingress', 'runtime', 'infrastructure', 'data'], WORKING),
  changed(['store'], ['configuration', 'tuning', 'content']),
  changed(['ingress'], ['routing']),
  ...secrets,
  ...serving,
];
const topology: Mask = [
  ...release,
  whole(
    ANY_ROLE.filter((role) => role !== 'catalog' && role !== 'trust' && role !== 'ownership'),
    ['added', 'removed'],
  ),
  changed(ANY_ROLE, ['placement']),
];
const catalog: readonly MaskEntry[] = [changed(['catalog'], [...WORKING, 'authority']), whole(['catalog'], ['added'])];
const everythingButIdentity: Mask = [
  changed(ANY_ROLE, [
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
  ]),
  whole(ANY_ROLE, ['added', 'removed']),
];

const CONTAINERS: readonly Stage[] = ['preflight', 'quiesce', 'start', 'verify', 'retire'];
const CLAIMING: readonly Stage[] = ['preflight', 'quiesce', 'snapshot', 'claim', 'start', 'verify', 'retire'];
const RELEASE: readonly Stage[] = ['preflight', 'quiesce', 'snapshot', 'migrate', 'claim', 'start', 'route', 'commit', 'verify', 'retire'];
const BEFORE_CLAIM = 'the first claim, where families are claimed';

const row = (name: ClassName, given: Omit<ClassRow, 'name'>): ClassRow => ({ ...given, name });

/** The rows that masks choose from, in order; the first that admits every change is the class. Masks of these rows are all that chooses. */
export const MASKED_CLASSES: readonly ClassRow[] = [
  row('annotation', {
    mask: [],
    without: [changed(ANY_ROLE, ['governance'])],
    outage: 'none',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['verify'],
    rule: 'only what is for readers differs',
  }),
  row('policy-change', {
    mask: [],
    outage: 'none',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['verify'],
    rule: 'only what says who may do what differs',
  }),
  row('reference-completion', {
    mask: [changed(['data'], ['content'])],
    outage: 'tuple',
    direction: 'forward',
    pointOfNoReturn: 'the first batch of data',
    stages: ['preflight', 'migrate', 'verify'],
    rule: 'only reference data is missing or differs',
  }),
  row('worker-tuning', {
    mask: [changed(['worker'], ['tuning'])],
    outage: 'role',
    direction: 'back',
    pointOfNoReturn: null,
    stages: CONTAINERS,
    rule: 'only values of workers that are declared safe to tune differ',
  }),
  row('credential-rotation', {
    mask: secrets,
    outage: 'role',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['preflight', 'migrate', 'start', 'route', 'verify', 'retire'],
    rule: 'only secrets, keys and certificates differ',
  }),
  row('trust-transition', {
    mask: [changed(['trust', 'runtime'], ['authority']), whole(['trust'], ['added'])],
    outage: 'none',
    direction: 'forward',
    pointOfNoReturn: 'the publication of the new keys',
    stages: ['preflight', 'snapshot', 'publish', 'verify'],
    rule: 'only what is trusted differs',
  }),
  row('routing', {
    mask: [changed(['ingress'], ROUTED), ...secrets],
    outage: 'none',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['preflight', 'migrate', 'start', 'route', 'verify', 'retire'],
    rule: 'only how traffic reaches it differs, and secrets',
  }),
  row('frontend-content', {
    mask: [changed(['frontend'], WORKING)],
    outage: 'none',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['preflight', 'route', 'verify', 'retire'],
    rule: 'only what browsers load differs',
  }),
  row('runtime-generation', {
    mask: [changed(['runtime'], WORKING)],
    outage: 'role',
    direction: 'back-first',
    pointOfNoReturn: 'the commit of the generation',
    stages: ['preflight', 'start', 'commit', 'verify', 'retire'],
    rule: 'only runtimes on disk differ',
  }),
  row('job-run', {
    mask: [changed(['job'], WORKING)],
    outage: 'none',
    direction: 'forward',
    pointOfNoReturn: 'the first run',
    stages: ['preflight', 'migrate', 'start', 'verify'],
    rule: 'only what runs and ends differs',
  }),
  row('configuration', {
    mask: [
      changed(['service', 'worker', 'store'], ['configuration', 'tuning', 'content']),
      changed(['infrastructure'], WORKING),
      changed(['ingress'], ROUTED),
      ...secrets,
    ],
    outage: 'role',
    direction: 'back',
    pointOfNoReturn: null,
    stages: ['preflight', 'quiesce', 'migrate', 'start', 'route', 'verify', 'retire'],
    rule: 'only how it is wired differs: no image, no store, no data',
  }),
  row('store-refresh', {
    mask: [changed(['store'], WORKING), ...secrets],
    backup: true,
    outage: 'role',
    direction: 'back-first',
    pointOfNoReturn: 'the first start of the new version, unless it is reversible',
    stages: ['preflight', 'backup', 'quiesce', 'start', 'verify', 'retire'],
    rule: 'only stores differ, and secrets',
  }),
  row('worker-implementation', {
    mask: [changed(['worker'], WORKING), ...ownership],
    outage: 'role',
    direction: 'back-first',
    pointOfNoReturn: BEFORE_CLAIM,
    stages: CLAIMING,
    rule: 'only workers differ, with their ownership; same set, same owners',
  }),
  row('serving-refresh', {
    mask: serving,
    outage: 'tuple',
    direction: 'back-first',
    pointOfNoReturn: BEFORE_CLAIM,
    stages: CLAIMING,
    rule: 'only working facets of services and workers differ, with their ownership; same set, same owners',
  }),
  row('release-refresh', {
    mask: release,
    outage: 'tuple',
    direction: 'back-first',
    pointOfNoReturn: BEFORE_CLAIM,
    stages: RELEASE,
    rule: 'an ordinary release: working facets and routing differ; same set, same owners, no store version',
  }),
  row('catalog-upgrade', {
    mask: [...release, ...catalog, changed(['trust'], ['authority']), whole(['trust', 'data'], ['added'])],
    needs: catalog,
    backup: true,
    outage: 'stopped',
    direction: 'back-first',
    pointOfNoReturn: 'the trust transition or the publication',
    stages: ['preflight', 'backup', 'quiesce', 'snapshot', 'migrate', 'publish', 'claim', 'start', 'route', 'commit', 'verify', 'retire'],
    rule: 'what a catalog holds differs, with the release around it; same owners',
  }),
  row('topology', {
    mask: topology,
    outage: 'role',
    direction: 'back-first',
    pointOfNoReturn: BEFORE_CLAIM,
    stages: RELEASE,
    rule: 'resources come, go or stand elsewhere; nothing changes its owner',
  }),
  row('data-reset', {
    mask: [changed(['data'], ['identity'], { only: 'reset' })],
    backup: true,
    outage: 'stopped',
    direction: 'forward',
    pointOfNoReturn: 'the reset',
    stages: ['preflight', 'backup', 'quiesce', 'snapshot', 'migrate', 'start', 'verify'],
    rule: 'a reset counter says that data begins anew',
  }),
  row('replacement', {
    mask: [...topology, changed(ANY_ROLE, ['identity'], { except: 'reset' })],
    outage: 'role',
    direction: 'forward',
    pointOfNoReturn: null,
    stages: RELEASE,
    rule: 'something becomes another one, or another’s',
  }),
  row('composite', {
    mask: everythingButIdentity,
    outage: 'tuple',
    direction: 'back-first',
    pointOfNoReturn: null,
    stages: RELEASE,
    rule: 'changes of several kinds come together, and no narrower class admits all of them',
  }),
];

/** The row of a class that masks choose; undefined for the others. */
export function classRow(name: string): ClassRow | undefined {
  return MASKED_CLASSES.find((entry) => entry.name === name);
}
