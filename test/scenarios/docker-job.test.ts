import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';

const JOB = 'docker.job';

let bench: Bench;
let driver: Driver;
let image: string;
let shared: string;
let cases = 0;

beforeAll(async () => {
  bench = await Bench.start();
  image = (await buildImage(bench.engine.host, { name: 'shop/job', tag: '1' })).id;
  mkdirSync(join(bench.folder, 'documents'));
}, 60_000);

afterAll(() => bench.stop());

beforeEach(() => {
  driver = bench.driver();
  shared = join(bench.folder, `shared-${cases++}`);
  mkdirSync(shared);
});

afterEach(async () => {
  await driver.close();
  await bench.clear();
});

/** A job that notes each of its runs in a file of this machine, then does what the script says. */
function job(script: string, more: Attributes = {}): Attributes {
  return {
    image,
    command: ['sh', '-c', `echo run >> /shared/runs; ${script}`],
    volumes: [`${shared}:/shared`],
    stop_signal: 'KILL',
    ...more,
  };
}

function runs(): number {
  return readFileSync(join(shared, 'runs'), 'utf8').trim().split('\n').length;
}

async function names(): Promise<readonly string[]> {
  const list = (await bench.hand('GET', '/containers/json?all=1')) as { readonly Names: readonly string[] }[];
  return list.map(({ Names }) => (Names[0] ?? '').slice(1)).toSorted();
}

const SCHEMA = JSON.stringify({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['epoch'],
  properties: { epoch: { type: 'integer' } },
  additionalProperties: false,
});

function schemaFile(text: string): Attributes {
  return { path: 'receipt.schema.json', sha256: 'sha256:0', text };
}

describe('docker.job', () => {
  it('must run once for one state of its inputs, and answer with its receipt afterwards', async () => {
    const attributes = job('echo note >&2; echo \'{"epoch": 4}\' > /tmp/r.json', { output: '/tmp/r.json', schema: schemaFile(SCHEMA) });
    driver.repetitions = 2;
    await driver.create(JOB, 'migrate', attributes);
    expect(runs()).toBe(1);
    expect(await driver.read(JOB, 'migrate')).toMatchObject({
      kind: 'found',
      owner: 'ours',
      computed: { result: { epoch: 4 }, exit_code: 0 },
    });
    expect(await driver.differences(JOB, 'migrate', attributes)).toEqual([]);
    expect(await driver.change(JOB, 'migrate', job('echo \'{"epoch": 5}\' > /tmp/r.json', { output: '/tmp/r.json' }))).toBe('replace');
    expect(runs()).toBe(2);
    expect(driver.recorded(JOB, 'migrate').computed['result']).toEqual({ epoch: 5 });
  });

  it('must take standard output alone as the receipt when it is asked to', async () => {
    await driver.create(JOB, 'report', job('echo for people >&2; echo \'{"ok": true}\'', { stdout: true }));
    expect(driver.recorded(JOB, 'report').computed['result']).toEqual({ ok: true });
  });

  it.each([
    ['does not fit its schema', 'echo \'{"epoch": "four", "more": 1}\' > /tmp/r.json', /does not fit its schema: .*epoch must be integer/],
    ['is not JSON', 'echo nothing > /tmp/r.json', /is not JSON/],
    ['is not there', 'true', /there is no \/tmp\/r\.json/],
    ['is larger than 1 MiB', 'head -c 1100000 /dev/zero | tr "\\0" 1 > /tmp/r.json', /larger than 1 MiB/],
    ['is a folder', 'mkdir /tmp/r.json', /no regular file/],
  ])('must fail when the receipt %s, keep the container for reading, and run again with the next apply', async (_what, script, words) => {
    const failure = await failureOf(driver.create(JOB, 'migrate', job(script, { output: '/tmp/r.json', schema: schemaFile(SCHEMA) })));
    expect(failure.code).toBe('INVALID');
    expect(failure.message).toMatch(words);
    expect(await names()).toEqual([expect.stringMatching(/^bench-migrate-failed-[0-9a-f]{12}$/)]);
    await failureOf(driver.start(JOB, 'migrate'));
    expect(runs()).toBe(2);
  });

  it('must refuse a schema that is none before anything runs', async () => {
    const failure = await failureOf(driver.create(JOB, 'migrate', job('true', { stdout: true, schema: schemaFile('{"type": 7}') })));
    expect(failure.message).toMatch(/cannot be used/);
    expect(await names()).toEqual([]);
  });

  it('must tell a failing run with its code and last lines, run it anew next time, and clear it away after a success', async () => {
    const script = 'for i in $(seq 1 50); do echo line $i; done; test -e /shared/fixed || exit 3';
    const failure = await failureOf(driver.create(JOB, 'migrate', job(script)));
    expect(failure.code).toBe('NOT_READY');
    expect(failure.message).toMatch(/ended with code 3/);
    expect(failure.lines).toHaveLength(20);
    expect(failure.lines.at(-1)).toBe('line 50');
    const [failed = ''] = await names();
    expect(failed).toMatch(/^bench-migrate-failed-/);
    await failureOf(driver.start(JOB, 'migrate'));
    expect(runs()).toBe(2);
    expect(await names()).toHaveLength(2);
    writeFileSync(join(shared, 'fixed'), '');
    await driver.start(JOB, 'migrate');
    expect(runs()).toBe(3);
    expect(await names()).toEqual(['bench-migrate']);
    expect(driver.recorded(JOB, 'migrate').computed['exit_code']).toBe(0);
  });

  it('must stop a run whose time is over and count it as failed', async () => {
    const failure = await failureOf(driver.create(JOB, 'migrate', job('echo working; sleep 1000', { timeout: '1s' })));
    expect(failure.code).toBe('TIMEOUT');
    expect(failure.lines).toEqual(['working']);
    const list = (await bench.hand('GET', '/containers/json?all=1')) as { readonly State: string }[];
    expect(list.map(({ State }) => State)).toEqual(['exited']);
  });

  it('must not take the loss of a finished container for drift', async () => {
    const attributes = job('echo 7', { stdout: true });
    await driver.create(JOB, 'migrate', attributes);
    const before = await driver.read(JOB, 'migrate');
    await bench.hand('POST', '/containers/prune');
    expect(await names()).toEqual([]);
    expect(await driver.read(JOB, 'migrate')).toEqual(before);
    expect(await driver.differences(JOB, 'migrate', attributes)).toEqual([]);
    await driver.change(JOB, 'migrate', { ...attributes, inputs: { round: 2 } });
    expect(runs()).toBe(1);
    await driver.delete(JOB, 'migrate');
  });

  it('must keep as many completed runs as it is told, and remove all with the job', async () => {
    const attributes = (round: number) => job(`echo ${round}`, { keep: 1, stdout: true });
    for (const round of [1, 2, 3]) {
      if (round === 1) await driver.create(JOB, 'migrate', attributes(round));
      else await driver.change(JOB, 'migrate', attributes(round), round === 2 ? 'destroy-first' : 'create-first');
    }
    expect(runs()).toBe(3);
    expect(await names()).toEqual(['bench-migrate', expect.stringMatching(/^bench-migrate-aside-/)]);
    await driver.delete(JOB, 'migrate');
    expect(await names()).toEqual([]);
  });

  it('must run never twice for one state of its inputs with run: once, also when it comes back to it', async () => {
    const attributes = (round: string) => job(`echo '"${round}"'`, { run: 'once', stdout: true });
    await driver.create(JOB, 'migrate', attributes('a'));
    await driver.change(JOB, 'migrate', attributes('b'));
    expect(runs()).toBe(2);
    await driver.change(JOB, 'migrate', attributes('a'));
    expect(runs()).toBe(2);
    expect(driver.recorded(JOB, 'migrate').computed).toMatchObject({ result: 'a', exit_code: 0 });
    expect(await driver.differences(JOB, 'migrate', attributes('a'))).toEqual([]);
    await driver.change(JOB, 'migrate', attributes('c'));
    expect(runs()).toBe(3);
    await driver.delete(JOB, 'migrate');
    expect(await names()).toEqual([]);
  });

  it('must refuse the name of a container that is not ours', async () => {
    await bench.hand('POST', '/containers/create?name=bench-migrate', { Image: image });
    expect((await failureOf(driver.create(JOB, 'migrate', job('true')))).code).toBe('FOREIGN');
    expect(await driver.read(JOB, 'other', { desired: job('true', { name: 'bench-migrate' }) })).toMatchObject({ owner: 'nobody' });
  });
});
