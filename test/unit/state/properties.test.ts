import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import type { Plain } from '../../../src/core/value.ts';
import type { Mutation } from '../../../src/state/contract.ts';
import { digestOfRows } from '../../../src/state/digest.ts';
import { verifyIntegrity } from '../../../src/state/integrity.ts';
import type { ResourceRow, StoredOutput } from '../../../src/state/model.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, addressOf, begun, rowOf } from '../../support/state-rows.ts';

interface Model {
  readonly rows: Map<ResourceAddress, ResourceRow>;
  outputs: readonly StoredOutput[];
}

const name = fc.integer({ min: 0, max: 7 });
// JSON knows no negative zero.
const value = fc.jsonValue({ maxDepth: 2 }).map((given) => JSON.parse(JSON.stringify(given)) as Plain);
const change = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('row' as const), name, value, needs: fc.uniqueArray(name, { maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('outputs' as const), value }) },
  // A call that is refused must leave no trace of what came with it.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refused' as const), name }) },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
const operation = fc.record({ calls: fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 5 }), ended: fc.boolean() });

/** What a change means for what is there, as mutations of a valid run: nothing needs what is not there. */
function mutationsOf(model: Model, changes: readonly Change[]): readonly Mutation[] | 'refused' {
  const draft = new Map(model.rows);
  let outputs = model.outputs;
  const mutations: Mutation[] = [];
  for (const item of changes) {
    switch (item.kind) {
      case 'row': {
        const dependencies = item.needs.filter((needed) => needed < item.name && draft.has(addressOf(needed))).map(addressOf);
        const row = rowOf(item.name, { attributes: { value: item.value }, dependencies: dependencies.sort() });
        draft.set(row.address, row);
        mutations.push({ kind: 'row', row });
        break;
      }
      case 'drop': {
        const address = addressOf(item.name);
        if ([...draft.values()].some((row) => row.dependencies.includes(address))) break;
        draft.delete(address);
        mutations.push({ kind: 'drop', address });
        break;
      }
      case 'outputs':
        outputs = [{ name: 'out', value: item.value }];
        mutations.push({ kind: 'outputs', outputs });
        break;
      case 'refused':
        return 'refused';
    }
  }
  model.rows.clear();
  for (const [address, row] of draft) model.rows.set(address, row);
  model.outputs = outputs;
  return mutations;
}

describe('any sequence of valid operations', () => {
  it('must keep the state whole, its digest that of its content, and every past end as it was', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 5 }), async (operations) => {
        const folder = await StateFolder.make();
        try {
          const store = await folder.store();
          const model: Model = { rows: new Map(), outputs: [] };
          const past: { readonly rows: ReadonlyMap<ResourceAddress, ResourceRow>; readonly outputs: readonly StoredOutput[] }[] = [];
          for (const { calls, ended } of operations) {
            const { session } = await acquired(store, 'crm');
            const { serial } = await begun(store, session);
            const spend: Mutation = { kind: 'spend', planDigest: 'sha256:spent', serial: 1 };
            if (serial === 1) await session.write([spend]);
            const refusal: readonly Mutation[] = [
              { kind: 'row', row: rowOf('never') },
              { kind: 'drop', address: addressOf(0) },
              { ...spend, serial: 99 },
            ];
            const results = await Promise.allSettled(
              calls.map((changes) => {
                const mutations = mutationsOf(model, changes);
                return mutations === 'refused'
                  ? session.write(refusal).then(
                      () => 'landed',
                      () => 'refused',
                    )
                  : session.write(mutations);
              }),
            );
            expect(results.filter((result) => result.status === 'rejected' || result.value === 'landed')).toEqual([]);
            if (ended) await session.end(serial, 'done', null);
            await session.release();
            past.push({ rows: new Map(model.rows), outputs: model.outputs });

            const snapshot = await store.read();
            expect(snapshot?.resources).toEqual(model.rows);
            expect(snapshot?.outputs).toEqual(model.outputs);
            expect(snapshot?.head).toEqual({ serial, digest: digestOfRows(model.rows.values(), model.outputs) });
            expect(snapshot && verifyIntegrity(snapshot)).toEqual([]);
          }
          for (const [index, { rows, outputs }] of past.entries()) {
            expect(await store.readAt(index + 1)).toMatchObject({ resources: rows, outputs });
          }
        } finally {
          await folder.remove();
        }
      }),
      { numRuns: 60 },
    );
  });
});
