import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

const KILLS = 24;

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let workspace: Workspace;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-kil-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'kill', tag: '1' })).id;
  workspace = new Workspace();
});

afterAll(async () => {
  await docker?.stop();
  workspace?.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

/** Two networks, two volumes and six containers on them; what is asked of each changes from round to round. */
function documents(round: number): string {
  const containers = Array.from({ length: 6 }, (_, index) => {
    const first = index % 2 === 0 ? 'true' : 'false';
    const turn = (round + index) % 3;
    return `    c${index}:
      image: "${image}"
      command: [sleep, "1000"]
      stop_signal: SIGKILL
      environment: { TURN: "${turn}" }
      networks: ["\${docker.network.n${index % 2}.name}"]
      volumes: ["\${docker.volume.v${index % 2}.name}:/data"]
      ready: { command: ["true"], timeout: 20s }
      lifecycle: { create_before_destroy: ${first} }
`;
  });
  const present = containers.filter((_, index) => (round + index) % 4 !== 0);
  return `apiVersion: accede/v1
kind: Environment
metadata: { name: kill }
providers:
  docker: { host: "${docker.host}" }
resources:
  docker.network: { n0: {}, n1: {} }
  docker.volume: { v0: { lifecycle: { prevent_destroy: false } }, v1: { lifecycle: { prevent_destroy: false } } }
  docker.container:
${present.join('')}`;
}

async function expectDesired(round: number): Promise<void> {
  const wanted = Array.from({ length: 6 }, (_, index) => index).filter((index) => (round + index) % 4 !== 0);
  const containers = await engine.containers();
  expect(containers.map(({ name, state }) => `${name} ${state}`)).toEqual(wanted.map((index) => `kill-c${index} running`));
  for (const index of wanted) expect((await engine.container(`kill-c${index}`)).env).toContain(`TURN=${(round + index) % 3}`);
}

describe('kill -9 at any moment of an apply on an engine', () => {
  it('must leave no object twice, none forgotten, and nothing that the next apply cannot end', async () => {
    let seed = 99;
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    let duration = 4000;
    for (let killed = 0, round = 1; killed < KILLS; round++) {
      workspace.write('environment.yaml', documents(round));
      const begun = performance.now();
      const delay = 300 + random() * (duration - 300);
      const ran = await accede(['apply', '--auto-approve', workspace.folder], {
        started: (child) => {
          setTimeout(() => child.kill('SIGKILL'), delay);
        },
      });
      if (ran.signal === 'SIGKILL') killed += 1;
      else {
        expect(ran.code, ran.stdout + ran.stderr).toBe(0);
        duration = performance.now() - begun;
      }
      const plan = await accede(['plan', '--detailed-exitcode', workspace.folder]);
      expect([0, 2], plan.stdout + plan.stderr).toContain(plan.code);
      if (plan.code === 0) await expectDesired(round);
      if (round % 3 !== 0) continue;
      await accedeOk(['apply', '--auto-approve', workspace.folder]);
      // The engine may go on with what a killed run had asked for, after the apply that looked for it. The next one finds it.
      await accedeOk(['apply', '--auto-approve', workspace.folder]);
      await expectDesired(round);
      await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
      expect((await engine.marked('kill')).filter((name) => !name.startsWith('container'))).toEqual([
        'network kill-n0',
        'network kill-n1',
        'volume kill-v0',
        'volume kill-v1',
      ]);
    }
    for (let settled = 0; settled < 2; settled++) await accedeOk(['apply', '--auto-approve', workspace.folder]);
    await accedeOk(['destroy', '--auto-approve', workspace.folder]);
    expect(await engine.marked('kill')).toEqual([]);
    expect(await engine.containers()).toEqual([]);
  });
});
