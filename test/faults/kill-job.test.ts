import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, accedeOk, type Ran } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

const ADDRESS = 'docker.job.migrate';

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let workspace: Workspace;
let round = 0;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-kjb-');
  mkdirSync(join(work, 'shared'));
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'kill/job', tag: '1' })).id;
  workspace = new Workspace();
});

afterAll(async () => {
  await docker?.stop();
  workspace?.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

/** A job that notes each of its runs, works for a while and leaves a receipt. */
function write(inputs: string): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: kill }
providers:
  docker: { host: "${docker.host}" }
resources:
  docker.job:
    migrate:
      image: "${image}"
      command: [sh, -c, 'echo "$ROUND" >> /shared/runs; sleep 1; echo "end $ROUND" >> /shared/runs; echo "{\\"round\\": $ROUND}" > /tmp/r.json']
      environment: { ROUND: "${round}" }
      volumes: ["${work}/shared:/shared"]
      output: /tmp/r.json
      inputs: ${inputs}
outputs:
  result: { value: "\${docker.job.migrate.result}" }
`,
  );
}

function runs(): readonly string[] {
  return readFileSync(join(work, 'shared', 'runs'), 'utf8')
    .trim()
    .split('\n');
}

/** Applies and sends the process a signal as soon as it tells this event of a step of the job. */
function applyUntil(type: string, effect: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<Ran> {
  return accede(['apply', '--json', '--auto-approve', workspace.folder], {
    started: (child) => {
      let text = '';
      let isSent = false;
      child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const events = text
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as { readonly [name: string]: unknown });
        if (isSent || !events.some((event) => event['type'] === type && event['step'] === `${ADDRESS}:${effect}`)) return;
        isSent = true;
        child.kill(signal);
      });
    },
  });
}

async function expectOneRun(): Promise<void> {
  const plan = await accede(['plan', '--detailed-exitcode', workspace.folder]);
  expect(plan.code, plan.stdout + plan.stderr).toBe(0);
  expect(runs().filter((line) => line === String(round))).toHaveLength(1);
  const containers = await engine.containers();
  expect(containers.map(({ name, state }) => `${name} ${state}`)).toEqual(['kill-migrate exited']);
}

describe('kill -9 at each step of a job', () => {
  it.each([
    ['step.intended', 'create'],
    ['step.done', 'create'],
    ['step.intended', 'start'],
    ['step.done', 'start'],
    ['step.intended', 'wait'],
    ['step.progress', 'wait'],
    ['step.done', 'wait'],
    ['step.intended', 'collect'],
    ['step.done', 'collect'],
    ['step.intended', 'clear'],
    ['step.done', 'clear'],
  ])('must end with the next apply and without a second run: %s of %s', async (type, effect) => {
    // Once where the job is made for the first time, once where it replaces an earlier run whose inputs differ in what the engine shows and in what it does not.
    for (const isFirst of effect === 'clear' ? [false] : [true, false]) {
      if (isFirst) await accede(['destroy', '--auto-approve', workspace.folder]);
      else if ((await engine.containers()).length === 0) {
        round += 1;
        write('{}');
        await accedeOk(['apply', '--auto-approve', workspace.folder]);
      }
      round += 1;
      write(`{ round: ${round} }`);
      const killed = await applyUntil(type, effect);
      expect(killed.signal, killed.stdout + killed.stderr).toBe('SIGKILL');
      await accedeOk(['apply', '--auto-approve', workspace.folder]);
      await expectOneRun();
      const { stdout } = await accedeOk(['output', '--json', workspace.folder]);
      expect(stdout).toContain(`{"round":${round}}`);
    }
  });

  it('must end also when it is killed twice in a row at different steps', async () => {
    for (const [first, second] of [
      ['create', 'wait'],
      ['create', 'start'],
      ['start', 'wait'],
      ['wait', 'collect'],
    ] as const) {
      round += 1;
      write('{}');
      expect((await applyUntil('step.intended', first)).signal).toBe('SIGKILL');
      await applyUntil('step.intended', second);
      await accedeOk(['apply', '--auto-approve', workspace.folder]);
      await expectOneRun();
    }
  });

  it('must let a run that goes on come to its end before one with other inputs takes its place', async () => {
    round += 1;
    write('{}');
    expect((await applyUntil('step.progress', 'wait')).signal).toBe('SIGKILL');
    const before = round;
    round += 1;
    write('{}');
    // The first run cannot be taken back: other documents go on from where it stands.
    await accedeOk(['recover', '--forward', '--auto-approve', workspace.folder]);
    expect(runs().slice(-4)).toEqual([String(before), `end ${before}`, String(round), `end ${round}`]);
    await expectOneRun();
  });

  it('must leave the run alone when it is asked to stop, and take its result up afterwards', async () => {
    round += 1;
    write('{}');
    const stopped = await applyUntil('step.progress', 'wait', 'SIGINT');
    expect(stopped.code, stopped.stdout + stopped.stderr).not.toBe(0);
    expect(stopped.stderr).not.toMatch(/bug/i);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    await expectOneRun();
  });
});
