import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/core/value.ts';
import type { PlanOptions } from '../../../src/plan/model.ts';
import type { Environment, ResourceInstance } from '../../../src/spec/environment.ts';
import { desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const service = (name: string, attributes = {}, role: 'service' | 'worker' | 'store' = 'service') =>
  desired(`fake.service.${name}`, attributes, { role });
const succession = async (resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}) =>
  (await bench.prepare(resources, options)).document.succession;
const classOf = async (resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}) =>
  (await succession(resources, options)).class;

describe('the class of a plan', () => {
  it('must follow what is recorded and sealed, not what lives', async () => {
    expect(await classOf([service('a')])).toBe('initial');
    await bench.converge([service('a'), service('w', {}, 'worker')]);
    expect(await classOf([service('a'), service('w', {}, 'worker')])).toBe('no-op');
    bench.world.set('test-a', { size: 5 });
    expect(await classOf([service('a'), service('w', {}, 'worker')])).toBe('drift-repair');
    // Drift beside a change is repaired with it and alters nothing.
    expect(await classOf([service('a'), service('w', { size: 2 }, 'worker')])).toBe('worker-tuning');
    expect(await classOf([service('a', { image: 'v2' }), service('w', {}, 'worker')])).toBe('serving-refresh');
    expect(await classOf([service('a')])).toBe('topology');
    expect(await classOf([service('a', { name: 'other' }), service('w', {}, 'worker')])).toBe('replacement');
  });

  it('must be told of a change although its object is gone', async () => {
    await bench.converge([service('a'), service('b')]);
    bench.world.delete('test-a');
    const found = await succession([service('a', { image: 'v2' }), service('b')]);
    expect(found.class).toBe('serving-refresh');
    expect(found.changedPaths.map(({ path, admittedBy }) => `${path} ${admittedBy}`)).toEqual(['fake.service.a.image serving-refresh']);
  });

  it('must count what follows a drifted object as its repair', async () => {
    const chain = [desired('fake.thing.a', {}), desired('fake.service.s', { needs: new Reference('fake.thing.a', 'id') })];
    await bench.converge(chain);
    bench.world.delete('test-a');
    expect(await classOf(chain)).toBe('drift-repair');
    const written = [desired('fake.thing.a', {}), desired('fake.service.s', { needs: new Reference('fake.thing.a', 'address') })];
    expect(await classOf(written)).toBe('configuration');
  });

  it('must be credential-rotation where only the value of a secret is another', async () => {
    const with_ = (value: string, text: string) =>
      environment([service('a', { secret: Sensitive.open(`${text}${value}`, ['db']) })], {
        secrets: new Map([['db', Sensitive.open(value, ['db'])]]),
      });
    await bench.converge(with_('one', ''));
    expect(await classOf(with_('two', ''))).toBe('credential-rotation');
  });

  it('must be judged by the policy in force, also where the commit loosens it', async () => {
    const strict = { policy: { succession: 'strict' } };
    const mixed = [service('s', { image: 'v2' }, 'store'), service('a', { image: 'v2' })];
    const before = [service('s', {}, 'store'), service('a')];
    await bench.converge(environment(before, strict));
    const found = await succession(environment(mixed, { policy: { succession: 'permissive' } }));
    expect(found).toMatchObject({ class: 'refuse', chosen: null });
    expect(found.refusals.map(({ code }) => code)).toEqual(['UNCLASSIFIED_FIELD']);
    expect(found.rejected[0]).toMatchObject({ class: 'replacement', uncovered: ['fake.service.s.image'] });
    expect(await classOf(environment(before, { policy: { succession: 'permissive' } }))).toBe('policy-change');
    await bench.converge(environment(before, { policy: { succession: 'permissive' } }));
    expect(await classOf(environment(mixed, { policy: { succession: 'permissive' } }))).toBe('composite');
  });

  it('must refuse an identity under a strict policy with every path, and take it where it is allowed', async () => {
    const of = (allow: readonly string[] | undefined) => ({ policy: { succession: 'strict', ...(allow === undefined ? {} : { allow }) } });
    const moved = [service('a', { name: 'other', size: 3 })];
    await bench.converge(environment([service('a')], of(undefined)));
    const refused = await succession(environment(moved, of(undefined)));
    expect(refused).toMatchObject({ class: 'refuse', chosen: 'replacement' });
    expect(refused.refusals[0]).toMatchObject({ code: 'REPLACEMENT_NOT_ALLOWED', path: 'fake.service.a.name' });
    expect(refused.refusals[0]?.message).toContain('fake.service.a.size');
    await bench.converge(environment([service('a')], of(['policy-change', 'replacement'])));
    expect(await classOf(environment(moved, of(['policy-change', 'replacement'])))).toBe('replacement');
  });

  it('must refuse a new version of a store without a backup hook in force', async () => {
    const stores = (image: string, hooks: Environment['hooks']) => environment([service('s', { image }, 'store')], { hooks });
    await bench.converge(stores('v1', {}));
    const refused = await succession(stores('v2', {}));
    expect(refused).toMatchObject({ class: 'refuse', chosen: 'store-refresh', refusals: [{ code: 'BACKUP_MISSING' }] });
    // What waives it counts once it is in force.
    expect(await classOf(stores('v2', { backup: 'none' }))).toBe('refuse');
    expect(await classOf(stores('v2', { backup: { run: ['backup'] } }))).toBe('store-refresh');
    await bench.converge(stores('v1', { backup: 'none' }));
    expect(await classOf(stores('v2', { backup: 'none' }))).toBe('store-refresh');
  });

  it('must name who goes down with a restart of what it depends on', async () => {
    const two = (image: string) => {
      const dependant = desired('fake.service.b', {}, { role: 'service' });
      return [service('a', { image }), { ...dependant, dependsOn: [{ address: 'fake.service.a', restart: true }] }];
    };
    await bench.converge(two('v1'));
    expect((await bench.prepare(two('v2'))).document.outageAddresses).toEqual(['fake.service.a', 'fake.service.b']);
  });
});

describe('a plan over an operation that has not ended', () => {
  const first = [desired('fake.thing.a', {}), desired('fake.thing.b', {})];
  const second = [desired('fake.thing.a', { size: 2 }), desired('fake.thing.b', { size: 2 })];
  const third = [desired('fake.thing.a', { size: 3 }), desired('fake.thing.b', { size: 3 })];
  const asked = { recover: false };
  const breakOff = async (): Promise<void> => {
    await bench.converge(first);
    const { document } = await bench.prepare(second);
    await bench.applyUntil(document, second, (mutation) => mutation.kind === 'step' && mutation.step.status === 'done');
  };

  it('must go on with the same documents, go back with those in force, and back it out for others', async () => {
    await breakOff();
    expect(await classOf(second, asked)).toBe('resume');
    expect(await classOf(first, asked)).toBe('revert');
    expect(await succession(third, asked)).toMatchObject({ class: 'supersede', then: 'configuration' });
    expect(await classOf(third, { recover: true })).toBe('configuration');
    expect(await classOf(third, { destroy: true, recover: false })).toBe('destroy');
  });

  it('must be carried out where it goes on', async () => {
    await breakOff();
    const resuming = await bench.prepare(second, asked);
    expect(await bench.apply(resuming.document, second)).toMatchObject({ exitCode: 0, class: 'resume' });
    expect(await classOf(second, asked)).toBe('no-op');
  });

  it('must refuse other documents once there is no way back, and name the command that ends it', async () => {
    const images = (image: string) => [desired('fake.thing.a', { image }), desired('fake.thing.b', { size: 1 })];
    await bench.converge(images('v1'));
    bench.world.failOn('fake.thing.a:create', 'UNREACHABLE');
    const { document } = await bench.prepare(images('v2'));
    expect((await bench.apply(document, images('v2'))).exitCode).toBe(6);
    const refused = await succession(images('v3'), asked);
    expect(refused).toMatchObject({ class: 'refuse', refusals: [{ code: 'OPERATION_OPEN', next: 'accede recover --forward' }] });
    expect(refused.refusals[0]?.message).toContain('op-2');
    expect(await classOf(images('v2'), asked)).toBe('resume');
  });
});
