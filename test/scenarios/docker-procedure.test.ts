import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { AccedeEvent } from '../../src/apply/events.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';

let bench: Bench;
let engine: EngineClient;
let images: readonly string[];
let web: { readonly v1: string; readonly v2: string };
let workspace: Workspace;

beforeAll(async () => {
  bench = await Bench.start();
  engine = new EngineClient(bench.engine.host);
  const made = ['one', 'two', 'three', 'four', 'five', 'six'].map(
    async (name) => (await buildImage(bench.engine.host, { name: `shop/${name}`, tag: '1', files: { '/name': name } })).id,
  );
  images = await Promise.all(made);
  const site = async (version: string) => {
    const entrypoint = ['sh', '-c', 'exec httpd -f -p 80 -h /www'];
    return (await buildImage(bench.engine.host, { entrypoint, files: { '/www/index.html': `${version}\n` } })).id;
  };
  web = { v1: await site('v1'), v2: await site('v2') };
}, 120_000);

afterAll(async () => {
  await bench?.stop();
});

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(async () => {
  workspace.remove();
  await bench.clear();
});

const SLEEP = 'command: [sleep, "1000"], stop_signal: KILL, ready: { command: ["true"], interval: 100ms }';

function write(resources: string, more = ''): void {
  const head = `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: shop }\nproviders: { docker: { host: "${bench.engine.host}" } }\n`;
  workspace.write('environment.yaml', `${head}${more}resources:\n${resources}`);
}

const containers = (all: Readonly<Record<string, string>>) =>
  `  docker.container:\n${Object.entries(all)
    .map(([name, text]) => `    ${name}: { ${text} }\n`)
    .join('')}`;

interface Serving {
  readonly id: string;
  readonly startedAt: string;
  readonly policy: string;
  readonly running: boolean;
}

/** By name: id, start time, restart policy. */
async function serving(): Promise<Readonly<Record<string, Serving>>> {
  const seen = await Promise.all(
    (await engine.containers()).map(async ({ id, name }) => {
      const one = (await engine.call('GET', `/containers/${id}/json`)) as {
        readonly State: { readonly StartedAt: string; readonly Running: boolean };
        readonly HostConfig: { readonly RestartPolicy: { readonly Name: string } };
      };
      return [name, { id, startedAt: one.State.StartedAt, policy: one.HostConfig.RestartPolicy.Name, running: one.State.Running }] as const;
    }),
  );
  return Object.fromEntries(seen);
}

const apply = (code = 0, more: readonly string[] = []) =>
  accedeOk(['apply', '--auto-approve', '--json', ...more, workspace.folder], { code });
const eventsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as AccedeEvent);
const planned = async () => JSON.parse((await accede(['plan', '--json', workspace.folder])).stdout) as PlanDocument;

describe('preflight', () => {
  it('must prove all five images before it stops anything, and stop nothing when the third is not there', async () => {
    const five = (offset: number, bad = false) =>
      containers(
        Object.fromEntries(
          ['a', 'b', 'c', 'd', 'e'].map((name, index) => {
            const image = bad && name === 'c' ? `sha256:${'3'.repeat(64)}` : images[(index + offset) % images.length];
            return [name, `image: "${image}", ${SLEEP}`];
          }),
        ),
      );
    write(five(0));
    await apply();
    const before = await serving();
    expect(Object.keys(before)).toHaveLength(5);
    write(five(1, true));
    const { stdout } = await apply(5);
    const begun = eventsOf(stdout).flatMap((event) => (event.type === 'step.intended' ? [event.stage] : []));
    expect([...new Set(begun)]).toEqual(['preflight']);
    expect(await serving()).toEqual(before);
    write(five(1));
    await apply();
  });
});

describe('hooks around a change', () => {
  const api = (round: number) =>
    containers({ api: `image: "${images[0]}", environment: { ROUND: ${round} }, ${SLEEP}`, other: `image: "${images[1]}", ${SLEEP}` });

  it('must take a change back that a hook does not verify, with ids as before', async () => {
    write(api(1));
    await apply();
    const before = await serving();
    write(api(2), 'hooks: { verify: [{ run: [sh, -c, "echo not well >&2; exit 3"] }] }\n');
    const { stdout } = await apply(5);
    expect(stdout).toContain('HOOK_FAILED');
    const after = await serving();
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after['shop-api']?.id).toBe(before['shop-api']?.id);
    expect(after['shop-other']).toEqual(before['shop-other']);
  });

  it('must stop nothing when one that comes first hangs, and leave none of its processes', async () => {
    write(api(1));
    await apply();
    const before = await serving();
    write(api(2), 'hooks: { before: [{ run: [sh, -c, "sleep 603 & echo $! > grandchild; wait"], timeout: 500ms }] }\n');
    await apply(5);
    expect(await serving()).toEqual(before);
    const grandchild = readFileSync(workspace.path('grandchild'), 'utf8').trim();
    await eventually('the grandchild is gone', () => Promise.resolve(!existsSync(`/proc/${grandchild}`)));
  });

  it('must make a backup before protected data goes, and stop nothing when that fails', async () => {
    const data = `  docker.volume:\n    data: {}\n${containers({ db: `image: "${images[0]}", volumes: ["\${docker.volume.data.name}:/data"], ${SLEEP}` })}`;
    const destroy = (code: number) =>
      accede(['destroy', '--include-protected', workspace.folder], { input: 'shop\n' }).then((ran) => {
        expect(ran.code, ran.stdout + ran.stderr).toBe(code);
        return ran;
      });
    write(data);
    await apply();
    const before = await serving();
    expect((await destroy(3)).stdout).toContain('BACKUP_MISSING');
    write(data, 'hooks: { backup: { run: [sh, -c, "test -e go && echo $ACCEDE_CLASS > saved"] } }\n');
    expect((await destroy(5)).stderr).toContain('hook.backup');
    expect(await serving()).toEqual(before);
    workspace.write('go', '');
    await destroy(0);
    expect(readFileSync(workspace.path('saved'), 'utf8')).toBe('destroy\n');
    expect(await serving()).toEqual({});
  });
});

describe('quiesce on a real engine', () => {
  const api = containers({ api: `image: "${'$'}{vars.image}", ${SLEEP}` });
  const head = (quiesce: string, hooks = '') => `variables: { image: { default: "${images[0]}" } }\nquiesce: ${quiesce}\n${hooks}`;

  async function legacy(name: string): Promise<string> {
    const body = {
      Image: images[1],
      Cmd: ['sleep', '1000'],
      Labels: { app: 'legacy' },
      StopSignal: 'KILL',
      HostConfig: { RestartPolicy: { Name: 'always' } },
    };
    const made = (await engine.call('POST', `/containers/create?name=${name}`, body)) as { readonly Id: string };
    await engine.call('POST', `/containers/${made.Id}/start`);
    return made.Id;
  }

  it('must stop containers by their label with their autostart, before anything new starts', async () => {
    await legacy('old-one');
    await legacy('old-two');
    await engine.run('bystander', images[1] ?? '', ['sleep', '1000']);
    write(api, head('{ containers: { label: app=legacy } }'));
    expect((await planned()).succession.stages).toEqual(['preflight', 'quiesce', 'start']);
    await apply();
    const after = await serving();
    expect(after['old-one']).toMatchObject({ running: false, policy: 'no' });
    expect(after['old-two']).toMatchObject({ running: false, policy: 'no' });
    expect(after['bystander']).toMatchObject({ running: true });
    expect(after['shop-api']).toMatchObject({ running: true });
  });

  it('must start them again, with their autostart, when the run goes back', async () => {
    const id = await legacy('old-one');
    write(api, head('{ containers: { label: app=legacy } }', 'hooks: { verify: [{ run: ["false"] }] }\n'));
    await apply(5);
    const after = await serving();
    expect(Object.keys(after)).toEqual(['old-one']);
    expect(after['old-one']).toMatchObject({ id, running: true, policy: 'always' });
  });

  it('must change nothing where the service manager cannot be asked, as on this machine', async () => {
    await legacy('old-one');
    const before = await serving();
    write(api, head('{ units: [legacy.service], containers: { label: app=legacy } }'));
    const { stdout } = await apply(5);
    expect(stdout).toContain('QUIESCE_NOT_PROVEN');
    expect(await serving()).toEqual(before);
  });

  it('must end processes of an executable and prove that none is left', async () => {
    const server = workspace.path('legacy-server');
    copyFileSync('/bin/sleep', server);
    const child = spawn(server, ['600'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)));
    write(api, head(`{ processes: ["${server}"] }`));
    await apply();
    expect(await ended).toBe('SIGTERM');
  });
});

describe('an outage', () => {
  const stack = (version: string, port: number) =>
    containers({
      web: `image: "${version}", ports: ["127.0.0.1:${port}:80"], stop_signal: KILL, ready: { http: "http://127.0.0.1:${port}/", interval: 100ms }`,
      follower: `image: "${images[0]}", depends_on: [{ address: docker.container.web, restart: true }], restart: always, ${SLEEP}`,
      loose: `image: "${images[1]}", depends_on: [docker.container.web], ${SLEEP}`,
      aside: `image: "${images[2]}", ${SLEEP}`,
    });

  it('must be what the plan promises: one replaced, one restarted with it, the rest untouched, the gap as the evidence says', async () => {
    const port = await freePort();
    write(stack(web.v1, port));
    await apply();
    const before = await serving();
    write(stack(web.v2, port));
    const plan = await planned();
    expect(plan.outageAddresses).toEqual(['docker.container.follower', 'docker.container.web']);
    expect(plan.affected).toEqual(['docker.container.loose']);
    const gap = new GapLoop(`http://127.0.0.1:${port}/`);
    const { stdout } = await apply();
    const measured = await gap.stop();
    const after = await serving();
    expect(after['shop-loose']).toEqual(before['shop-loose']);
    expect(after['shop-aside']).toEqual(before['shop-aside']);
    expect(after['shop-follower']).toMatchObject({ id: before['shop-follower']?.id, policy: 'always', running: true });
    expect(after['shop-follower']?.startedAt).not.toBe(before['shop-follower']?.startedAt);
    expect(after['shop-web']?.id).not.toBe(before['shop-web']?.id);
    const serial = eventsOf(stdout).find((event) => event.type === 'operation.started')?.serial;
    const { stdout: text } = await accedeOk(['evidence', 'show', String(serial), '--json', workspace.folder]);
    const { outage } = JSON.parse(text) as {
      readonly outage: readonly { readonly address: string; readonly downAt: string; readonly readyAt: string }[];
    };
    expect(outage.map(({ address }) => address)).toEqual(['docker.container.follower', 'docker.container.web']);
    const [, ofWeb] = outage;
    // The last answer of the old one comes after the stop began, the first of the new one before it is found ready.
    expect(measured.last).toBeGreaterThanOrEqual(Date.parse(ofWeb?.downAt ?? '') - 50);
    expect(measured.first).toBeLessThanOrEqual(Date.parse(ofWeb?.readyAt ?? '') + 50);
    expect(measured.first).toBeGreaterThan(measured.last);
    expect((await accede(['plan', '--detailed-exitcode', workspace.folder])).code).toBe(0);
  });
});

/** Asks without pause, and remembers when the last answer before the longest silence and the first after it came. */
class GapLoop {
  readonly #answers: number[] = [];
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(url: string) {
    this.#done = this.#run(url);
  }

  async #run(url: string): Promise<void> {
    while (!this.#stopped) {
      const isAnswer = await new Promise<boolean>((resolve) => {
        const asked = get(url, { agent: false, timeout: 500 }, (reply) => {
          reply.resume();
          reply.on('end', () => resolve(reply.statusCode === 200));
          reply.on('error', () => resolve(false));
        });
        asked.on('timeout', () => asked.destroy());
        asked.on('error', () => resolve(false));
      });
      if (isAnswer) this.#answers.push(Date.now());
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async stop(): Promise<{ readonly last: number; readonly first: number }> {
    this.#stopped = true;
    await this.#done;
    let longest = { last: 0, first: 0 };
    for (const [index, first] of this.#answers.entries()) {
      const last = this.#answers[index - 1] ?? first;
      if (first - last > longest.first - longest.last) longest = { last, first };
    }
    return longest;
  }
}
