import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planSchema } from '../../../src/plan/schema.ts';
import type { ResourceInstance, Update } from '../../../src/spec/environment.ts';
import { type Desired, desired, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

/** One instance of `fake.service.web` per letter; those of `other` get another image. */
function web(keys: string, update: Partial<Update> | undefined, image = 'v1', more: Desired = {}): readonly ResourceInstance[] {
  return [...keys].map((key) =>
    desired(`fake.service.web["${key}"]`, { image, ...more }, { dependsOn: [], ...(update === undefined ? {} : { update }) }),
  );
}

/** The plan after `before` is in force: its outline without the parts that say nothing of the order, and its batches. */
async function planned(before: readonly ResourceInstance[], after: readonly ResourceInstance[]) {
  await bench.converge(before);
  return await replanned(after);
}

async function replanned(after: readonly ResourceInstance[]) {
  const { document } = await bench.prepare(after);
  const batches = document.rolling.map(
    ({ resource, batches: list }) =>
      `${resource}: ${list.map(({ addresses, pause }) => `${keys(addresses)}${pause === 0 ? '' : ` ${pause}s`}`).join(' | ')}`,
  );
  return { document, batches, outline: outline(document) };
}

const keys = (addresses: readonly string[]) => addresses.map((address) => /\["(.*)"\]/.exec(address)?.[1]).join('');

/** The first step of an instance that changes anything, and what it waits for of other instances. */
async function behind(after: readonly ResourceInstance[], key: string): Promise<readonly string[]> {
  const { document } = await bench.prepare(after);
  const own = `fake.service.web["${key}"]:`;
  return document.steps.filter(({ id }) => id.startsWith(own)).flatMap((step) => step.after.filter((id) => !id.startsWith(own)));
}

describe('instances without update', () => {
  it('must wait for nobody, with the steps that they always had', async () => {
    const { document, outline: text } = await planned(web('ab', undefined), web('ab', undefined, 'v2'));
    expect(document.rolling).toEqual([]);
    expect(document.steps.every((step) => step.seconds === undefined)).toBe(true);
    expect(text).toMatchInlineSnapshot(`
      "configuration
      replace fake.service.web["a"] destroy-first: image differs
      replace fake.service.web["b"] destroy-first: image differs
        fake.service.web["a"]:create < fake.service.web["a"]:depose
        fake.service.web["a"]:depose < fake.service.web["a"]:stop
        fake.service.web["a"]:ready < fake.service.web["a"]:start
        fake.service.web["a"]:retire < fake.service.web["a"]:ready
        fake.service.web["a"]:start < fake.service.web["a"]:create
        fake.service.web["a"]:stop
        fake.service.web["b"]:create < fake.service.web["b"]:depose
        fake.service.web["b"]:depose < fake.service.web["b"]:stop
        fake.service.web["b"]:ready < fake.service.web["b"]:start
        fake.service.web["b"]:retire < fake.service.web["b"]:ready
        fake.service.web["b"]:start < fake.service.web["b"]:create
        fake.service.web["b"]:stop"
    `);
  });
});

describe('instances with update', () => {
  it('must be replaced one after another by key, each after the one before is ready', async () => {
    const { outline: text, batches } = await planned(web('ab', {}), web('ab', {}, 'v2'));
    expect(batches).toEqual(['fake.service.web: a | b']);
    expect(text).toMatchInlineSnapshot(`
      "configuration
      replace fake.service.web["a"] destroy-first: image differs
      replace fake.service.web["b"] destroy-first: image differs
        fake.service.web["a"]:create < fake.service.web["a"]:depose
        fake.service.web["a"]:depose < fake.service.web["a"]:stop
        fake.service.web["a"]:ready < fake.service.web["a"]:start
        fake.service.web["a"]:retire < fake.service.web["a"]:ready
        fake.service.web["a"]:start < fake.service.web["a"]:create
        fake.service.web["a"]:stop
        fake.service.web["b"]:create < fake.service.web["b"]:depose
        fake.service.web["b"]:depose < fake.service.web["b"]:stop
        fake.service.web["b"]:ready < fake.service.web["b"]:start
        fake.service.web["b"]:retire < fake.service.web["b"]:ready
        fake.service.web["b"]:start < fake.service.web["b"]:create
        fake.service.web["b"]:stop < fake.service.web["a"]:ready"
    `);
  });

  it('must be replaced start-first with the old ones going on until everything has gone over and the drain has passed', async () => {
    const update: Partial<Update> = { order: 'start-first', drain: 10_000, pause: 2500 };
    const route = desired('fake.thing.route', { needs: new Reference('fake.service.web["a"]', 'id') }, { dependsOn: ['fake.service.web'] });
    const { outline: text, batches, document } = await planned([...web('ab', update), route], [...web('ab', update, 'v2'), route]);
    expect(batches).toEqual(['fake.service.web: a 2.5s | b']);
    expect(text).toMatchInlineSnapshot(`
      "configuration
      replace fake.service.web["a"] create-first: image differs
      replace fake.service.web["b"] create-first: image differs
      update fake.thing.route: needs differs
        fake.service.web["a"]:create < fake.service.web["a"]:depose
        fake.service.web["a"]:depose
        fake.service.web["a"]:drain < fake.service.web["a"]:pause, fake.thing.route:update
        fake.service.web["a"]:pause < fake.service.web["a"]:ready
        fake.service.web["a"]:ready < fake.service.web["a"]:start
        fake.service.web["a"]:retire < fake.service.web["a"]:drain, fake.thing.route:update
        fake.service.web["a"]:start < fake.service.web["a"]:create
        fake.service.web["b"]:create < fake.service.web["b"]:depose
        fake.service.web["b"]:depose < fake.service.web["a"]:pause
        fake.service.web["b"]:drain < fake.service.web["b"]:ready, fake.thing.route:update
        fake.service.web["b"]:ready < fake.service.web["b"]:start
        fake.service.web["b"]:retire < fake.service.web["b"]:drain, fake.thing.route:update
        fake.service.web["b"]:start < fake.service.web["b"]:create
        fake.thing.route:update < fake.service.web["a"]:ready, fake.service.web["b"]:ready"
    `);
    expect(document.steps.flatMap(({ id, phase, seconds }) => (seconds === undefined ? [] : [{ id, phase, seconds }]))).toEqual([
      { id: 'fake.service.web["a"]:drain', phase: 11, seconds: 10 },
      { id: 'fake.service.web["a"]:pause', phase: 4, seconds: 2.5 },
      { id: 'fake.service.web["b"]:drain', phase: 11, seconds: 10 },
    ]);
    expect(planSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  it.each([
    [1, 'a | b | c | d | e', { a: [], b: ['a'], c: ['b'], e: ['d'] }],
    [2, 'ab | cd | e', { a: [], b: [], c: ['a', 'b'], d: ['a', 'b'], e: ['c', 'd'] }],
    [5, '', { a: [], e: [] }],
    [9, '', { a: [], e: [] }],
  ])('must go in batches of %i', async (batch, shown, waits) => {
    const { batches } = await planned(web('abcde', { batch }), web('abcde', { batch }, 'v2'));
    expect(batches).toEqual(shown === '' ? [] : [`fake.service.web: ${shown}`]);
    for (const [key, others] of Object.entries(waits)) {
      expect(await behind(web('abcde', { batch }, 'v2'), key)).toEqual(others.map((other) => `fake.service.web["${other}"]:ready`));
    }
  });

  it('must pause once between two batches, however many are in each', async () => {
    const update = { batch: 2, pause: 1000 };
    const { document, batches } = await planned(web('abcde', update), web('abcde', update, 'v2'));
    expect(batches).toEqual(['fake.service.web: ab 1s | cd 1s | e']);
    const pauses = document.steps.filter(({ effect }) => effect === 'pause').map(({ id, after }) => [id, after]);
    expect(pauses).toEqual([
      ['fake.service.web["b"]:pause', ['fake.service.web["a"]:ready', 'fake.service.web["b"]:ready']],
      ['fake.service.web["d"]:pause', ['fake.service.web["c"]:ready', 'fake.service.web["d"]:ready']],
    ]);
    expect(await behind(web('abcde', update, 'v2'), 'e')).toEqual(['fake.service.web["d"]:pause']);
  });

  it('must let one instance go ahead of the rest when its own batch is smaller', async () => {
    const mixed = (image: string) => [...web('a', { pause: 5000 }, image), ...web('bcd', { batch: 9 }, image)];
    const { batches } = await planned(mixed('v1'), mixed('v2'));
    expect(batches).toEqual(['fake.service.web: a 5s | bcd']);
  });

  it('must count only those that are replaced, not those that nothing changes', async () => {
    await bench.converge(web('abcd', {}));
    const { batches } = await replanned([...web('ac', {}), ...web('bd', {}, 'v2')]);
    expect(batches).toEqual(['fake.service.web: b | d']);
  });

  it('must make new ones at once, and touch none that runs before they are ready', async () => {
    await bench.converge(web('ab', {}));
    const after = web('abcd', {}, 'v2');
    expect((await replanned(after)).batches).toEqual(['fake.service.web: a | b']);
    expect(await behind(after, 'c')).toEqual([]);
    expect(await behind(after, 'd')).toEqual([]);
    expect(await behind(after, 'a')).toEqual(['fake.service.web["c"]:ready', 'fake.service.web["d"]:ready']);
  });

  it('must let a single replaced one wait for the new one as well', async () => {
    await bench.converge(web('a', {}));
    expect(await behind(web('ab', {}, 'v2'), 'a')).toEqual(['fake.service.web["b"]:ready']);
  });

  it('must bring up what does not run before it takes down what does', async () => {
    await bench.converge(web('abc', {}));
    bench.world.stop('test-web-c');
    const { batches, document } = await replanned([...web('ab', {}, 'v2'), ...web('c', {})]);
    expect(document.changes.map(({ action }) => action)).toEqual(['replace', 'replace', 'start']);
    expect(batches).toEqual(['fake.service.web: c | a | b']);
  });

  it('must follow the graph where one instance needs another', async () => {
    const needing = (image: string) => [
      desired('fake.service.web["a"]', { image }, { update: {}, dependsOn: ['fake.thing.between'] }),
      desired('fake.thing.between', {}, { dependsOn: ['fake.service.web["b"]'] }),
      ...web('bc', {}, image),
    ];
    const { batches } = await planned(needing('v1'), needing('v2'));
    expect(batches).toEqual(['fake.service.web: b | a | c']);
  });

  it('must not hold up what changes in place while it runs', async () => {
    const things = (size: number) => ['a', 'b'].map((key) => desired(`fake.thing.t["${key}"]`, { size }, { update: {} }));
    await bench.converge(things(1));
    const { document } = await bench.prepare(things(2));
    expect(document.rolling).toEqual([]);
    expect(document.steps.every(({ after }) => after.length === 0)).toBe(true);
  });

  it('must replace at once, with a warning, what stands on something that is replaced under all of them', async () => {
    const all = (image: string) => [
      desired('fake.thing.net', { image }),
      ...['a', 'b'].map((key) =>
        desired(`fake.service.web["${key}"]`, { wants: new Reference('fake.thing.net', 'id') }, { update: {}, role: 'service' }),
      ),
    ];
    await bench.converge(all('v1'));
    const { document } = await bench.prepare(all('v2'));
    expect(document.rolling).toEqual([]);
    expect(document.warnings).toMatchObject([{ code: 'UPDATE_AT_ONCE', address: 'fake.service.web' }]);
    expect(document.outageAddresses).toEqual(['fake.service.web["a"]', 'fake.service.web["b"]']);
    expect(await bench.apply(document, all('v2'))).toMatchObject({ exitCode: 0 });
  });

  it('must keep a dependant of each instance between the batches', async () => {
    const pairs = (image: string) => [
      ...web('ab', {}, image),
      ...['a', 'b'].map((key) => desired(`fake.service.side["${key}"]`, { wants: new Reference(`fake.service.web["${key}"]`, 'id') })),
    ];
    const { document } = await planned(pairs('v1'), pairs('v2'));
    expect(document.rolling).toHaveLength(1);
    const before = bench.world.calls().length;
    expect(await bench.apply(document, pairs('v2'))).toMatchObject({ exitCode: 0 });
    const calls = bench.world
      .calls()
      .slice(before)
      .map(({ address, effect }) => `${address}:${effect}`);
    expect(calls.indexOf('fake.service.web["b"]:stop')).toBeGreaterThan(calls.indexOf('fake.service.web["a"]:ready'));
    expect(calls.indexOf('fake.service.side["a"]:create')).toBeGreaterThan(calls.indexOf('fake.service.web["a"]:ready'));
  });
});

describe('what cannot be beside its predecessor', () => {
  const at = (update: Partial<Update>, port: number, image = 'v1') => web('a', update, image, { settings: { port } });

  it('must be refused start-first, with what to do, and pass stop-first', async () => {
    await bench.converge(at({}, 80));
    const { document } = await bench.prepare(at({ order: 'start-first' }, 80, 'v2'));
    expect(document.succession.refusals).toMatchObject([
      {
        code: 'START_FIRST_IMPOSSIBLE',
        path: 'fake.service.web["a"].settings.port',
        message:
          'The new one would come before the old one goes (its document asks for it). Two objects cannot have the port 80 at once. Leave the port out, or replace it with update.order: stop-first.',
      },
    ]);
    expect((await bench.prepare(at({}, 80, 'v2'))).document.applicable).toBe(true);
    expect((await bench.prepare(at({ order: 'start-first' }, 81, 'v2'))).document.applicable).toBe(true);
  });

  it('must be warned of before it is ever replaced', async () => {
    const { document } = await bench.prepare(at({ order: 'start-first' }, 80));
    expect(document.applicable).toBe(true);
    expect(document.warnings).toMatchObject([{ code: 'START_FIRST_IMPOSSIBLE', address: 'fake.service.web["a"]' }]);
  });

  it('must name who hands the order down', async () => {
    const both = (image: string) => [
      desired('fake.service.api', { image, settings: { port: 80 } }),
      desired('fake.service.front', { image }, { dependsOn: ['fake.service.api'], update: { order: 'start-first' } }),
    ];
    const { document } = await planned(both('v1'), both('v2'));
    expect(document.succession.refusals).toMatchObject([
      { path: 'fake.service.api.settings.port', message: expect.stringContaining('fake.service.front needs it and is replaced that way') },
    ]);
  });
});

describe('a run that lets time pass', () => {
  const update: Partial<Update> = { order: 'start-first', pause: 60, drain: 40 };

  it('must pause between the batches and drain before anything is retired', async () => {
    const { document } = await planned(web('ab', update), web('ab', update, 'v2'));
    const seen = bench.events.length;
    expect(await bench.apply(document, web('ab', update, 'v2'))).toMatchObject({ exitCode: 0, steps: { notDone: [] } });
    const events = bench.events.slice(seen);
    const when = (type: string, step: string) => {
      const event = events.find((one) => one.type === type && 'step' in one && one.step === step);
      if (event === undefined) throw new Error(`no ${type} of ${step}`);
      return Date.parse(event.time);
    };
    const first = 'fake.service.web["a"]';
    const second = 'fake.service.web["b"]';
    expect(when('step.intended', `${second}:depose`) - when('step.done', `${first}:ready`)).toBeGreaterThanOrEqual(59);
    expect(when('step.intended', `${first}:retire`) - when('step.done', `${second}:ready`)).toBeGreaterThanOrEqual(39);
    expect(events.filter(({ type }) => type === 'step.progress')).toContainEqual(
      expect.objectContaining({ step: `${first}:pause`, message: 'waiting 0.06 s', figures: { seconds: 0.06 } }),
    );
  });

  it('must end within a pause when it is asked to, and go on with the rest afterwards', async () => {
    const slow: Partial<Update> = { pause: 3_600_000 };
    const { document } = await planned(web('ab', slow), web('ab', slow, 'v2'));
    const stop = new AbortController();
    const result = await bench.apply(document, web('ab', slow, 'v2'), {
      stop: stop.signal,
      emit: (event) => {
        if (event.type === 'step.progress' && event.message.startsWith('waiting')) stop.abort();
      },
    });
    expect(result).toMatchObject({ exitCode: 130, outcome: 'interrupted' });
    expect(result.steps.done).toContain('fake.service.web["a"]:ready');
    expect(result.steps.done).not.toContain('fake.service.web["b"]:stop');
    const rest = await replanned(web('ab', slow, 'v2'));
    expect(rest.document.changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update fake.service.web["a"]',
      'replace fake.service.web["b"]',
    ]);
    await bench.converge(web('ab', slow, 'v2'));
    expect(bench.world.objects().map(({ attributes }) => attributes['image'])).toEqual(['v2', 'v2']);
  });

  it('must drain again what an interrupted run left beside its successor', async () => {
    const long: Partial<Update> = { order: 'start-first', drain: 3_600_000 };
    const { document } = await planned(web('a', long), web('a', long, 'v2'));
    const stop = new AbortController();
    const result = await bench.apply(document, web('a', long, 'v2'), {
      stop: stop.signal,
      emit: (event) => {
        if (event.type === 'step.intended' && event.effect === 'drain') stop.abort();
      },
    });
    expect(result).toMatchObject({ exitCode: 130 });
    expect(bench.world.objects().map(({ running }) => running)).toEqual([true, true]);
    const rest = await bench.prepare(web('a', long, 'v2'));
    expect(rest.document.steps.map(({ effect }) => effect)).toEqual(['drain', 'retire']);
  });

  it('must drain on the way back what may serve already, and nothing else', async () => {
    const after = (image: string) => [...web('ab', update, image), desired('fake.thing.route', {}, { dependsOn: ['fake.service.web'] })];
    await bench.converge(after('v1'));
    const before = bench.world.objects();
    const last = desired('fake.thing.last', {}, { dependsOn: ['fake.service.web'] });
    const { document } = await bench.prepare([...after('v2'), last]);
    bench.world.failOn('fake.thing.last:create', 'INVALID');
    let seen = bench.events.length;
    expect(await bench.apply(document, [...after('v2'), last])).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(backDrains(seen)).toBe('ab');
    expect(bench.world.objects()).toEqual(before);

    const again = await bench.prepare(after('v3'));
    bench.world.failOn('fake.service.web["b"]:ready', 'NOT_READY');
    seen = bench.events.length;
    expect(await bench.apply(again.document, after('v3'))).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(backDrains(seen)).toBe('a');
    expect(bench.world.objects()).toEqual(before);
  });

  /** The instances whose `ready` was taken back only after a wait. */
  function backDrains(from: number): string {
    const waits = bench.events
      .slice(from)
      .flatMap((event) => (event.type === 'step.progress' && event.message.startsWith('waiting') ? [event] : []));
    return keys(
      waits
        .filter(({ step }) => step.endsWith(':ready'))
        .map(({ address }) => address)
        .sort(),
    );
  }

  it('must not count its waits against the timeouts of the object', async () => {
    const hasty = (image: string) => web('ab', update, image).map((one) => ({ ...one, timeouts: { remove: 20, create: 5000 } }));
    const { document } = await planned(hasty('v1'), hasty('v2'));
    expect(await bench.apply(document, hasty('v2'))).toMatchObject({ exitCode: 0 });
  });
});
