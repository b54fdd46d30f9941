import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/core/canonical.ts';
import { parsePrivateKey } from '../../../src/core/ed25519.ts';
import type { Plain } from '../../../src/core/value.ts';
import type { PlanDocument } from '../../../src/plan/model.ts';
import { type AdmissionQuestion, admit, requirementsOf } from '../../../src/policy/admit.ts';
import { signApproval } from '../../../src/policy/approval.ts';
import { frozenBy } from '../../../src/policy/freeze.ts';
import { changesGovernance, policyInForce, readPolicy } from '../../../src/policy/policy.ts';
import { judgeByRules } from '../../../src/policy/rules.ts';
import type { Hold, Sealed } from '../../../src/state/model.ts';

const DIGEST = `sha256:${'a'.repeat(64)}` as Digest;
const OTHER = `sha256:${'b'.repeat(64)}` as Digest;
const AT = '2026-11-30T12:00:00.000Z';
const NOW = Date.parse(AT);

function keyPair() {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const parsed = parsePrivateKey(Buffer.from(pem));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}
const [dana, emil, mala] = [keyPair(), keyPair(), keyPair()];

function planOf(name: string, more: { readonly then?: string; readonly facets?: readonly string[]; readonly destroy?: boolean } = {}) {
  return {
    digest: DIGEST,
    environment: 'shop',
    inputs: { sourceDigest: 'sha256:s', variables: { port: 1 }, options: { destroy: more.destroy ?? false } },
    succession: {
      class: name,
      then: more.then ?? null,
      changedPaths: (more.facets ?? []).map((facet) => ({ path: 'x', role: 'data', facet, admittedBy: null })),
      refusals: [],
    },
  } as unknown as PlanDocument;
}

const APPROVERS = [
  { name: 'dana', key: dana.publicKey.text },
  { name: 'emil', key: emil.publicKey.text, classes: ['release-refresh'] },
];

function asked(block: Plain, question: Partial<AdmissionQuestion> = {}) {
  const policy = readPolicy(block);
  if (policy === undefined) throw new Error('no policy');
  return admit({
    plan: planOf('release-refresh'),
    policy,
    changesGovernance: false,
    approvals: [],
    holds: [],
    now: NOW,
    way: 'apply',
    breakFreeze: false,
    ...question,
  });
}

const codes = (admission: ReturnType<typeof admit>) => [...admission.refusals, ...admission.notes].map(({ code }) => code);
const approval = (key: typeof dana, plan = DIGEST, at = AT): Plain => ({ ...signApproval(plan, key, at) });

describe('the place of a class in allow', () => {
  it('must let everything through without a list, and nothing but what is in it with one', () => {
    expect(codes(asked({}))).toEqual([]);
    expect(codes(asked({ allow: ['release-refresh'] }))).toEqual([]);
    expect(codes(asked({ allow: ['initial'] }))).toEqual(['CLASS_NOT_ALLOWED']);
    expect(codes(asked({ allow: [] }))).toEqual(['CLASS_NOT_ALLOWED']);
  });

  it.each(['no-op', 'annotation', 'resume', 'revert'])('must not be asked of %s', (name) => {
    expect(codes(asked({ allow: [] }, { plan: planOf(name) }))).toEqual([]);
  });

  it('must be asked of both parts of a supersede', () => {
    const plan = planOf('supersede', { then: 'topology' });
    expect(asked({ allow: ['supersede'] }, { plan }).refusals).toMatchObject([{ code: 'CLASS_NOT_ALLOWED', observed: 'topology' }]);
    expect(codes(asked({ allow: ['supersede', 'topology'] }, { plan }))).toEqual([]);
  });

  it('must be asked of policy-change where the documents change who may do what, whatever else they change', () => {
    const allow = { allow: ['release-refresh'] };
    expect(asked(allow, { changesGovernance: true }).refusals).toMatchObject([{ code: 'CLASS_NOT_ALLOWED', observed: 'policy-change' }]);
    expect(codes(asked(allow, { plan: planOf('release-refresh', { facets: ['governance'] }) }))).toEqual(['CLASS_NOT_ALLOWED']);
    expect(codes(asked({ allow: ['release-refresh', 'policy-change'] }, { changesGovernance: true }))).toEqual([]);
    expect(codes(asked({ allow: [] }, { changesGovernance: true, plan: planOf('resume') }))).toEqual([]);
    expect(codes(asked({ allow: ['destroy'] }, { changesGovernance: true, plan: planOf('destroy', { destroy: true }) }))).toEqual([]);
  });
});

describe('the policy in force', () => {
  const sealed = (governance: Plain): Sealed => ({
    serial: 1,
    sourceDigest: '',
    releaseDigest: null,
    governance,
    commit: null,
    secrets: {},
    source: null,
  });
  const documents = { policy: { allow: ['composite'] }, hooks: {}, quiesce: {} };

  it('must be the sealed one, and the own one where nothing is sealed', () => {
    expect(policyInForce(sealed({ policy: { allow: [] } }), documents)?.allow).toEqual([]);
    expect(policyInForce(sealed({}), documents)?.allow).toBeUndefined();
    expect(policyInForce(null, documents)?.allow).toEqual(['composite']);
    expect(policyInForce(sealed({ policy: { allow: 7 } }), documents)).toBeUndefined();
  });

  it('must be told from what the documents say, blocks that are not there being empty', () => {
    expect(changesGovernance(sealed({ policy: { allow: ['composite'] } }), documents)).toBe(false);
    expect(changesGovernance(sealed({ policy: { allow: [] } }), documents)).toBe(true);
    expect(changesGovernance(sealed({ policy: { allow: ['composite'] }, hooks: { backup: 'none' } }), documents)).toBe(true);
    expect(changesGovernance(null, documents)).toBe(false);
  });
});

describe('approvals', () => {
  const two = { approvals: { 'release-refresh': 2 }, approvers: APPROVERS };

  it('must be complete, and say how many were given by whom and who may give the rest', () => {
    expect(asked(two).refusals).toMatchObject([{ code: 'APPROVALS_MISSING', expected: '2', observed: '0' }]);
    const one = asked(two, { approvals: [approval(dana)] });
    expect(one.refusals).toMatchObject([
      { code: 'APPROVALS_MISSING', detail: expect.stringMatching(/by dana\. Who may still approve it: emil/) },
    ]);
    const both = asked(two, { approvals: [approval(dana), approval(emil)] });
    expect(codes(both)).toEqual([]);
    expect(both.approved).toMatchObject([{ class: 'release-refresh', by: ['dana', 'emil'] }]);
  });

  it('must count one approver once, by key and by name', () => {
    expect(codes(asked(two, { approvals: [approval(dana), approval(dana, DIGEST, '2026-11-30T12:00:01.000Z')] }))).toEqual([
      'APPROVALS_MISSING',
      'APPROVER_TWICE',
    ]);
    const twoKeys = [...APPROVERS, { name: 'dana', key: mala.publicKey.text }];
    const block = { ...two, approvers: twoKeys };
    expect(codes(asked(block, { approvals: [approval(dana), approval(mala)] }))).toEqual(['APPROVALS_MISSING', 'APPROVER_TWICE']);
    const twoNames = [...APPROVERS, { name: 'dora', key: dana.publicKey.text }];
    const again = { ...two, approvers: twoNames };
    expect(codes(asked(again, { approvals: [approval(dana), approval(dana, DIGEST, '2026-11-30T12:00:01.000Z')] }))).toEqual([
      'APPROVALS_MISSING',
      'APPROVER_TWICE',
    ]);
    expect(codes(asked(two, { approvals: [approval(dana), approval(dana)] }))).toEqual(['APPROVALS_MISSING']);
  });

  it('must not count one of another plan, of a stranger, of who may not, or one that was altered', () => {
    const one = { approvals: { 'release-refresh': 1, topology: 1 }, approvers: APPROVERS };
    expect(codes(asked(one, { approvals: [approval(dana, OTHER)] }))).toEqual(['APPROVALS_MISSING', 'APPROVAL_OTHER_PLAN']);
    expect(codes(asked(one, { approvals: [approval(mala)] }))).toEqual(['APPROVALS_MISSING', 'APPROVER_UNKNOWN']);
    const topology = planOf('topology');
    expect(codes(asked(one, { plan: topology, approvals: [approval(emil)] }))).toEqual(['APPROVALS_MISSING', 'APPROVER_NOT_FOR_CLASS']);
    const forged = { ...signApproval(OTHER, dana, AT), plan: DIGEST };
    expect(codes(asked(one, { approvals: [forged] }))).toEqual(['APPROVALS_MISSING', 'APPROVAL_ALTERED']);
    const renamed = { ...signApproval(DIGEST, mala, AT), key: dana.publicKey.text };
    expect(codes(asked(one, { approvals: [renamed] }))).toEqual(['APPROVALS_MISSING', 'APPROVAL_ALTERED']);
    expect(codes(asked(one, { approvals: ['nothing of the kind'] }))).toEqual(['APPROVALS_MISSING', 'APPROVAL_ALTERED']);
  });

  it('must be the highest of any class for a change of the policy that has no number of its own', () => {
    const policy = readPolicy({ approvals: { topology: 3, 'release-refresh': 1 } });
    const own = readPolicy({ approvals: { topology: 3, 'policy-change': 1 } });
    if (policy === undefined || own === undefined) throw new Error('no policy');
    expect(requirementsOf(['composite', 'policy-change'], policy, false)).toEqual([{ class: 'policy-change', needed: 3 }]);
    expect(requirementsOf(['policy-change'], own, false)).toEqual([{ class: 'policy-change', needed: 1 }]);
  });

  it('must be asked for each class by itself', () => {
    const block = { approvals: { 'release-refresh': 1, 'policy-change': 1 }, approvers: APPROVERS };
    const by = (key: typeof dana) => asked(block, { changesGovernance: true, approvals: [approval(key)] });
    expect(codes(by(dana))).toEqual([]);
    expect(by(emil).refusals).toMatchObject([{ code: 'APPROVALS_MISSING', detail: expect.stringContaining('policy-change') }]);
  });
});

describe('freeze windows', () => {
  const yearEnd = {
    name: 'year-end',
    from: '2026-11-30T00:00:00+01:00',
    until: '2026-12-03T00:00:00+01:00',
    except: ['drift-repair', 'rollback'],
  };

  it('must refuse with their name and end, but for their exceptions, and for what ends an open operation', () => {
    const frozen = { freeze: [yearEnd] };
    expect(asked(frozen).refusals).toMatchObject([
      { code: 'FROZEN', observed: 'year-end', detail: expect.stringContaining('2026-12-02T23:00:00.000Z') },
    ]);
    expect(codes(asked(frozen, { now: Date.parse('2026-12-02T23:00:00Z') }))).toEqual([]);
    expect(codes(asked(frozen, { plan: planOf('drift-repair') }))).toEqual([]);
    expect(codes(asked(frozen, { way: 'rollback' }))).toEqual([]);
    expect(codes(asked({ freeze: [{ ...yearEnd, except: [] }] }, { way: 'rollback' }))).toEqual(['FROZEN']);
    expect(codes(asked(frozen, { plan: planOf('resume') }))).toEqual([]);
    expect(codes(asked(frozen, { plan: planOf('drift-repair'), changesGovernance: true }))).toEqual(['FROZEN']);
  });

  it('must take one approval more than the class to be broken, and say which were', () => {
    const block = { freeze: [yearEnd], approvals: { 'release-refresh': 1 }, approvers: APPROVERS };
    expect(asked(block, { breakFreeze: true, approvals: [approval(dana)] }).refusals).toMatchObject([
      { code: 'APPROVALS_MISSING', expected: '2' },
    ]);
    const broken = asked(block, { breakFreeze: true, approvals: [approval(dana), approval(emil)] });
    expect(codes(broken)).toEqual([]);
    expect(broken.broken).toMatchObject([{ name: 'year-end' }]);
    expect(
      codes(asked({ approvals: { 'release-refresh': 1 }, approvers: APPROVERS }, { breakFreeze: true, approvals: [approval(dana)] })),
    ).toEqual([]);
  });

  it.each([
    ['2026-11-27T14:59:00Z', undefined],
    ['2026-11-27T15:00:00Z', '2026-11-30T05:00:00.000Z'],
    ['2026-11-30T04:59:59Z', '2026-11-30T05:00:00.000Z'],
    ['2026-11-30T05:00:00Z', undefined],
    // Clocks go back in the night to Sunday: the window ends an hour later than it seems.
    ['2026-10-24T12:00:00Z', '2026-10-26T05:00:00.000Z'],
    ['2026-03-28T12:00:00Z', '2026-03-30T04:00:00.000Z'],
  ])('must follow the clocks of their time zone at %s', (now, until) => {
    const weekly = { from: 'fri 16:00', until: 'mon 06:00', timezone: 'Europe/Berlin' };
    const window = { name: 'weekend', from: undefined, until: undefined, weekly, except: [] };
    const found = frozenBy([window], ['topology'], Date.parse(now)).map((frozen) => new Date(frozen.until).toISOString());
    expect(found).toEqual(until === undefined ? [] : [until]);
  });
});

describe('holds', () => {
  const hold = (changes: Partial<Hold> = {}): Hold => ({
    kind: 'hand',
    source: null,
    variables: null,
    reason: 'incident 311',
    by: 'dana@here',
    since: AT,
    until: null,
    serial: null,
    ...changes,
  });

  it('must keep off every source until they end, and let rollback and recover pass', () => {
    expect(asked({}, { holds: [hold()] }).refusals).toMatchObject([
      { code: 'HELD', detail: expect.stringContaining('incident 311. dana@here') },
    ]);
    expect(codes(asked({}, { holds: [hold({ until: '2026-11-30T12:00:00.001Z' })] }))).toEqual(['HELD']);
    expect(codes(asked({}, { holds: [hold({ until: AT })] }))).toEqual([]);
    expect(codes(asked({}, { holds: [hold()], way: 'rollback' }))).toEqual([]);
    expect(codes(asked({}, { holds: [hold()], way: 'recover' }))).toEqual([]);
  });

  it('must keep off one source alone, variables included where they are known', () => {
    const held = (source: string, variables: string | null) =>
      codes(asked({}, { holds: [hold({ kind: 'source', source, variables, serial: 7 })] }));
    expect(held('sha256:s', null)).toEqual(['HELD']);
    expect(held('sha256:other', null)).toEqual([]);
    expect(held('sha256:s', 'sha256:of other variables')).toEqual([]);
    const destroy = planOf('destroy', { destroy: true });
    expect(codes(asked({}, { plan: destroy, holds: [hold({ kind: 'source', source: 'sha256:s' })] }))).toEqual([]);
    expect(codes(asked({}, { plan: destroy, holds: [hold()] }))).toEqual(['HELD']);
  });
});

describe('rules', () => {
  const changes = [
    { address: 'a', type: 'box', action: 'create', after: { user: 'root' } },
    { address: 'b', type: 'box', action: 'delete', after: null },
  ];
  const document = {
    ...planOf('topology'),
    changes,
    warnings: [{ code: 'ZEBRA', message: 'was there' }],
    applicable: true,
  } as unknown as PlanDocument;
  const judged = (effect: 'deny' | 'warn', expression: string, plan = document) =>
    judgeByRules(plan, [{ code: 'NO_ROOT', effect, expression, message: 'must not be root' }]);

  it('must make a plan one that is refused with their code, and name the class that it would have had', () => {
    const denied = judged('deny', 'plan.changes.exists(c, c.after.user == "root")');
    expect(denied).toMatchObject({
      applicable: false,
      succession: {
        class: 'refuse',
        rule: '1 refusal: NO_ROOT; the change itself is topology',
        refusals: [{ code: 'NO_ROOT', message: 'must not be root.' }],
      },
    });
    expect(denied.digest).not.toBe(document.digest);
    expect(judged('deny', 'plan.changes.exists(c, c.after.user == "nobody")')).toBe(document);
  });

  it('must warn beside the other warnings', () => {
    expect(judged('warn', 'size(plan.changes) > 1')).toMatchObject({
      applicable: true,
      warnings: [{ code: 'NO_ROOT', message: 'must not be root.' }, { code: 'ZEBRA' }],
    });
  });

  it('must read what is absent as null', () => {
    expect(
      judged('deny', 'plan.changes.all(c, c.after.user == null || c.nothing.at.all == null) && plan.none == null').succession.class,
    ).toBe('refuse');
    expect(judged('deny', 'has(plan.none)')).toBe(document);
  });

  it('must count as held when they cannot be computed', () => {
    const found = judged('deny', 'plan.none > 3');
    expect(found.succession.refusals).toMatchObject([{ code: 'NO_ROOT', message: expect.stringContaining('could not be tested') }]);
    expect(judged('deny', '"text"').succession.class).toBe('refuse');
    expect(judged('deny', 'plan.changes.map(a, plan.changes.map(b, plan.changes.map(c, range(1)))) == 1').succession.class).toBe('refuse');
  });

  it('must let a change of the policy alone pass, so that a rule can be taken back', () => {
    expect(judged('deny', 'true', { ...document, succession: { ...document.succession, class: 'policy-change' } }).applicable).toBe(true);
  });
});
