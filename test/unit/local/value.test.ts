import { describe, expect, it } from 'vitest';
import { parseAddress, type ResourceAddress } from '../../../src/core/address.ts';
import { Sensitive, Unknown } from '../../../src/core/value.ts';
import type { ObjectQuery } from '../../../src/providers/contract.ts';
import { readValue, valueType } from '../../../src/providers/local/value.ts';

const address = 'local.value.limits["a"]' as ResourceAddress;
const query: ObjectQuery = { address, type: valueType.type, mark: { environment: 'e', lineage: '0'.repeat(32) } };

describe('a kept value', () => {
  it('must know its output before apply, unknown parts and secrets in their places', () => {
    const input = { a: new Unknown('x'), b: Sensitive.open('s') };
    expect(valueType.foresee?.({ input }, { environment: 'e', address, name: 'limits', folder: '/', config: {} })).toEqual({
      output: input,
    });
  });

  it('must be there exactly when it is recorded, as it was recorded', () => {
    expect(parseAddress(address)).toBeDefined();
    expect(readValue({ ...query, ref: address })).toEqual({ kind: 'absent' });
    const input = { key: Sensitive.sealed('hmac-sha256:0') };
    const recorded = { attributes: { input }, computed: {} };
    expect(readValue({ ...query, recorded })).toEqual({ kind: 'absent' });
    const found = readValue({ ...query, ref: address, recorded });
    expect(found).toEqual({ kind: 'found', owner: 'ours', ref: address, attributes: { input }, computed: { output: input } });
  });

  it('must want an input, which may be null', () => {
    expect(valueType.schema.safeParse({ input: null }).success).toBe(true);
    expect(valueType.schema.safeParse({}).success).toBe(false);
  });
});
