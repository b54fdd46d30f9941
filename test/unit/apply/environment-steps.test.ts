import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyPlan } from '../../../src/apply/apply.ts';
import type { EngineContext } from '../../../src/apply/engine.ts';
import type { ApplyResult } from '../../../src/apply/events.ts';
import { compareText } from '../../../src/core/address.ts';
import type { Attributes, Plain } from '../../../src/core/value.ts';
import { localHost } from '../../../src/host/local.ts';
import type { Environment, ResourceInstance } from '../../../src/spec/environment.ts';
import { desired, environment } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
const started: number[] = [];
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await bench.close();
});

function bodyOf(evidence: { readonly body: Plain } | undefined): Plain {
  if (evidence === undefined) throw new Error('the run left no evidence');
  return evidence.body;
}

const server = (image: string): readonly ResourceInstance[] => [
  desired('fake.server.api', { image }, { role: 'service' }),
  desired('fake.server.web', {}, { role: 'service' }),
];

const given = (resources: readonly ResourceInstance[], hooks: Attributes, quiesce: Attributes = {}): Environment =>
  environment(resources, { hooks: { backup: 'none', ...hooks }, quiesce });

/** A hook that adds a line to a file of the environment's folder: its name and what it is told. */
const note = (name: string, more = '') => ({
  run: ['sh', '-c', `echo "${name} $ACCEDE_CLASS $ACCEDE_OPERATION $ACCEDE_OUTCOME $ACCEDE_ENVIRONMENT" >> notes${more}`],
});

const notes = () => (existsSync(join(bench.folder, 'notes')) ? readFileSync(join(bench.folder, 'notes'), 'utf8').trim().split('\n') : []);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 10_000, interval: 20 }).toBe(true);
}

/** An executable of its own path that runs until it is ended. */
async function legacy(name: string): Promise<{ readonly executable: string; readonly pid: number }> {
  const executable = join(bench.folder, name);
  copyFileSync('/bin/sleep', executable);
  chmodSync(executable, 0o755);
  const child = spawn(executable, ['600'], { stdio: 'ignore' });
  if (child.pid === undefined) throw new Error('it did not start');
  started.push(child.pid);
  const { pid } = child;
  await until(() => existsSync(`/proc/${pid}/exe`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(executable));
  return { executable, pid };
}

async function applyOn(host: EngineContext['host'], all: Environment): Promise<ApplyResult> {
  const { document } = await bench.prepare(all);
  const context = { ...(await bench.context(all)), host };
  return applyPlan(context, {
    plan: document,
    stamp: { commit: null, folder: '.' },
    actor: 'tester@here',
    reason: null,
    lockTimeout: 0,
    ifDone: false,
    stop: new AbortController().signal,
    emit: (event) => bench.events.push(event),
  });
}

describe('hooks', () => {
  it('must run in their stages with class, operation, outcome and environment, and be steps of the plan', async () => {
    await bench.converge(server('v1'));
    const all = given(server('v2'), {
      before: [note('one'), note('two')],
      verify: [note('check')],
      after: [note('after')],
      failed: [note('failed')],
    });
    const { document } = await bench.prepare(all);
    expect(document.steps.filter(({ address }) => address === 'environment').map(({ id, stage, after }) => [id, stage, after])).toEqual([
      ['environment:hook.before.1', 'backup', []],
      ['environment:hook.before.2', 'backup', ['environment:hook.before.1']],
      ['environment:hook.verify.1', 'verify', []],
    ]);
    const result = await bench.apply(document, all);
    expect(result).toMatchObject({ exitCode: 0, diagnostics: [] });
    expect(notes()).toEqual([
      'one serving-refresh op-2 pending test',
      'two serving-refresh op-2 pending test',
      'check serving-refresh op-2 pending test',
      'after serving-refresh op-2 done test',
    ]);
    const store = await bench.store();
    const steps = await store.steps(2);
    const own = steps
      .filter(({ address }) => address === 'environment')
      .map(({ effect, status, key }) => [effect, status, key.slice(0, 7)]);
    expect(own.toSorted(([a = ''], [b = '']) => compareText(a, b))).toEqual([
      ['hook.after.1', 'done', 'sha256:'],
      ['hook.before.1', 'done', 'sha256:'],
      ['hook.before.2', 'done', 'sha256:'],
      ['hook.verify.1', 'done', 'sha256:'],
    ]);
    expect((await bench.prepare(all)).document.steps).toEqual([]);
  });

  it('must stop nothing when one that comes first fails, show its last lines, and leave the plan usable', async () => {
    await bench.converge(server('v1'));
    const before = bench.world.objects();
    const all = given(server('v2'), { before: [{ run: ['sh', '-c', 'echo disk full >&2; test -e go'] }], failed: [note('failed')] });
    const { document } = await bench.prepare(all);
    const result = await bench.apply(document, all);
    expect(result).toMatchObject({ exitCode: 5, outcome: 'failed', diagnostics: [{ code: 'HOOK_FAILED', address: 'environment' }] });
    expect(bench.events.flatMap((event) => (event.type === 'step.failed' ? event.lines : []))).toEqual(['disk full']);
    expect(bench.world.objects()).toEqual(before);
    expect(notes()).toEqual(['failed serving-refresh op-2 failed test']);
    writeFileSync(join(bench.folder, 'go'), '');
    expect((await bench.apply(document, all)).exitCode).toBe(0);
  });

  it('must go the way of the plan when one that verifies fails: back, with everything as before', async () => {
    await bench.converge(server('v1'));
    const before = bench.world.objects();
    const all = given(server('v2'), { verify: [{ run: ['false'] }], failed: [note('failed')], after: [note('after')] });
    const { document } = await bench.prepare(all);
    const result = await bench.apply(document, all);
    expect(result).toMatchObject({ exitCode: 5, outcome: 'compensated', diagnostics: [{ code: 'HOOK_FAILED' }, { code: 'SOURCE_HELD' }] });
    expect(bench.world.objects()).toEqual(before);
    expect(notes()).toEqual(['failed serving-refresh op-2 compensated test']);
  });

  it('must only warn when one of those fails that come when the outcome stands', async () => {
    const all = given(server('v1'), { after: [{ run: ['false'] }, note('second')] });
    const { document } = await bench.prepare(all);
    expect(await bench.apply(document, all)).toMatchObject({
      exitCode: 0,
      outcome: 'done',
      diagnostics: [{ code: 'HOOK_FAILED', severity: 'warning' }],
    });
    expect(notes()).toEqual(['second initial op-1 done test']);
  });

  it('must kill one that hangs with everything that it started', async () => {
    const run = ['sh', '-c', 'sleep 601 & echo $! > grandchild; wait'];
    const all = given(server('v1'), { before: [{ run, timeout: '400ms' }] });
    const { document } = await bench.prepare(all);
    const result = await bench.apply(document, all);
    expect(result).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'HOOK_FAILED' }] });
    expect(result.diagnostics[0]?.detail).toContain('did not finish within 400 ms');
    const grandchild = Number(readFileSync(join(bench.folder, 'grandchild'), 'utf8'));
    expect(grandchild).toBeGreaterThan(1);
    await until(() => !isAlive(grandchild));
  });

  it('must not wait for what one left behind in a session of its own', async () => {
    const run = ['sh', '-c', 'setsid sleep 602 & echo $! > stray'];
    const all = given(server('v1'), { before: [{ run, timeout: '60s' }] });
    const { document } = await bench.prepare(all);
    expect((await bench.apply(document, all)).exitCode).toBe(0);
    started.push(Number(readFileSync(join(bench.folder, 'stray'), 'utf8')));
  });

  it('must say of a program that is not there that it could not be started', async () => {
    const all = given(server('v1'), { before: [{ run: ['/nowhere/at-all'] }] });
    const { document } = await bench.prepare(all);
    expect(await bench.apply(document, all)).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'HOOK_FAILED' }] });
  });

  it('must not run where nothing is done', async () => {
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(given(server('v1'), { before: [note('no')], verify: [note('no')] }));
    expect(document.steps).toEqual([]);
  });
});

describe('a backup', () => {
  const data = desired('fake.store.data', {});
  const all = (hooks: Attributes) => environment([data], { hooks });
  const gone = { destroy: true, includeProtected: true };

  it('must be there before protected data goes, and be refused otherwise', async () => {
    await bench.converge(all({}));
    for (const hooks of [{}, { backup: 'none' }]) {
      const { document } = await bench.prepare(all(hooks), gone);
      expect(document.succession.refusals).toMatchObject([{ code: 'BACKUP_MISSING', path: 'fake.store.data' }]);
    }
    await bench.converge(all({ backup: 'none' }));
    expect((await bench.prepare(all({}), gone)).document.succession.class).toBe('destroy');
  });

  it('must end the run before anything is done when it fails, whichever way the class goes', async () => {
    await bench.converge([data]);
    const failing = all({ backup: { run: ['sh', '-c', 'test -e go'] } });
    const { document } = await bench.prepare(failing, gone);
    expect(document.succession.stages).toEqual(['backup', 'retire']);
    expect(await bench.apply(document, failing)).toMatchObject({ exitCode: 5, outcome: 'failed', diagnostics: [{ code: 'HOOK_FAILED' }] });
    expect(bench.world.named('test-data')).toBeDefined();
    writeFileSync(join(bench.folder, 'go'), '');
    expect((await bench.apply(document, failing)).exitCode).toBe(0);
    expect(bench.world.named('test-data')).toBeUndefined();
  });

  it('must not run for a change that can be taken back', async () => {
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(given(server('v2'), { backup: note('backup') }));
    expect(document.steps.some(({ effect }) => effect === 'hook.backup')).toBe(false);
  });
});

describe('quiesce', () => {
  it('must end old processes before anything starts, and prove that none is left', async () => {
    const old = await legacy('legacy-server');
    const all = given(server('v1'), {}, { processes: [old.executable] });
    const { document } = await bench.prepare(all);
    expect(document.steps.find(({ effect }) => effect === 'quiesce')).toMatchObject({
      address: 'environment',
      stage: 'quiesce',
      direction: 'back',
    });
    expect((await bench.apply(document, all)).exitCode).toBe(0);
    expect(isAlive(old.pid)).toBe(false);
    const done = bench.events.find((event) => event.type === 'step.done' && event.effect === 'quiesce');
    expect(done).toMatchObject({ figures: { processes: 1 } });
  });

  it('must name old processes that a way back cannot start again', async () => {
    const old = await legacy('legacy-server');
    const all = given(server('v1'), { verify: [{ run: ['false'] }] }, { processes: [old.executable] });
    const { document } = await bench.prepare(all);
    const result = await bench.apply(document, all);
    expect(result).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(result.diagnostics).toMatchObject([
      { code: 'HOOK_FAILED' },
      { code: 'SOURCE_HELD', severity: 'warning' },
      { code: 'PROCESS_NOT_RESTARTED', severity: 'warning' },
    ]);
  });

  it('must change nothing when the list of processes cannot be read', async () => {
    const old = await legacy('legacy-server');
    const proc = join(bench.folder, 'proc');
    mkdirSync(join(proc, '7'), { recursive: true });
    writeFileSync(join(proc, '7', 'exe'), 'no link');
    const all = given(server('v1'), {}, { processes: [old.executable] });
    const result = await applyOn(localHost({ proc }), all);
    expect(result).toMatchObject({ exitCode: 5, outcome: 'failed', diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }] });
    expect(isAlive(old.pid)).toBe(true);
    expect(bench.world.objects()).toEqual([]);
  });

  it('must change nothing when the list of processes is empty, which it never is', async () => {
    const proc = join(bench.folder, 'proc');
    mkdirSync(proc);
    const result = await applyOn(localHost({ proc }), given(server('v1'), {}, { processes: ['/opt/legacy'] }));
    expect(result).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }] });
  });

  it('must be a failure when no provider can list what bears a label', async () => {
    const result = await applyOn(localHost(), given(server('v1'), {}, { containers: { label: 'app=legacy' } }));
    expect(result).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }] });
    expect(bench.world.objects()).toEqual([]);
  });

  it('must not run for a class that needs nobody to stop', async () => {
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(given(server('v2'), {}, { processes: ['/opt/legacy'] }));
    expect(document.steps.some(({ effect }) => effect === 'quiesce')).toBe(false);
  });
});

/**
 * Units are tested with a program that stands in for `systemctl`, since no service manager runs here: it keeps each unit's state in files and says
 * of it what systemctl says.
 */
describe('quiesce of units, with a stand-in for systemctl', () => {
  const STAND_IN = `#!/bin/sh
cd "$(dirname "$0")/units" || exit 1
case "$1" in
  show)
    unit=$4
    test -e broken && exit 1
    test -e "$unit.active" && echo ActiveState=active || echo ActiveState=inactive
    test -e "$unit.enabled" && echo UnitFileState=enabled || echo UnitFileState=disabled
    echo LoadState=loaded; echo "ActiveEnterTimestampMonotonic=$(cat "$unit.active" 2>/dev/null)" ;;
  stop) echo "stop $3" >> log; test -e "$3.stubborn" || rm -f "$3.active" ;;
  start) echo "start $3" >> log; test -e "$3.active" || echo 9 > "$3.active" ;;
  disable) echo "disable $3" >> log; rm -f "$3.enabled" ;;
  enable) echo "enable $3" >> log; touch "$3.enabled" ;;
esac
`;
  let units: string;
  const put = (name: string, text = '') => writeFileSync(join(units, name), text);
  const log = () => (existsSync(join(units, 'log')) ? readFileSync(join(units, 'log'), 'utf8').trim().split('\n') : []);
  const is = (name: string) => existsSync(join(units, name));
  const host = () => localHost({ environment: { PATH: `${bench.folder}/bin:/usr/bin:/bin` } });

  beforeEach(() => {
    units = join(bench.folder, 'bin', 'units');
    mkdirSync(units, { recursive: true });
    writeFileSync(join(bench.folder, 'bin', 'systemctl'), STAND_IN, { mode: 0o755 });
    put('a.service.active', '1');
    put('a.service.enabled');
    put('b.service.active', '2');
  });

  const all = (hooks: Attributes = {}) => given(server('v1'), hooks, { units: ['a.service', 'b.service', 'unknown.service'] });

  it('must stop in reverse start order, take the autostart away, and leave what does not run alone', async () => {
    expect((await applyOn(host(), all())).exitCode).toBe(0);
    expect(log()).toEqual(['stop b.service', 'disable a.service', 'stop a.service']);
  });

  it('must put all of them back when one will not stop, with nothing further changed', async () => {
    put('a.service.stubborn');
    const result = await applyOn(host(), all());
    expect(result).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }] });
    expect(result.diagnostics[0]?.detail).toMatch(/the unit a\.service\b.*All of them go on as before/s);
    expect([is('a.service.active'), is('a.service.enabled'), is('b.service.active'), is('b.service.enabled')]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(bench.world.objects()).toEqual([]);
  });

  it('must put all of them back when the run goes back later', async () => {
    expect(await applyOn(host(), all({ verify: [{ run: ['false'] }] }))).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(log().slice(3)).toEqual(['enable a.service', 'start a.service', 'start b.service']);
  });

  it('must put all of them back from the journal of a run that was killed', async () => {
    const given = all();
    const { document } = await bench.prepare(given);
    const result = await bench.applyUntil(
      document,
      given,
      (mutation) => mutation.kind === 'step' && mutation.step.stage === 'start',
      host(),
    );
    expect(result.exitCode).toBe(6);
    expect([is('a.service.active'), is('b.service.active')]).toEqual([false, false]);
    expect((await bench.recoverBack(given, host())).exitCode).toBe(0);
    expect([is('a.service.active'), is('a.service.enabled'), is('b.service.active')]).toEqual([true, true, true]);
  });

  it('must stop nothing when the service manager cannot be asked', async () => {
    put('broken');
    expect(await applyOn(host(), all())).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }] });
    expect(log()).toEqual([]);
    rmSync(join(bench.folder, 'bin', 'systemctl'));
    expect(await applyOn(localHost({ environment: { PATH: `${bench.folder}/bin` } }), all())).toMatchObject({
      exitCode: 5,
      diagnostics: [{ code: 'QUIESCE_NOT_PROVEN' }],
    });
  });
});

describe('the facts of a plan', () => {
  it('must be looked at again before the point of no return, and send the run back when one moved', async () => {
    const all = (image: string, hooks: Attributes = {}) =>
      given(
        [
          desired('fake.thing.config', { size: image === 'v1' ? 1 : 2 }),
          desired('fake.thing.aside', {}),
          desired('fake.publication.crm', { settings: { version: image }, size: image === 'v1' ? 1 : 2 }, {}),
        ],
        hooks,
      );
    await bench.converge(all('v1'));
    const { document } = await bench.prepare(all('v2'));
    expect(document.succession.pointOfNoReturn).toBe('fake.publication.crm:update');
    const result = await bench.apply(document, all('v2'), {
      emit: (event) => {
        if (event.type === 'step.done' && event.address === 'fake.thing.config') bench.world.set('test-aside', { size: 7 });
      },
    });
    expect(result).toMatchObject({ exitCode: 5, outcome: 'compensated', diagnostics: [{ code: 'GUARD_MOVED' }] });
    expect(result.diagnostics[0]?.detail).toContain('fake.thing.aside');
    expect(bench.world.named('test-config')?.attributes['size']).toBe(1);
    expect(bench.world.named('test-crm')?.attributes['size']).toBe(1);
  });
});

describe('the evidence of an outage', () => {
  it('must say for each address of the promise when it went down and when it was ready again', async () => {
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(server('v2'));
    expect(document.outageAddresses).toEqual(['fake.server.api']);
    await bench.apply(document, server('v2'));
    const store = await bench.store();
    const [evidence] = await store.evidence(2);
    const { outage } = bodyOf(evidence) as { readonly outage: readonly { readonly downAt: string; readonly readyAt: string }[] };
    expect(outage).toMatchObject([{ address: 'fake.server.api', seconds: expect.any(Number) }]);
    const at = (id: string, type: string) =>
      bench.events.findLast((event) => event.type === type && 'step' in event && event.step === id)?.time;
    expect(outage[0]).toMatchObject({
      downAt: at('fake.server.api:stop', 'step.intended'),
      readyAt: at('fake.server.api:ready', 'step.done'),
    });
  });

  it('must say so too of what was taken back', async () => {
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(server('v2'));
    bench.world.failOn('fake.server.api:ready', 'NOT_READY');
    expect((await bench.apply(document, server('v2'))).exitCode).toBe(5);
    const store = await bench.store();
    const [evidence] = await store.evidence(2);
    const { outage } = bodyOf(evidence) as { readonly outage: readonly { readonly readyAt: string }[] };
    const last = bench.events.findLast((event) => event.type === 'step.compensated' && event.effect === 'stop');
    expect(outage).toMatchObject([{ address: 'fake.server.api', readyAt: last?.time }]);
  });
});
