import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../../src/plan/model.ts';
import { desired, environment } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

/** Stage and step, with where it comes from when it was pulled. */
const staged = ({ steps }: PlanDocument) =>
  steps
    .toSorted((a, b) => a.phase - b.phase)
    .map(({ id, stage, pulled }) => `${stage} ${id}${pulled === undefined ? '' : ` (from ${pulled.from}, for ${pulled.by})`}`);

describe('stages', () => {
  it('must run one after another, whatever else does not hang together', async () => {
    const all = [
      desired('fake.route.front', {}),
      desired('fake.server.api', {}),
      desired('fake.thing.config', {}),
      desired('fake.publication.crm', {}),
    ];
    const { document } = await bench.prepare(all);
    expect(staged(document)).toEqual([
      'preflight fake.server.api:prove',
      'migrate fake.thing.config:create',
      'publish fake.publication.crm:create',
      'start fake.server.api:create',
      'start fake.server.api:ready',
      'start fake.server.api:start',
      'route fake.route.front:create',
    ]);
    expect(document.succession.stages).toEqual(['preflight', 'migrate', 'publish', 'start', 'route']);
    expect((await bench.apply(document, all)).exitCode).toBe(0);
    const ran = bench.world.calls().map(({ address, effect }) => `${address}:${effect}`);
    const phase = (id: string) => document.steps.find((step) => step.id === id)?.phase ?? -1;
    expect(ran.map(phase)).toEqual(ran.map(phase).toSorted((a, b) => a - b));
    const told = bench.events.flatMap((event) =>
      event.type === 'stage.started' || event.type === 'stage.done' ? [`${event.type} ${event.stage}`] : [],
    );
    expect(told).toEqual(document.succession.stages.flatMap((stage) => [`stage.started ${stage}`, `stage.done ${stage}`]));
  });

  it('must pull a store that a job needs forward to that job, and a route that a service needs', async () => {
    const all = [
      desired('fake.service.db', {}, { role: 'store' }),
      desired('fake.task.schema', {}, { role: 'job', dependsOn: ['fake.service.db'] }),
      desired('fake.route.certificate', {}),
      desired('fake.service.api', {}, { role: 'service', dependsOn: ['fake.route.certificate'] }),
    ];
    const { document } = await bench.prepare(all);
    expect(staged(document)).toEqual([
      'migrate fake.service.db:create (from start, for fake.task.schema:create)',
      'migrate fake.service.db:ready (from start, for fake.task.schema:create)',
      'migrate fake.service.db:start (from start, for fake.task.schema:create)',
      'migrate fake.task.schema:create',
      'start fake.route.certificate:create (from route, for fake.service.api:create)',
      'start fake.service.api:create',
      'start fake.service.api:ready',
      'start fake.service.api:start',
    ]);
    await bench.converge(all);
  });

  it('must refuse to pull what serves over the point of no return, and name the edge', async () => {
    const all = [
      desired('fake.service.api', {}, { role: 'service' }),
      desired('fake.publication.crm', {}, { dependsOn: ['fake.service.api'] }),
    ];
    const { document } = await bench.prepare(all);
    expect(outline(document)).toContain('refused STAGE_PULL_REFUSED fake.service.api');
    expect(document.applicable).toBe(false);
    const [refusal] = document.succession.refusals;
    expect(refusal?.message).toContain('fake.service.api:create → fake.publication.crm:create');
    expect(refusal).toMatchObject({ expected: 'start', observed: 'publish, before fake.publication.crm:create' });
  });

  it('must let a store that a publication stands on come before it', async () => {
    const all = [
      desired('fake.service.db', {}, { role: 'store' }),
      desired('fake.publication.crm', {}, { dependsOn: ['fake.service.db'] }),
    ];
    const { document } = await bench.prepare(all);
    expect(document.succession.refusals).toEqual([]);
    await bench.converge(all);
  });

  it('must refuse a stage that the documents name and that cannot be kept', async () => {
    const all = [
      desired('fake.task.check', { stage: 'verify' }, { role: 'job' }),
      desired('fake.service.api', {}, { role: 'service', dependsOn: ['fake.task.check'] }),
    ];
    const { document } = await bench.prepare(all);
    expect(document.succession.refusals).toMatchObject([{ code: 'STAGE_NOT_KEPT', path: 'fake.task.check', expected: 'verify' }]);
    const free = all.map((one) =>
      one.address === 'fake.task.check'
        ? desired('fake.task.check', { stage: 'verify' }, { role: 'job' })
        : desired('fake.service.api', {}, { role: 'service' }),
    );
    expect(staged((await bench.prepare(free)).document).at(-1)).toBe('verify fake.task.check:create');
  });

  it('must refuse what would take a service down before everything is proven', async () => {
    const all = (image: string) => [
      desired('fake.service.api', { image }, { role: 'service' }),
      desired('fake.image.next', { name: `n-${image}` }, { dependsOn: ['fake.service.api'], lifecycle: { createBeforeDestroy: true } }),
    ];
    const first = all('v1').slice(0, 1);
    await bench.converge(first);
    const { document } = await bench.prepare(all('v2'));
    expect(document.succession.refusals).toMatchObject([{ code: 'STAGE_PULL_REFUSED', path: 'fake.service.api' }]);
  });
});

describe('a restart with a dependency', () => {
  const all = (image: string, restart: boolean) =>
    environment([
      desired('fake.service.db', { image }, { role: 'service' }),
      { ...desired('fake.service.api', {}, { role: 'service' }), dependsOn: [{ address: 'fake.service.db', restart }] },
      { ...desired('fake.service.web', {}, { role: 'service' }), dependsOn: [{ address: 'fake.service.api', restart }] },
      desired('fake.service.other', {}, { role: 'service' }),
    ]);

  it('must stop the dependants first, start them when it is ready, and count them in the outage', async () => {
    await bench.converge(all('v1', true));
    const { document } = await bench.prepare(all('v2', true));
    expect(outline(document)).toMatchInlineSnapshot(`
      "serving-refresh
      start fake.service.api: restarts with fake.service.db
      replace fake.service.db destroy-first: image differs
      start fake.service.web: restarts with fake.service.api
        fake.service.api:ready < fake.service.api:start
        fake.service.api:start < fake.service.api:stop, fake.service.db:ready
        fake.service.api:stop < fake.service.web:stop
        fake.service.db:create < fake.service.db:depose
        fake.service.db:depose < fake.service.db:stop
        fake.service.db:ready < fake.service.db:start
        fake.service.db:retire < fake.service.api:ready, fake.service.db:ready
        fake.service.db:start < fake.service.db:create
        fake.service.db:stop < fake.service.api:stop
        fake.service.web:ready < fake.service.web:start
        fake.service.web:start < fake.service.api:ready, fake.service.web:stop
        fake.service.web:stop"
    `);
    expect(document.outageAddresses).toEqual(['fake.service.api', 'fake.service.db', 'fake.service.web']);
    const before = bench.world.objects().filter(({ name }) => name !== 'test-db');
    expect((await bench.apply(document, all('v2', true))).exitCode).toBe(0);
    expect(bench.world.objects().filter(({ name }) => name !== 'test-db')).toEqual(before);
    expect(outline((await bench.prepare(all('v2', true))).document)).toBe('no-op');
  });

  it('must leave dependants alone that do not say so', async () => {
    await bench.converge(all('v1', false));
    expect((await bench.prepare(all('v2', false))).document.outageAddresses).toEqual(['fake.service.db']);
  });

  it('must be taken back with everything else', async () => {
    await bench.converge(all('v1', true));
    const before = bench.world.objects();
    const { document } = await bench.prepare(all('v2', true));
    bench.world.failOn('fake.service.web:ready', 'NOT_READY');
    expect(await bench.apply(document, all('v2', true))).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(bench.world.objects()).toEqual(before);
  });
});
