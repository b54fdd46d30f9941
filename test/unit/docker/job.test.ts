import { describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { type Attributes, isAttributes, Sensitive } from '../../../src/core/value.ts';
import { type Change, ProviderError, type TypeContext } from '../../../src/providers/contract.ts';
import { parseReceipt, RECEIPT_LIMIT } from '../../../src/providers/docker/job/receipt.ts';
import { compileReceiptSchema } from '../../../src/providers/docker/job/receipt-schema.ts';
import { jobType } from '../../../src/providers/docker/job/type.ts';
import { checkAttributes } from '../../../src/providers/validate.ts';

const IMAGE = `sha256:${'ab'.repeat(32)}`;
const context: TypeContext = {
  environment: 'shop',
  address: 'docker.job.migrate' as ResourceAddress,
  name: 'migrate',
  folder: '/documents',
  config: {},
};

function problems(attributes: Attributes) {
  return checkAttributes(jobType, { image: IMAGE, ...attributes }, context);
}

function normal(attributes: Attributes): Attributes {
  return jobType.normalize({ image: IMAGE, ...attributes }, context);
}

function refusal(text: string | Uint8Array): string {
  try {
    parseReceipt(typeof text === 'string' ? Buffer.from(text) : text);
  } catch (error) {
    if (error instanceof ProviderError) return error.message;
    throw error;
  }
  return '';
}

describe('the attributes of a job', () => {
  it.each(['on_demand', 'by_reference', 'schedule'])('must refuse run: %s as not available yet', (run) => {
    expect(problems({ run })).toMatchObject([{ path: ['run'] }]);
    expect(JSON.stringify(problems({ run }))).toContain('not available yet');
    expect(problems({ run: 'once' })).toEqual([]);
  });

  it('must refuse what a process that ends has no use for', () => {
    for (const name of ['ports', 'restart', 'healthcheck', 'ready', 'expose']) {
      expect(problems({ [name]: 'x' })).toMatchObject([{ code: 'UNKNOWN_KEY' }]);
    }
  });

  it('must refuse a time of more than a day, and none', () => {
    for (const timeout of ['25h', '0s', 'soon']) expect(problems({ timeout })).toHaveLength(1);
    for (const timeout of ['24h', '1s']) expect(problems({ timeout })).toEqual([]);
  });

  it('must refuse two receipts, a schema without one, and a schema that is none', () => {
    const schema = (text: string) => ({ path: 's.json', sha256: 'sha256:0', text });
    expect(problems({ output: '/r', stdout: true })).toMatchObject([{ code: 'JOB_OUTPUT_TWICE' }]);
    expect(problems({ schema: schema('{}') })).toMatchObject([{ code: 'JOB_WITHOUT_OUTPUT' }]);
    for (const text of ['nothing', '[]', '7']) {
      expect(problems({ stdout: true, schema: schema(text) })).toMatchObject([{ code: 'JOB_SCHEMA_UNREADABLE' }]);
    }
    expect(problems({ stdout: true, schema: schema('{}') })).toEqual([]);
  });

  it('must say its defaults in one way: by leaving them out', () => {
    const written = normal({ run: 'on_change', stage: 'migrate', stdout: false, keep: 0 });
    expect(written).toEqual(normal({}));
    expect(normal({ timeout: '10m', inputs: { a: [1] } })).toMatchObject({ timeout: 600_000, inputs: { a: [1] }, name: 'shop-migrate' });
  });

  it('must make another run of every input, and no other run of what the process does not see', () => {
    const outside = ['name', 'labels', 'run', 'stage', 'timeout', 'schema', 'keep'];
    for (const name of Object.keys(
      normal({ inputs: 1, mem_limit: '1g', networks: ['a'], output: '/r', environment: { A: 1 }, user: 'app' }),
    )) {
      if (outside.includes(name)) continue;
      expect(jobType.traits.get(name)?.immutable, name).toBe(true);
    }
    for (const name of outside) expect(jobType.traits.get(name)?.immutable, name).toBe(false);
  });

  it('must keep a secret among its inputs a secret', () => {
    const { inputs } = normal({ inputs: { token: Sensitive.open('hush', ['token']) } });
    expect(isAttributes(inputs) && inputs['token']).toBeInstanceOf(Sensitive);
  });

  it('must run in the stage that it names', () => {
    const change: Change = { action: 'create', order: 'destroy-first', paths: [], desired: normal({ stage: 'verify' }), deposed: false };
    expect(jobType.effects(change).map(({ name, stage }) => `${name} ${stage}`)).toEqual([
      'fetch preflight',
      'create verify',
      'start verify',
      'wait verify',
      'collect verify',
    ]);
  });
});

describe('the receipt of a job', () => {
  it('must be one JSON document that the state can hold', () => {
    expect(parseReceipt(Buffer.from(' {"a": [1, null, "ü"]}\n'))).toEqual({ a: [1, null, 'ü'] });
    expect(refusal('')).toMatch(/empty/);
    expect(refusal('{"a": 1} {"b": 2}')).toMatch(/single JSON document/);
    expect(refusal(Buffer.from([0x22, 0xff, 0x22]))).toMatch(/not JSON/);
    expect(refusal('{"a": {"$accede": "sensitive"}}')).toMatch(/kept for the state/);
    expect(refusal('"\\ud800"')).toMatch(/Unicode/);
    expect(refusal('['.repeat(100_000) + ']'.repeat(100_000))).toMatch(/deeper/);
    expect(refusal(`"${'x'.repeat(RECEIPT_LIMIT)}"`)).toMatch(/1 MiB/);
  });

  it.each([
    ['draft-07', { type: 'array', items: [{ type: 'integer' }], additionalItems: false }],
    [
      '2020-12',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'array', prefixItems: [{ type: 'integer' }], items: false },
    ],
  ])('must be judged by %s', async (_draft, schema) => {
    const check = await compileReceiptSchema(JSON.stringify(schema));
    expect(check([1])).toEqual([]);
    expect(check(['one'])).toEqual(['/0 must be integer']);
    expect(check([1, 2])).toHaveLength(1);
  });

  it('must have a schema that needs nothing from elsewhere', async () => {
    await expect(compileReceiptSchema('{"$ref": "https://schemas.example/other.json"}')).rejects.toThrow(/cannot be used/);
  });
});
