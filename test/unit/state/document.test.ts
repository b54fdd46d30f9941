import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalText } from '../../../src/core/canonical.ts';
import { randomIds } from '../../../src/core/clock.ts';
import type { Outcome } from '../../../src/core/diagnostic.ts';
import type { Plain } from '../../../src/core/value.ts';
import { digestOfRows } from '../../../src/state/digest.ts';
import { exportState, parseState, type StateDocument } from '../../../src/state/document.ts';
import { verifyIntegrity } from '../../../src/state/integrity.ts';
import type { ResourceRow, Snapshot } from '../../../src/state/model.ts';
import { type PushPlan, preparePush } from '../../../src/state/push.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, addressOf, begun, identityOf, operationOf, rowOf } from '../../support/state-rows.ts';

const FINGERPRINT = `hmac-sha256:${'a'.repeat(64)}`;
const SEALED = { serial: 12, sourceDigest: 'sha256:s', releaseDigest: null, governance: { a: 1 }, commit: null, secrets: {}, source: null };
const SECRET = { $accede: 'sensitive', fingerprint: FINGERPRINT, names: ['token'] };

function snapshotOf(rows: readonly ResourceRow[], changes: Partial<Snapshot> = {}): Snapshot {
  const outputs = [{ name: 'url', value: 'http://crm' }];
  return {
    identity: identityOf('crm'),
    epoch: 1,
    head: { serial: 12, digest: digestOfRows(rows, outputs) },
    resources: new Map(rows.map((row) => [row.address, row])),
    outputs,
    sealed: SEALED,
    holds: [],
    open: null,
    lastOperation: null,
    unsettled: [],
    lock: null,
    ...changes,
  };
}

const textOf = (snapshot: Snapshot) => canonicalText(exportState(snapshot));
/** The text of a document with changes that a person could make. */
function edited(snapshot: Snapshot, changes: { readonly [name: string]: unknown }): string {
  return canonicalText({ ...(exportState(snapshot) as { readonly [name: string]: Plain }), ...changes });
}

function codes(outcome: Outcome<unknown>): readonly string[] {
  return outcome.diagnostics.map((diagnostic) => `${diagnostic.severity} ${diagnostic.code}`);
}

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.diagnostics.map((diagnostic) => diagnostic.detail).join('; '));
  return outcome.value;
}

describe('a state document', () => {
  const rows = [rowOf('b', { dependencies: [addressOf('a')] }), rowOf('a', { attributes: { token: SECRET } })];
  const snapshot = snapshotOf(rows);

  it('must read back as what was written', () => {
    const { identity, head, resources, outputs, sealed } = snapshot;
    const { environment, lineage, createdAt, encryption } = identity;
    expect(valueOf(parseState(textOf(snapshot)))).toEqual({
      environment,
      lineage,
      createdAt,
      encryption,
      ...head,
      resources,
      outputs,
      sealed,
    });
    expect(parseState(textOf(snapshot)).diagnostics).toEqual([]);
  });

  it('must have one text for equal states, and neither key nor lock in it', () => {
    const reversed = snapshotOf([...rows].reverse(), { identity: snapshot.identity });
    expect(textOf(reversed)).toBe(textOf(snapshot));
    expect(textOf(snapshot)).not.toContain(snapshot.identity.fingerprintKey);
    expect(textOf(snapshot)).not.toContain('lock');
  });

  it.each([
    ['', 'STATE_DOCUMENT_INVALID'],
    ['{', 'STATE_DOCUMENT_INVALID'],
    ['[]', 'STATE_DOCUMENT_INVALID'],
    ['{"format":"accede.state/v2"}', 'STATE_DOCUMENT_FORMAT'],
    [edited(snapshot, { lineage: 'x' }), 'STATE_DOCUMENT_INVALID'],
    [textOf(snapshot).replace('http://crm', '\\ud800'), 'STATE_DOCUMENT_INVALID'],
    [textOf(snapshot).replace('"http://crm"', '1e999'), 'STATE_DOCUMENT_INVALID'],
    [edited(snapshot, { extra: 1 }), 'STATE_DOCUMENT_INVALID'],
    [edited(snapshot, { serial: -1 }), 'STATE_DOCUMENT_INVALID'],
    [edited(snapshot, { resources: rows.slice(1) }), 'STATE_DOCUMENT_DIGEST'],
    [edited(snapshot, { outputs: [] }), 'STATE_DOCUMENT_DIGEST'],
    [edited(snapshot, { resources: [{ ...rows[0], address: 'nonsense' }] }), 'STATE_DOCUMENT_INVALID'],
    [textOf(snapshotOf([rowOf('a', { id: 'x' }), rowOf('b', { id: 'x' })])), 'STATE_DUPLICATE_ID'],
    [textOf(snapshotOf([rowOf('a', { address: 'box.other.a' as ResourceRow['address'] })])), 'STATE_ADDRESS'],
    [textOf(snapshotOf([rowOf('a', { attributes: { x: { $accede: 'odd' } } })])), 'STATE_VALUE'],
  ])('must be refused in a sentence: %.40s', (text, code) => {
    const outcome = parseState(text);
    expect(outcome.ok).toBe(false);
    expect(codes(outcome)).toContain(`error ${code}`);
    for (const diagnostic of outcome.diagnostics) expect(diagnostic.detail).toMatch(/\.$/);
  });

  it('must be refused when an address stands in it twice', () => {
    const twice = [rowOf('a'), rowOf('a', { id: 'other' })];
    const digest = digestOfRows(twice, snapshot.outputs);
    expect(codes(parseState(edited(snapshot, { resources: twice, digest })))).toEqual(['error STATE_DOCUMENT_INVALID']);
  });

  it('must lose a dependency on what is not in it, with a warning', () => {
    const outcome = parseState(textOf(snapshotOf([rowOf('b', { dependencies: [addressOf('a')] })])));
    expect(codes(outcome)).toEqual(['warning STATE_DEPENDENCY']);
    expect(valueOf(outcome).resources.get(addressOf('b'))?.dependencies).toEqual([]);
  });
});

describe('pushing a state', () => {
  let folder: StateFolder;
  beforeEach(async () => {
    folder = await StateFolder.make();
  });
  afterEach(() => folder.remove());

  const rows = [rowOf('a', { attributes: { token: SECRET, deep: [{ token: SECRET }] } }), rowOf('b', { dependencies: [addressOf('a')] })];
  const snapshot = snapshotOf(rows);
  const target = { environment: 'crm', fingerprintKey: randomIds.id() + randomIds.id() };
  const documentOf = (of: Snapshot): StateDocument => valueOf(parseState(textOf(of)));

  async function push(plan: PushPlan): Promise<void> {
    const store = await folder.store();
    const before = await store.read();
    const answer = await store.acquire({ who: 'a', purpose: 'push', ...(plan.create === undefined ? {} : { create: plan.create }) });
    if (answer.kind === 'busy') throw new Error('busy');
    const head = before?.head ?? (await answer.session.read()).head;
    const { serial } = await answer.session.begin(operationOf({ kind: 'state-push' }), head);
    await answer.session.write(plan.mutations);
    await answer.session.end(serial, 'done', null, plan.sealed === null ? undefined : { ...plan.sealed, serial });
    await answer.session.release();
  }

  it('must fill an empty store with the same lineage, a new key, and secrets without the fingerprints of the old one', async () => {
    const plan = valueOf(preparePush(documentOf(snapshot), undefined, target));
    await push(plan);
    const found = await (await folder.store()).read();
    const { lineage, createdAt } = snapshot.identity;
    expect(found?.identity).toEqual({
      format: 1,
      environment: 'crm',
      lineage,
      createdAt,
      encryption: null,
      fingerprintKey: target.fingerprintKey,
    });
    expect(found?.head.serial).toBe(13);
    expect(found?.outputs).toEqual(snapshot.outputs);
    expect(found?.sealed).toEqual({ ...SEALED, serial: 13 });
    const bare = { $accede: 'sensitive', names: ['token'] };
    expect(found?.resources.get(addressOf('a'))?.attributes).toEqual({ token: bare, deep: [{ token: bare }] });
    expect(found?.resources.get(addressOf('b'))).toEqual(rows[1]);
  });

  it('must give a store back what was pulled from it, rows that came later dropped', async () => {
    await push(valueOf(preparePush(documentOf(snapshot), undefined, target)));
    const store = await folder.store();
    const pulled = await store.read();
    const { session } = await acquired(store, 'crm');
    const { serial } = await begun(store, session);
    await session.write([
      { kind: 'row', row: rowOf('c') },
      { kind: 'row', row: rowOf('b', { status: 'tainted' }) },
    ]);
    await session.end(serial, 'done', null);
    await session.release();
    const later = await store.read();
    if (pulled === undefined || later === undefined) throw new Error('no state');
    expect(codes(preparePush(documentOf(pulled), later, target))).toEqual(['error STATE_PUSH_REFUSED']);
    const restored = { ...documentOf(pulled), serial: later.head.serial };
    await push(valueOf(preparePush(restored, later, target)));
    const after = await store.read();
    expect(after?.head).toEqual({ serial: serial + 1, digest: pulled.head.digest });
    expect(after?.resources).toEqual(pulled.resources);
    expect(after && verifyIntegrity(after)).toEqual([]);
  });

  it('must refuse another environment, another lineage, and a serial that is not the head', () => {
    const document = documentOf(snapshot);
    const refused = (outcome: Outcome<unknown>) => expect(codes(outcome)).toEqual(['error STATE_PUSH_REFUSED']);
    refused(preparePush(document, undefined, { ...target, environment: 'shop' }));
    refused(preparePush(document, snapshotOf(rows), target));
    const at = (serial: number) => ({ ...snapshot, head: { ...snapshot.head, serial } });
    refused(preparePush(document, at(13), target));
    refused(preparePush(document, at(11), target));
    expect(preparePush(document, at(12), target).ok).toBe(true);
  });
});
