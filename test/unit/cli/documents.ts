import type { ResourceAddress } from '../../../src/core/address.ts';
import { type Digest, digestBytes } from '../../../src/core/canonical.ts';
import { planDigest } from '../../../src/plan/digest.ts';
import { DEFAULT_OPTIONS } from '../../../src/plan/inputs.ts';
import type { PlanDocument, PlannedChange, Summary } from '../../../src/plan/model.ts';

const EMPTY_SUMMARY: Summary = { create: 0, update: 0, replace: 0, start: 0, delete: 0, adopt: 0, forget: 0, move: 0, noop: 0, refuse: 0 };

/** A change with everything that a test leaves out filled in. */
export function change(address: string, action: PlannedChange['action'], more: Partial<PlannedChange> = {}): PlannedChange {
  return {
    address: address as ResourceAddress,
    type: address.split('.').slice(0, 2).join('.'),
    provider: address.split('.')[0] ?? '',
    role: 'service',
    action,
    replaceOrder: action === 'replace' ? 'destroy-first' : null,
    cause: action === 'noop' ? null : { kind: 'self' },
    reason: '',
    facets: [],
    paths: [],
    before: null,
    after: null,
    unknown: [],
    sensitive: [],
    movedFrom: null,
    importId: null,
    protected: false,
    source: null,
    ...more,
  };
}

/** A differing attribute. */
export function path(name: string, facet: PlannedChange['facets'][number] = 'configuration'): PlannedChange['paths'][number] {
  return { path: name, facet, replaces: false, cause: 'change' };
}

/** A plan document with a digest that holds, its summary counted from the changes. */
export function plan(changes: readonly PlannedChange[], more: Partial<PlanDocument> = {}): PlanDocument {
  const summary: Record<string, number> = { ...EMPTY_SUMMARY };
  for (const { action } of changes) summary[action] = (summary[action] ?? 0) + 1;
  const empty = digestBytes('');
  const content: Omit<PlanDocument, 'digest'> = {
    format: 'accede.plan/v1',
    environment: 'staging',
    engine: { version: '0.1.0' },
    inputs: {
      sourceDigest: empty,
      releaseDigest: null,
      commit: null,
      folder: 'environments/staging',
      variables: {},
      providers: {},
      options: DEFAULT_OPTIONS,
    },
    state: { lineage: 'a'.repeat(32), epoch: 1, serial: 12, digest: empty, begins: null },
    succession: {
      class: 'composite',
      then: null,
      backsOut: null,
      chosen: 'composite',
      rule: 'no narrower class covers every change',
      outage: 'none',
      direction: 'forward: what was done stays recorded',
      pointOfNoReturn: null,
      stages: changes.some((item) => item.action !== 'noop') ? ['preflight', 'start', 'verify'] : [],
      changedPaths: [],
      rejected: [],
      guards: [{ name: 'state', expected: 'x', observed: 'x', ok: true }],
      refusals: [],
    },
    applicable: true,
    changes,
    rolling: [],
    steps: changes
      .filter((item) => item.action !== 'noop')
      .map((item) => ({
        id: `${item.address}:apply`,
        address: item.address,
        effect: 'apply',
        stage: 'start',
        phase: 1,
        after: [],
        direction: 'forward',
      })),
    fingerprints: {},
    outageAddresses: [],
    affected: [],
    secretsChanged: [],
    drift: [],
    outputs: [],
    summary: summary as unknown as Summary,
    warnings: [],
    createdAt: '2026-11-30T14:02:00.000Z',
    expiresAt: '2026-12-01T14:02:00.000Z',
    ...more,
  };
  return { ...content, digest: planDigest(content) };
}

/** A digest made from a word. */
export function digest(word: string): Digest {
  return digestBytes(word);
}
