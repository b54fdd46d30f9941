import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventSchema } from '../../../src/apply/event-schema.ts';
import type { AccedeEvent, RunResult } from '../../../src/apply/events.ts';
import { type RunRequest, runOnRequest } from '../../../src/apply/run-request.ts';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { Sensitive } from '../../../src/core/value.ts';
import type { Environment, ResourceInstance } from '../../../src/spec/environment.ts';
import { BackendError, type StateStore, type WriteSession } from '../../../src/state/contract.ts';
import { desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
let events: AccedeEvent[];
beforeEach(() => {
  bench = new EngineBench();
  events = [];
});
afterEach(async () => {
  await bench.close();
});

const ADDRESS = 'fake.task.t' as ResourceAddress;
const task = (attributes = {}) => desired(ADDRESS, attributes);
const reference = task({ mode: 'reference' });

/** What happens to the state of a run, to stand for a process that is killed there. */
type Killed = (inner: WriteSession) => Partial<WriteSession>;

async function run(
  resources: readonly ResourceInstance[] | Environment,
  more: Partial<RunRequest> & { readonly killed?: Killed } = {},
): Promise<RunResult> {
  const { killed, ...asked } = more;
  const context = await bench.context(resources);
  const store = killed === undefined ? context.store : killedStore(context.store, killed);
  return runOnRequest(
    { ...context, store },
    {
      address: ADDRESS,
      again: false,
      stamp: { commit: null, folder: '.' },
      actor: 'tester@here',
      reason: null,
      lockTimeout: 0,
      stop: new AbortController().signal,
      emit: (event) => events.push(event),
      ...asked,
    },
  );
}

function killedStore(inner: StateStore, killed: Killed): StateStore {
  return {
    read: () => inner.read(),
    readAt: (serial) => inner.readAt(serial),
    sealings: () => inner.sealings(),
    sourceDigests: () => inner.sourceDigests(),
    sources: (digests) => inner.sources(digests),
    history: () => inner.history(),
    steps: (serial) => inner.steps(serial),
    spentBy: (digest) => inner.spentBy(digest),
    unlock: (id, who) => inner.unlock(id, who),
    audit: () => inner.audit(),
    verifyAudit: () => inner.verifyAudit(),
    evidence: (serial) => inner.evidence(serial),
    now: () => inner.now(),
    setHold: (hold) => inner.setHold(hold),
    liftHolds: (who, reason) => inner.liftHolds(who, reason),
    approvals: (digest) => inner.approvals(digest),
    putApproval: (approval, who) => inner.putApproval(approval, who),
    close: () => inner.close(),
    async acquire(request) {
      const answer = await inner.acquire(request);
      if (answer.kind === 'busy') return answer;
      const { session } = answer;
      return {
        ...answer,
        session: {
          fence: session.fence,
          read: () => session.read(),
          begin: (operation, expected) => session.begin(operation, expected),
          resume: (serial) => session.resume(serial),
          write: (mutations) => session.write(mutations),
          end: (serial, outcome, summary, sealed, evidence) => session.end(serial, outcome, summary, sealed, evidence),
          retire: (retirement) => session.retire(retirement),
          release: () => session.release(),
          ...killed(session),
        },
      };
    },
  };
}

const gone = () => new BackendError('STATE_UNREACHABLE', 'the store is gone');

/** How often the task has run. */
function runs(): unknown {
  return bench.world.named('test-t')?.computed['runs'] ?? 0;
}

async function recorded() {
  return (await (await bench.store()).read())?.resources.get(ADDRESS);
}

describe('a run on request', () => {
  it('must run once per request, record what it answered, and tell the same story in its events', async () => {
    await bench.converge([task()]);
    expect(await run([task()])).toMatchObject({ exitCode: 0, outcome: 'done', run: 'new', programCode: 0, answer: 1 });
    expect(await run([task()])).toMatchObject({ exitCode: 0, answer: 2 });
    expect((await recorded())?.computed).toMatchObject({ answer: 2 });
    expect((await recorded())?.status).toBe('ready');
    for (const event of events) expect(eventSchema.safeParse(event).error).toBeUndefined();
    const told = events.map(({ type }) => type).filter((type) => type !== 'step.progress');
    const steps = ['prove', 'begin', 'finish'].flatMap(() => ['step.intended', 'step.done']);
    const once = ['lock.acquired', 'run.started', ...steps, 'run.done'];
    expect(told).toEqual([...once, ...once]);
    const history = await (await bench.store()).history();
    expect(history.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(['run done', 'run done', 'apply done']);
    expect((await bench.prepare([task()])).document.succession.class).toBe('no-op');
  });

  it.each([
    ['fake.task.q', 'NOT_RECORDED', /Did you mean fake\.task\.t\?/],
    ['fake.thing.a', 'RUN_NOT_ON_DEMAND', /These are: fake\.task\.t\./],
    ['fake.task.never', 'RUN_NOT_ON_DEMAND', /fake\.task\.t/],
  ])('must refuse %s', async (address, code, words) => {
    const resources = [task(), desired('fake.thing.a', {}), desired('fake.task.never', { mode: 'never' })];
    await bench.converge(resources);
    const result = await run(resources, { address: address as ResourceAddress });
    expect(result).toMatchObject({ exitCode: 3, outcome: 'refused', serial: null, diagnostics: [{ code }] });
    expect(result.diagnostics[0]?.detail).toMatch(words);
  });

  it('must refuse what is not in force as the documents have it', async () => {
    expect((await run([task()])).diagnostics).toMatchObject([{ code: 'NO_STATE' }]);
    await bench.converge([desired('fake.thing.a', {})]);
    expect((await run([task()])).diagnostics[0]?.detail).toMatch(/never applied/);
    await bench.converge([task({ token: Sensitive.open('one', ['token']) })]);
    for (const other of [
      [task({ token: Sensitive.open('two', ['token']) })],
      [task({ mode: 'reference' })],
      [desired('fake.thing.a', {})],
    ]) {
      expect(await run(other)).toMatchObject({ exitCode: 3, diagnostics: [{ code: 'RUN_DIFFERS' }] });
    }
    bench.world.delete('test-t');
    expect((await run([task({ token: Sensitive.open('one', ['token']) })])).diagnostics).toMatchObject([{ code: 'RUN_DIFFERS' }]);
    expect(bench.world.calls().filter(({ effect }) => effect === 'begin')).toEqual([]);
  });

  it('must refuse while an apply has not ended, and be busy while somebody holds the lock', async () => {
    await bench.converge([task()]);
    const next = [task(), desired('fake.thing.a', {})];
    const { document } = await bench.prepare(next);
    await bench.applyUntil(document, next, (mutation) => mutation.kind === 'row');
    expect(await run([task()])).toMatchObject({ exitCode: 3, diagnostics: [{ code: 'OPERATION_OPEN' }] });
    await bench.converge(next);
    const held = await (await bench.store()).acquire({ who: 'other@there', purpose: 'apply' });
    expect(await run(next)).toMatchObject({ exitCode: 75, outcome: 'busy', diagnostics: [{ code: 'LOCK_BUSY' }] });
    if (held.kind === 'acquired') await held.session.release();
    expect(runs()).toBe(0);
  });

  it("must pass the program's own code through, whatever it is", async () => {
    await bench.converge([task()]);
    bench.world.failOn('fake.task.t:finish', 'NOT_READY', 1, { exitCode: 75, lines: ['last words'] });
    expect(await run([task()])).toMatchObject({ exitCode: 75, programCode: 75, outcome: 'failed', diagnostics: [{ code: 'RUN_FAILED' }] });
    expect(events.find(({ type }) => type === 'step.failed')).toMatchObject({ lines: ['last words'] });
    expect((await bench.prepare([task()])).document.succession.class).toBe('no-op');
    expect(await run([task()])).toMatchObject({ run: 'new', answer: 2 });
  });

  it('must tell what was not begun, what is wrong and what nobody knows apart', async () => {
    await bench.converge([task()]);
    bench.world.failOn('fake.task.t:prove', 'NOT_FOUND');
    expect(await run([task()])).toMatchObject({ exitCode: 5, run: 'none', programCode: null });
    bench.world.failOn('fake.task.t:begin', 'INVALID');
    expect(await run([task()])).toMatchObject({ exitCode: 5, run: 'none' });
    bench.world.failOn('fake.task.t:finish', 'INVALID');
    expect(await run([task()])).toMatchObject({ exitCode: 1, run: 'new' });
    expect(runs()).toBe(1);
    bench.world.loseReply('fake.task.t:begin');
    expect(await run([task()])).toMatchObject({ exitCode: 6, run: 'new' });
    expect(runs()).toBe(2);
    expect(await run([task()])).toMatchObject({ exitCode: 0, run: 'continued', answer: 2 });
    expect((await bench.prepare([task()])).document.warnings).toEqual([]);
  });

  it('must keep a secret that the program prints out of the record and the answer', async () => {
    const secret = Sensitive.open('hush-hush', ['token']);
    const own = environment([task({ token: secret })], { secrets: new Map([['token', secret]]) });
    await bench.converge(own);
    const result = await run(own);
    expect(result.answer).toMatchObject({ $accede: 'sensitive' });
    expect(JSON.stringify([result, events, await recorded()])).not.toContain('hush-hush');
  });
});

describe('a run with a request', () => {
  it('must need one, and answer the same request from the record until it is asked again', async () => {
    await bench.converge([reference]);
    expect(await run([reference])).toMatchObject({ exitCode: 3, diagnostics: [{ code: 'RUN_REQUEST_MISSING' }] });
    const one = { document: { grant: 'a' } };
    expect(await run([reference], one)).toMatchObject({ run: 'new', answer: { grant: 'a' } });
    expect(await run([reference], one)).toMatchObject({ run: 'earlier', answer: { grant: 'a' }, serial: null });
    expect(runs()).toBe(1);
    expect(await run([reference], { ...one, again: true })).toMatchObject({ run: 'new' });
    expect(await run([reference], { document: { grant: 'b' } })).toMatchObject({ run: 'new', answer: { grant: 'b' } });
    expect(runs()).toBe(3);
    expect(JSON.stringify((await recorded())?.computed['asked'])).not.toContain('grant');
  });

  it('must not be given to what takes none', async () => {
    await bench.converge([task()]);
    expect(await run([task()], { document: 1 })).toMatchObject({ exitCode: 3, diagnostics: [{ code: 'RUN_REQUEST_UNWANTED' }] });
  });
});

describe('a run that was killed', () => {
  it.each(['prove', 'begin', 'finish'])('must go on with the next one that asks the same: before and after %s', async (effect) => {
    await bench.converge([task()]);
    for (const status of ['intended', 'done'] as const) {
      const before = Number(runs());
      let isLost = false;
      const killed: Killed = (inner) => ({
        write: async (mutations) => {
          if (isLost) throw gone();
          const isIt = mutations.some(({ kind, ...rest }) => kind === 'step' && 'step' in rest && isAt(rest.step, effect, status));
          if (isIt && status === 'done') throw gone();
          await inner.write(mutations);
          isLost = isIt;
          if (isIt) throw gone();
        },
        end: async () => {
          throw gone();
        },
      });
      expect(await run([task()], { killed })).toMatchObject({ exitCode: 6 });
      expect(await run([task()])).toMatchObject({ exitCode: 0, run: 'continued', answer: before + 1 });
      expect(runs()).toBe(before + 1);
      expect(await run([task()])).toMatchObject({ run: 'new', answer: before + 2 });
    }
    expect((await bench.prepare([task()])).document.warnings).toEqual([]);
  });

  it('must be told with the next one when it had come to its end, and once alone', async () => {
    await bench.converge([task()]);
    const killed: Killed = () => ({
      end: async () => {
        throw gone();
      },
    });
    expect(await run([task()], { killed })).toMatchObject({ exitCode: 6 });
    expect(await run([task()])).toMatchObject({ exitCode: 0, run: 'earlier', answer: 1 });
    expect(runs()).toBe(1);
    expect(await run([task()])).toMatchObject({ run: 'new', answer: 2 });
  });

  it('must not stand for another request, nor for what changed since', async () => {
    await bench.converge([reference]);
    const killed: Killed = (inner) => ({
      write: async (mutations) => {
        await inner.write(mutations);
        if (mutations.some((mutation) => mutation.kind === 'step' && isAt(mutation.step, 'begin', 'done'))) throw gone();
      },
    });
    await run([reference], { document: 'a', killed });
    expect(await run([reference], { document: 'b' })).toMatchObject({ run: 'new', answer: 'b' });
    await run([reference], { document: 'c', killed });
    const changed = task({ mode: 'reference', token: Sensitive.open('new', []) });
    await bench.converge([changed]);
    expect(await run([changed], { document: 'c' })).toMatchObject({ run: 'new' });
    expect(runs()).toBe(4);
  });

  it('must go on too when it was only told to stop', async () => {
    await bench.converge([task()]);
    const stop = new AbortController();
    bench.world.delay('fake.task.t:finish', 60_000, 1);
    const stopped = run([task()], {
      stop: stop.signal,
      emit: (event) => {
        if (event.type === 'step.intended' && event.effect === 'finish') stop.abort(new Error('stop'));
      },
    });
    expect(await stopped).toMatchObject({ exitCode: 130, outcome: 'interrupted', run: 'new' });
    expect(await run([task()])).toMatchObject({ run: 'continued', answer: 1 });
    const early = new AbortController();
    early.abort(new Error('stop'));
    expect(await run([task()], { stop: early.signal })).toMatchObject({ exitCode: 130, run: 'none' });
    expect(runs()).toBe(1);
  });
});

function isAt(step: { readonly effect: string; readonly status: string }, effect: string, status: string): boolean {
  return step.effect === effect && step.status === status;
}

describe('a plan that was made before a run', () => {
  const thing = (size: number) => desired('fake.thing.a', { size });

  it('must be applied all the same where it leaves alone what was run', async () => {
    await bench.converge([task(), thing(1)]);
    const { document } = await bench.prepare([task(), thing(2)]);
    expect(await run([task(), thing(1)])).toMatchObject({ exitCode: 0, answer: 1 });
    expect(await run([task(), thing(1)])).toMatchObject({ exitCode: 0, answer: 2 });
    expect(await bench.apply(document, [task(), thing(2)])).toMatchObject({ exitCode: 0, steps: { done: ['fake.thing.a:update'] } });
    expect((await recorded())?.computed).toMatchObject({ answer: 2 });
    expect(runs()).toBe(2);
  });

  it('must be stale where it does something about what was run', async () => {
    await bench.converge([task(), thing(1)]);
    const after = [reference, thing(2)];
    const { document } = await bench.prepare(after);
    expect(document.changes.find(({ address }) => address === ADDRESS)?.action).not.toBe('noop');
    expect(await run([task(), thing(1)])).toMatchObject({ exitCode: 0 });
    expect(await bench.apply(document, after)).toMatchObject({ exitCode: 4, diagnostics: [{ code: 'PLAN_STALE' }] });
  });

  it('must be stale where what the run answered is read by what it changes', async () => {
    const reading = desired('fake.thing.a', { size: new Reference(ADDRESS, 'answer') });
    await bench.converge([task(), desired('fake.thing.a', {})]);
    await run([task(), desired('fake.thing.a', {})]);
    const { document } = await bench.prepare([task(), reading]);
    await run([task(), desired('fake.thing.a', {})]);
    expect(await bench.apply(document, [task(), reading])).toMatchObject({ exitCode: 4 });
  });

  it('must be stale where anything but a run came in between', async () => {
    await bench.converge([task(), thing(1)]);
    const { document } = await bench.prepare([task(), thing(2)]);
    await run([task(), thing(1)]);
    await bench.converge([task(), thing(1), desired('fake.thing.b', {})]);
    expect(await bench.apply(document, [task(), thing(2)])).toMatchObject({ exitCode: 4 });
  });
});
