import { describe, expect, it } from 'vitest';
import type { PathChange } from '../../../src/plan/succession/mask.ts';
import { matchOpen, type OpenCandidate, type OpenOperation } from '../../../src/plan/succession/open-operation.ts';

const open = (facts: Partial<OpenOperation> = {}): OpenOperation => ({
  id: 'op-7',
  kind: 'apply',
  class: 'serving-refresh',
  sourceDigest: 'own',
  crossed: false,
  compensable: true,
  catalog: null,
  claims: false,
  ...facts,
});
const candidate = (facts: Partial<OpenCandidate> = {}): OpenCandidate => ({
  sourceDigest: 'fix',
  sealedDigest: 'sealed',
  fromOperation: null,
  class: 'release-refresh',
  allowed: true,
  ...facts,
});
const change = (role: PathChange['role'], facet: PathChange['facet'], action: PathChange['action'] = 'changed'): PathChange => ({
  path: `fake.${role}.x.${facet}`,
  role,
  facet,
  action,
});
const job = change('catalog', 'implementation');
const unpublished = { kind: 'UPGRADE', published: false } as const;

/** Each row: the open operation, the candidate, its class, and what follows it. */
const VECTORS: readonly (readonly [string, OpenOperation, OpenCandidate, string, string | null])[] = [
  ['its own documents', open(), candidate({ sourceDigest: 'own' }), 'resume', null],
  [
    'its own documents, past its point of no return',
    open({ crossed: true, compensable: false }),
    candidate({ sourceDigest: 'own' }),
    'resume',
    null,
  ],
  ['the documents in force', open(), candidate({ sourceDigest: 'sealed' }), 'revert', null],
  ['the documents in force, too late', open({ crossed: true, compensable: false }), candidate({ sourceDigest: 'sealed' }), 'refuse', null],
  ['a fix', open(), candidate(), 'supersede', 'release-refresh'],
  ['a fix of a first apply', open({ class: 'initial' }), candidate({ sealedDigest: null, class: 'initial' }), 'supersede', 'initial'],
  ['a fix, with a step that nothing takes back', open({ compensable: false }), candidate(), 'refuse', null],
  ['a fix, past the point of no return', open({ crossed: true }), candidate(), 'refuse', null],
  ['a fix of a class that is not allowed', open(), candidate({ allowed: false }), 'refuse', null],
  ['a fix that is refused by itself', open(), candidate({ class: 'refuse' }), 'refuse', null],
  ['another catalog job', open({ crossed: true, catalog: unpublished }), candidate({ fromOperation: [job] }), 'catalog-retry', null],
  [
    'another catalog job, published',
    open({ crossed: true, catalog: { kind: 'UPGRADE', published: true } }),
    candidate({ fromOperation: [job] }),
    'refuse',
    null,
  ],
  [
    'another catalog job and a service',
    open({ crossed: true, catalog: { kind: 'PREPARE', published: false } }),
    candidate({ fromOperation: [job, change('service', 'implementation')] }),
    'refuse',
    null,
  ],
  [
    'a catalog job of the same digest',
    open({ crossed: true, catalog: { kind: 'PREPARE', published: false } }),
    candidate({ fromOperation: [] }),
    'refuse',
    null,
  ],
  [
    'another upgrade before anything durable',
    open({ class: 'catalog-upgrade' }),
    candidate({ class: 'catalog-upgrade' }),
    'catalog-supersede',
    null,
  ],
  [
    'another upgrade of an unpublished one',
    open({ crossed: true, catalog: unpublished }),
    candidate({ class: 'catalog-upgrade' }),
    'catalog-abandon',
    null,
  ],
  [
    'another upgrade of an unpublished preparation',
    open({ crossed: true, catalog: { kind: 'PREPARE', published: false } }),
    candidate({ class: 'catalog-upgrade' }),
    'refuse',
    null,
  ],
  ['a release over an unpublished upgrade', open({ crossed: true, catalog: unpublished }), candidate(), 'refuse', null],
  [
    'other workers after a claim',
    open({ crossed: true, claims: true }),
    candidate({ fromOperation: [change('worker', 'implementation')] }),
    'worker-supersede',
    null,
  ],
  [
    'other services and workers after a claim',
    open({ crossed: true, claims: true }),
    candidate({ fromOperation: [change('service', 'configuration'), change('worker', 'tuning'), change('worker', 'annotation')] }),
    'worker-supersede',
    null,
  ],
  [
    'another owner after a claim',
    open({ crossed: true, claims: true }),
    candidate({ fromOperation: [change('worker', 'identity')] }),
    'refuse',
    null,
  ],
  [
    'another policy after a claim',
    open({ crossed: true, claims: true }),
    candidate({ fromOperation: [change('worker', 'implementation'), change('infrastructure', 'governance')] }),
    'refuse',
    null,
  ],
  [
    'a worker more after a claim',
    open({ crossed: true, claims: true }),
    candidate({ fromOperation: [change('worker', 'configuration', 'added')] }),
    'refuse',
    null,
  ],
];

describe('a plan over an operation that has not ended', () => {
  it.each(VECTORS)('must be judged by the journal: %s', (_name, operation, documents, name, then) => {
    expect(matchOpen(operation, documents)).toMatchObject({ class: name, then });
  });

  it('must name the operation in every answer', () => {
    for (const [, operation, documents] of VECTORS) expect(matchOpen(operation, documents).rule).toContain('op-7');
  });
});
