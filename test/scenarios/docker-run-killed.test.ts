import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/engine-client.ts';
import { ADDRESS, resultOf, runBench } from './docker-run-bench.ts';

const bench = runBench();
const { write, at, runs, ok, apply, expectNoChange, containers, runUntil } = bench;

describe('kill -9 of accede run', () => {
  it.each([
    ['step.intended', 'fetch'],
    ['step.done', 'clear'],
    ['step.intended', 'create'],
    ['step.done', 'create'],
    ['step.intended', 'start'],
    ['step.done', 'start'],
    ['step.progress', 'wait'],
    ['step.done', 'wait'],
    ['step.intended', 'collect'],
  ])('must end with the next run and without a second one: %s of %s', async (type, effect) => {
    write('sleep 1; echo end >> /shared/ends; echo 7', 'stdout: true');
    await apply();
    const killed = await runUntil(type, effect);
    expect(killed.signal, killed.stdout + killed.stderr).toBe('SIGKILL');
    const next = await ok('run', ADDRESS, '--json');
    expect(resultOf(next)).toMatchObject({ exitCode: 0, answer: 7 });
    expect(runs()).toBe(1);
    expect(readFileSync(at('ends'), 'utf8')).toBe('end\n');
    expect(await containers()).toEqual(['shop-backup exited']);
    await expectNoChange();
    await ok('run', ADDRESS);
    expect(runs()).toBe(2);
  });

  it.each([
    ['step.done', 'create', 0],
    ['step.progress', 'wait', 1],
  ])('must end with the next apply, which runs nothing: %s of %s', async (type, effect, expected) => {
    write('sleep 1; echo 7', 'stdout: true');
    await apply();
    expect((await runUntil(type, effect)).signal).toBe('SIGKILL');
    await apply();
    await expectNoChange();
    expect(runs()).toBe(expected);
    expect(await containers()).toEqual(expected === 1 ? ['shop-backup exited'] : []);
    const { stdout } = await ok('state', 'show', ADDRESS);
    expect(stdout).toMatch(expected === 1 ? /result.*7/ : /result.*null/);
    await ok('run', ADDRESS);
    expect(runs()).toBe(expected + 1);
  });

  it('must run anew when it is asked to, after the one that broke off has ended', async () => {
    write('sleep 1; echo end >> /shared/ends');
    await apply();
    expect((await runUntil('step.progress', 'wait')).signal).toBe('SIGKILL');
    await eventually('the job ends', async () => (await containers())[0] === 'shop-backup exited');
    await ok('run', ADDRESS, '--again');
    expect(runs()).toBe(2);
    await expectNoChange();
  });

  it('must leave the job alone when it is interrupted, and wait for it with the next run', async () => {
    write('until test -e /shared/go; do sleep 0.1; done; echo 7', 'stdout: true');
    await apply();
    const stopped = await runUntil('step.progress', 'wait', 'SIGINT');
    expect(stopped.code, stopped.stdout + stopped.stderr).toBe(130);
    expect(resultOf(stopped)).toMatchObject({ outcome: 'interrupted', run: 'new' });
    expect(await containers()).toEqual(['shop-backup running']);
    writeFileSync(at('go'), '');
    const next = await ok('run', ADDRESS, '--json');
    expect(resultOf(next)).toMatchObject({ run: 'continued', answer: 7 });
    expect(runs()).toBe(1);
    await expectNoChange();
  });
});
