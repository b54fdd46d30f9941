import { expect, it } from 'vitest';
import { BUNDLE_FORMAT, bundleOf, encodeContent, storedBundle } from '../../src/core/bundle.ts';
import { digestBytes } from '../../src/core/canonical.ts';
import type { Mutation, StateStore, WriteSession } from '../../src/state/contract.ts';
import { addressOf, begun, rowOf, stepOf } from '../support/state-rows.ts';

const PLAN = digestBytes('a plan');

/** What every backend must do with what was in force. */
export function keptConformance(writing: () => Promise<{ readonly store: StateStore; readonly session: WriteSession }>): void {
  const content = (text: string) => ({ digest: digestBytes(text), body: encodeContent(Buffer.from(text)) });
  const manifest = (...texts: readonly string[]) =>
    bundleOf(
      {
        format: BUNDLE_FORMAT,
        environment: 'crm',
        files: texts.map((text) => ({ path: text, kind: 'kept' as const, digest: digestBytes(text), bytes: text.length })),
        variables: {},
      },
      new Map(texts.map((text) => [digestBytes(text), Buffer.from(text)])),
    );
  const sealedOf = (serial: number, source: string | null) => ({
    serial,
    sourceDigest: `sha256:${serial}`,
    releaseDigest: null,
    governance: null,
    commit: null,
    secrets: {},
    source,
  });
  /** One operation that puts an environment of these contents in force. */
  const applied = async (opened: StateStore, session: WriteSession, texts: readonly string[], more: readonly Mutation[] = []) => {
    const { serial } = await begun(opened, session);
    const bundle = manifest(...texts);
    const kept = [...storedBundle(bundle)].map(([digest, body]): Mutation => ({ kind: 'source', digest, body }));
    await session.write([...kept, ...more]);
    await session.end(serial, 'done', null, sealedOf(serial, bundle.digest));
    return bundle.digest;
  };

  it('must keep contents by their digest, once', async () => {
    const { store: opened, session } = await writing();
    const [a, b] = [content('a'), content('\u0000ü\ud834\udd1e')];
    await begun(opened, session);
    await session.write([
      { kind: 'source', ...a },
      { kind: 'source', ...b },
      { kind: 'source', ...a },
    ]);
    const missing = digestBytes('missing');
    expect(await opened.sources([b.digest, missing, a.digest])).toEqual(
      new Map([
        [b.digest, b.body],
        [a.digest, a.body],
      ]),
    );
  });

  it('must list what was put in force, newest first, and what was taken down', async () => {
    const { store: opened, session } = await writing();
    const first = await applied(opened, session, ['a']);
    await session.end((await begun(opened, session)).serial, 'failed', null);
    await session.end((await begun(opened, session)).serial, 'done', null, null);
    expect(await opened.sealings()).toEqual([
      { serial: 3, sealed: null },
      { serial: 1, sealed: sealedOf(1, first) },
    ]);
  });

  it('must forget what is older, and nothing that a later serial builds on', async () => {
    const { store: opened, session } = await writing();
    const row = (name: string, size: number): Mutation => ({ kind: 'row', row: rowOf(name, { attributes: { size } }) });
    const first = await applied(
      opened,
      session,
      ['shared', 'one'],
      [
        row('kept', 1),
        row('changed', 1),
        row('gone', 1),
        { kind: 'outputs', outputs: [{ name: 'o', value: 1 }] },
        { kind: 'step', step: stepOf(1, 'a', { status: 'done' }) },
        { kind: 'spend', planDigest: PLAN, serial: 1 },
      ],
    );
    await applied(opened, session, ['shared', 'two'], [row('changed', 2), { kind: 'drop', address: addressOf('gone') }]);
    await applied(opened, session, ['shared', 'three'], [row('changed', 3), { kind: 'outputs', outputs: [] }]);
    const before = await Promise.all([2, 3].map(async (serial) => (await opened.readAt(serial))?.resources));
    const outputs = (await opened.readAt(2))?.outputs;
    await begun(opened, session, { kind: 'state-prune' });
    await session.write([{ kind: 'prune', before: 2 }]);
    await session.end(4, 'done', null);
    expect((await opened.history()).map(({ serial }) => serial)).toEqual([4, 3, 2]);
    expect(await opened.readAt(1)).toBeUndefined();
    expect(await opened.steps(1)).toEqual([]);
    expect(await opened.spentBy(PLAN)).toBeUndefined();
    expect(await Promise.all([2, 3].map(async (serial) => (await opened.readAt(serial))?.resources))).toEqual(before);
    expect((await opened.readAt(2))?.outputs).toEqual(outputs);
    expect((await opened.sealings()).map(({ serial }) => serial)).toEqual([3, 2]);
    const all = [first, ...['shared', 'one', 'two', 'three'].map((text) => digestBytes(text))];
    const left = await opened.sources(all);
    expect(all.map((digest) => left.has(digest))).toEqual([false, true, false, true, true]);
    expect((await opened.read())?.head.serial).toBe(4);
  });
}
