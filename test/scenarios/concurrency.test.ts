import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccedeEvent } from '../../src/apply/events.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const documents = (values: Readonly<Record<string, string>>, extra = '') => `apiVersion: accede/v1
kind: Environment
metadata: { name: team }
locals: { values: ${JSON.stringify(values)} }
resources:
  local.value:
    v: { for_each: "\${locals.values}", input: "\${each.value}" }
${extra}`;

const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, 'x']));

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace({ 'environment.yaml': documents({ a: '1' }) });
});
afterEach(() => workspace.remove());

const state = async () => (await accedeOk(['state', 'pull', workspace.folder])).stdout;

describe('two applies at once', () => {
  it('must let one work and turn the other away with 75, unchanged', async () => {
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    workspace.write('environment.yaml', documents(many));
    const events: AccedeEvent[] = [];
    let late: ReturnType<typeof accede> | undefined;
    const first = accede(['apply', '--auto-approve', '--json', workspace.folder], {
      started: (child) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          // The second one comes while the first holds the lock.
          if (late === undefined && chunk.toString().includes('"lock.acquired"')) {
            late = accede(['apply', '--auto-approve', '--json', '--lock-timeout', '1ms', workspace.folder]);
          }
        });
      },
    });
    const done = await first;
    const turnedAway = await late;
    expect(done.code, done.stderr).toBe(0);
    for (const line of done.stdout.trim().split('\n')) events.push(JSON.parse(line) as AccedeEvent);
    expect(events.at(-1)).toMatchObject({ type: 'operation.done' });
    expect(turnedAway?.code, turnedAway?.stdout).toBe(75);
    expect(turnedAway?.stdout).toContain('LOCK_BUSY');
    expect((JSON.parse(await state()) as { readonly serial: number }).serial).toBe(2);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });

  it('must find its plan spent when the other one applied the same', async () => {
    await accedeOk(['plan', '--out', workspace.path('mine.json'), workspace.folder]);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const stale = await accede(['apply', workspace.path('mine.json'), '--auto-approve', '--lock-timeout', '20s', workspace.folder]);
    expect(stale.code, stale.stdout + stale.stderr).toBe(4);
  });
});

describe('a saved plan', () => {
  it('must be stale after somebody else applied, and change nothing', async () => {
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    workspace.write('environment.yaml', documents({ a: '2' }));
    await accedeOk(['plan', '--out', workspace.path('mine.json'), workspace.folder]);
    workspace.write('environment.yaml', documents({ a: '1', b: '1' }));
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    workspace.write('environment.yaml', documents({ a: '2' }));
    const before = await state();
    const stale = await accede(['apply', workspace.path('mine.json'), '--auto-approve', workspace.folder]);
    expect(stale.code).toBe(4);
    expect(stale.stderr).toContain('PLAN_STALE');
    expect(await state()).toBe(before);
  });

  it('must be spent once', async () => {
    await accedeOk(['plan', '--out', workspace.path('mine.json'), workspace.folder]);
    await accedeOk(['apply', workspace.path('mine.json'), '--auto-approve', workspace.folder]);
    const again = await accede(['apply', workspace.path('mine.json'), '--auto-approve', workspace.folder]);
    expect(again.code).toBe(4);
    expect(again.stderr).toContain('PLAN_SPENT');
    await accedeOk(['apply', workspace.path('mine.json'), '--auto-approve', '--if-done', 'ok', workspace.folder]);
  });

  it('must be refused when a byte of it was changed', async () => {
    await accedeOk(['plan', '--out', workspace.path('mine.json'), workspace.folder]);
    workspace.write('mine.json', workspace.read('mine.json').replace('"class":"initial"', '"class":"no-op"'));
    const damaged = await accede(['apply', workspace.path('mine.json'), '--auto-approve', workspace.folder]);
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toContain('PLAN_DAMAGED');
  });

  it('must be held against the digest and class that were approved', async () => {
    await accedeOk(['plan', '--out', workspace.path('mine.json'), workspace.folder]);
    const { digest } = JSON.parse(workspace.read('mine.json')) as PlanDocument;
    const other = await accede(['apply', workspace.path('mine.json'), '--auto-approve', '--expect-digest', `sha256:${'0'.repeat(64)}`]);
    expect(other.code).toBe(4);
    expect((await accede(['apply', workspace.path('mine.json'), '--auto-approve', '--expect-class', 'composite'])).code).toBe(3);
    await accedeOk(['apply', workspace.path('mine.json'), '--auto-approve', '--expect-digest', digest, '--expect-class', 'initial']);
  });
});

describe('a signal during an apply', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`must on ${signal} finish what runs, record it, give the lock back and end with 130`, async () => {
      workspace.write('environment.yaml', documents(many));
      const ran = await accede(['apply', '--auto-approve', '--json', workspace.folder], {
        started: (child) => {
          let sent = false;
          child.stdout?.on('data', (chunk: Buffer) => {
            if (sent || !chunk.toString().includes('"step.done"')) return;
            sent = true;
            child.kill(signal);
          });
        },
      });
      expect(ran.code, ran.stderr).toBe(130);
      const last = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as {
        readonly result: { readonly steps: { readonly done: readonly string[]; readonly notDone: readonly string[] } };
      };
      expect(last.result.steps.done.length).toBeGreaterThan(0);
      expect(last.result.steps.notDone.length).toBeGreaterThan(0);
      const { resources } = JSON.parse(await state()) as { readonly resources: readonly unknown[] };
      expect(resources).toHaveLength(last.result.steps.done.length);
      const status = await accedeOk(['status', '--json', workspace.folder]);
      expect(JSON.parse(status.stdout)).toMatchObject({ lock: null });
      await accedeOk(['apply', '--auto-approve', workspace.folder]);
      await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
    });
  }
});
