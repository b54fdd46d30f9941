import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import type { AccedeEvent } from '../../src/apply/events.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';
import { RequestLoop, type Traffic, TurnProxy } from '../support/traffic.ts';
import { Workspace } from '../support/workspace.ts';

/** Requests of the loop per second. */
const RATE = 100;

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let images: { readonly v1: string; readonly v2: string; readonly sick: string; readonly halfSick: string };
let workspace: Workspace;
let proxy: TurnProxy;
let loop: RequestLoop;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-rol-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  // A page that is there at once, and one that takes a while, so that some requests are always under way.
  const site = (version: string, start = 'exec httpd -f -p 80 -h /www -c /etc/httpd.conf') => ({
    entrypoint: ['sh', '-c', start],
    files: {
      '/etc/httpd.conf': '*.sh:/bin/sh\n',
      '/www/index.html': `${version}\n`,
      '/www/slow.sh': `sleep 0.4\nprintf 'Content-Type: text/plain\\r\\n\\r\\n${version} slowly\\n'\n`,
    },
  });
  const build = async (spec: ReturnType<typeof site>) => (await buildImage(docker.host, spec)).id;
  images = {
    v1: await build(site('v1')),
    v2: await build(site('v2')),
    sick: await build(site('sick', 'sleep 1000000')),
    halfSick: await build(site('half sick', '[ "$KEY" = b ] && exec sleep 1000000; exec httpd -f -p 80 -h /www -c /etc/httpd.conf')),
  };
});

afterAll(async () => {
  await docker?.stop();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

beforeEach(async () => {
  workspace = new Workspace();
  write(images.v1);
  await accedeOk(['apply', '--auto-approve', workspace.folder]);
  proxy = new TurnProxy(workspace.path('upstreams.json'));
  const port = await proxy.start();
  const url = (path: string) => `http://127.0.0.1:${port}/${path}`;
  loop = new RequestLoop([url('slow.sh'), ...Array.from({ length: 9 }, () => url('index.html'))], RATE);
});

afterEach(async () => {
  await loop.stop();
  await proxy.stop();
  workspace.remove();
  for (const { id } of await engine.containers()) await engine.remove(id);
});

function write(image: string, more = ''): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: rolling }
providers:
  docker: { host: "${docker.host}" }
defaults:
  docker.container:
    update: { batch: 1, order: start-first, pause: 1s, drain: 2s }
resources:
  docker.container:
    web:
      for_each: [a, b]
      image: "${image}"
      environment: { KEY: "\${each.key}" }
      ports: ["127.0.0.1::80"]
      stop_signal: KILL
      ready: { http: { url: "http://127.0.0.1/index.html", in: container }, interval: 100ms, timeout: 4s }
${more}  local.file:
    upstreams:
      path: upstreams.json
      content: '\${json(["a", "b"].map(k, docker.container.web[k].published_ports["80/tcp"]))}'
`,
  );
}

/** The live containers of this environment by name, with their ids. */
async function running(): Promise<ReadonlyMap<string, string>> {
  return new Map((await engine.containers()).filter(({ state }) => state === 'running').map(({ name, id }) => [name, id]));
}

/** Says what became of the requests, for the reader of the test's output. */
function account(what: string, { sent, failed, answers }: Traffic): void {
  const texts = [...answers].map(([text, number]) => `${number} ${text}`).sort();
  process.stdout.write(`${what}: ${sent} requests, ${failed.length} failed; ${texts.join(', ')}\n`);
}

const at = (events: readonly AccedeEvent[], type: string, step: string) => {
  const event = events.find((one) => one.type === type && 'step' in one && one.step === step);
  if (event === undefined) throw new Error(`no ${type} of ${step}`);
  return Date.parse(event.time);
};

describe('two instances behind a proxy, replaced start-first one after another', () => {
  it('must lose no request through a change of the image', async () => {
    const before = await running();
    await eventually('both answer', async () => loop.seen('v1') > RATE);
    write(images.v2);
    const plan = JSON.parse((await accedeOk(['plan', '--json', workspace.folder])).stdout) as PlanDocument;
    expect(plan.rolling).toEqual([
      {
        resource: 'docker.container.web',
        batches: [
          { addresses: ['docker.container.web["a"]'], pause: 1 },
          { addresses: ['docker.container.web["b"]'], pause: 0 },
        ],
      },
    ]);
    expect(plan.outageAddresses).toEqual([]);
    const { stdout } = await accedeOk(['apply', '--json', '--auto-approve', workspace.folder]);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AccedeEvent);
    const [a, b] = ['docker.container.web["a"]', 'docker.container.web["b"]'];
    expect(at(events, 'step.intended', `${b}:set-aside`) - at(events, 'step.done', `${a}:ready`)).toBeGreaterThanOrEqual(990);
    const routed = at(events, 'step.done', 'local.file.upstreams:update');
    expect(at(events, 'step.intended', `${a}:retire`) - routed).toBeGreaterThanOrEqual(1990);
    expect(at(events, 'step.intended', `${b}:retire`) - routed).toBeGreaterThanOrEqual(1990);

    const seen = loop.seen('v2');
    await eventually('the new ones answer', async () => loop.seen('v2') > seen + RATE);
    const traffic = await loop.stop();
    account('image v1 to v2', traffic);
    expect(traffic.failed).toEqual([]);
    expect([...traffic.answers.keys()].sort()).toEqual(['v1', 'v1 slowly', 'v2', 'v2 slowly']);
    const after = await running();
    expect([...after.keys()]).toEqual(['rolling-web-a', 'rolling-web-b']);
    for (const [name, id] of before) expect(after.get(name)).not.toBe(id);
    expect(await engine.containers()).toHaveLength(2);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });

  it.each(['sick', 'halfSick'] as const)('must lose no request through a change to an image that never gets ready: %s', async (which) => {
    const before = await running();
    await eventually('both answer', async () => loop.seen('v1') > RATE);
    write(images[which]);
    const failed = await accede(['apply', '--auto-approve', workspace.folder]);
    expect(failed.code, failed.stdout + failed.stderr).toBe(5);
    const seen = loop.seen('v1');
    await eventually('the old ones answer', async () => loop.seen('v1') > seen + RATE);
    const traffic = await loop.stop();
    account(`image v1 to one that is ${which}`, traffic);
    expect(traffic.failed).toEqual([]);
    expect([...traffic.answers.keys()].sort()).toEqual(['v1', 'v1 slowly']);
    expect(await running()).toEqual(before);
    expect(await engine.containers()).toHaveLength(2);
    write(images.v1);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});

describe('a failure after everything has gone over to the new ones', () => {
  it('must lose no request on the way back either', async () => {
    const before = await running();
    await eventually('both answer', async () => loop.seen('v1') > RATE);
    write(
      images.v2,
      `    last: { image: "${images.v2}", depends_on: [local.file.upstreams], stop_signal: KILL, ready: { command: ["false"], timeout: 1s } }\n`,
    );
    const failed = await accede(['apply', '--auto-approve', workspace.folder]);
    expect(failed.code, failed.stdout + failed.stderr).toBe(5);
    const seen = loop.seen('v1');
    await eventually('the old ones answer', async () => loop.seen('v1') > seen + RATE);
    const traffic = await loop.stop();
    account('image v1 to v2 and back', traffic);
    expect(traffic.failed).toEqual([]);
    expect([...traffic.answers.keys()].sort()).toEqual(['v1', 'v1 slowly', 'v2', 'v2 slowly']);
    expect(await running()).toEqual(before);
  });
});

describe('a container with a fixed port', () => {
  const other = (image: string) =>
    `    fixed: { image: "${image}", ports: ["127.0.0.1:${18_000 + (process.pid % 1000)}:80"], stop_signal: KILL, ready: { command: ["true"] } }\n`;

  it('must be refused start-first in the plan, before anything is touched, with what to write instead', async () => {
    write(images.v1, other(images.v1));
    const first = await accedeOk(['apply', '--auto-approve', workspace.folder]);
    expect(first.stdout + first.stderr).toContain('START_FIRST_IMPOSSIBLE');
    const before = await running();
    write(images.v1, other(images.v2));
    const refused = await accede(['plan', workspace.folder]);
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain('docker.container.fixed.ports   START_FIRST_IMPOSSIBLE');
    expect(refused.stdout.replace(/\s+/g, ' ')).toContain('Let the engine choose a free port, "127.0.0.1::80"');
    expect((await accede(['apply', '--auto-approve', workspace.folder])).code).toBe(3);
    expect(await running()).toEqual(before);
  });
});
