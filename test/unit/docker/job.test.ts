import { describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { type Attributes, isAttributes, Sensitive } from '../../../src/core/value.ts';
import { type Change, ProviderError, type TypeContext } from '../../../src/providers/contract.ts';
import type { Acting } from '../../../src/providers/docker/acting.ts';
import { gone } from '../../../src/providers/docker/job/ending.ts';
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
  it('must take the four modes and no other', () => {
    for (const run of ['on_change', 'once', 'on_demand', 'by_reference']) expect(problems({ run })).toEqual([]);
    expect(problems({ run: 'schedule' })).toMatchObject([{ code: 'BAD_VALUE', path: ['run'] }]);
  });

  it('must take a schedule of a job on demand alone, say what is wrong with it, and keep one spelling of it', () => {
    expect(problems({ run: 'on_demand', schedule: '@daily' })).toEqual([]);
    for (const run of [undefined, 'once', 'by_reference']) {
      expect(problems({ ...(run === undefined ? {} : { run }), schedule: '@daily' })).toMatchObject([{ code: 'JOB_SCHEDULE_UNUSED' }]);
    }
    const [problem] = problems({ run: 'on_demand', schedule: '61 * * * *' });
    expect(problem).toMatchObject({ path: ['schedule'] });
    expect(JSON.stringify(problem)).toContain('it goes from 0 to 59');
    expect(normal({ run: 'on_demand', schedule: '0 2 * * SUN' })['schedule']).toBe('0 2 * * 0');
  });

  it('must refuse a request where the root is read-only', () => {
    expect(problems({ run: 'by_reference', read_only: true })).toMatchObject([{ code: 'READ_ONLY_FILES' }]);
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
    const outside = ['name', 'labels', 'run', 'schedule', 'stage', 'timeout', 'schema', 'keep'];
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

describe('a job that is run on request', () => {
  const names = (change: Partial<Change> & Pick<Change, 'action'>) =>
    jobType
      .effects({ order: 'destroy-first', paths: [], desired: normal({ run: 'on_demand' }), deposed: false, ...change })
      .map(({ name, object }) => `${name} ${object}`);

  it('must be recorded by an apply that runs nothing', () => {
    expect(names({ action: 'create' })).toEqual(['fetch keep', 'declare create']);
    expect(names({ action: 'update' })).toEqual(['fetch keep', 'declare update']);
    expect(names({ action: 'start' })).toEqual(['await keep', 'settle keep']);
    expect(names({ action: 'replace' })).toEqual(['fetch keep', 'clear remove', 'declare create']);
    expect(names({ action: 'delete', live: normal({ run: 'on_demand' }) })).toEqual(['stop keep', 'remove remove']);
  });

  it('must be replaced by no change of its definition, and by another mode that runs with an apply', () => {
    const [demand, change] = [normal({ run: 'on_demand' }), normal({})];
    expect(jobType.replaces?.('command', demand, demand)).toBe(false);
    expect(jobType.replaces?.('run', demand, change)).toBe(false);
    expect(jobType.replaces?.('run', change, demand)).toBe(true);
    expect(jobType.replaces?.('run', normal({ run: 'once' }), change)).toBeUndefined();
    expect(jobType.replaces?.('command', change, change)).toBeUndefined();
  });

  it('must say how it is run, and that others are not', () => {
    const run = jobType.onRequest?.(normal({ run: 'by_reference', stage: 'verify' }));
    expect(run).toMatchObject({ takes: 'document', begins: 'start' });
    expect(run?.effects.map(({ name, stage }) => `${name} ${stage}`)).toEqual([
      'fetch preflight',
      'clear verify',
      'create verify',
      'start verify',
      'wait verify',
      'collect verify',
    ]);
    expect(jobType.onRequest?.(normal({ run: 'on_demand' }))?.takes).toBe('nothing');
    for (const other of [{}, { run: 'once' }]) expect(jobType.onRequest?.(normal(other))).toBeUndefined();
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

describe('a run whose container was removed', () => {
  it('must say what really runs it anew', () => {
    const next = (run: string) => gone({ operation: { address: 'docker.job.j', desired: { run } } } as unknown as Acting).next;
    for (const mode of ['on_demand', 'by_reference']) expect(next(mode)).toContain('accede run docker.job.j runs it anew');
    expect(next('on_change')).toContain('the next apply runs it anew');
  });
});
