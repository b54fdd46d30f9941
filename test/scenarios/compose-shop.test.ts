import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/environments/compose-shop');

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let shop: string;
let image: string;
let port: number;
let variables: readonly string[];

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-shop-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  const built = await buildImage(docker.host, { name: 'shop', tag: '1' });
  image = built.id;
  shop = path.join(work, 'shop');
  cpSync(EXAMPLE, shop, { recursive: true });
  port = await freePort();
  const given = { docker_host: docker.host, web_image: image, api_image: image, worker_image: image, http_port: String(port) };
  variables = Object.entries(given).flatMap(([name, value]) => ['--var', `${name}=${value}`]);
});

afterAll(async () => {
  await docker?.stop();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

const plan = (...more: readonly string[]) => accede(['plan', '--detailed-exitcode', ...variables, ...more, shop]);
const apply = (...more: readonly string[]) => accede(['apply', '--auto-approve', ...variables, ...more, shop]);
const document = async (...more: readonly string[]) =>
  JSON.parse((await accede(['plan', '--json', ...variables, ...more, shop])).stdout) as PlanDocument;
const changed = (planned: PlanDocument) =>
  planned.changes
    .filter((change) => change.action !== 'noop')
    .map((change) => `${change.action} ${change.address}: ${change.paths.map(({ path: at }) => at).join(', ')}`);
const page = async () => (await fetch(`http://127.0.0.1:${port}/`)).text();
const edit = (from: string, to: string) => {
  const file = path.join(shop, 'environment.yaml');
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`the example holds no ${from}`);
  writeFileSync(file, text.replace(from, to));
};

describe('a shop of three containers', () => {
  it('must be planned, applied, answer, and then need nothing', async () => {
    const first = await plan();
    expect(first.code, first.stderr).toBe(2);
    expect(first.stdout).toContain('Successor: initial');
    const applied = await apply();
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    expect(await page()).toContain('Welcome');
    const url = await accedeOk(['output', 'url', ...variables, shop]);
    expect(url.stdout.trim()).toBe(`http://127.0.0.1:${port}/`);
    const again = await plan();
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).toContain('No changes.');
  });

  it('must need nothing after its containers and its engine were restarted', async () => {
    await engine.restart('compose-shop-worker');
    expect((await plan()).code).toBe(0);
    await docker.restart();
    await eventually('all containers run again', async () => (await engine.containers()).every(({ state }) => state === 'running'));
    const again = await plan();
    expect(again.code, again.stdout).toBe(0);
  });

  it('must show one changed line as exactly that change, and touch nothing else', async () => {
    const before = await engine.containers();
    edit('<h1>Welcome</h1>', '<h1>Come in</h1>');
    const planned = await document();
    expect(changed(planned)).toEqual(['replace docker.container.web: configs["/srv/index.html"].content']);
    expect(planned.outageAddresses).toEqual(['docker.container.web']);
    const applied = await apply();
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    expect(await page()).toContain('Come in');
    expect((await plan()).code).toBe(0);
    const kept = (list: typeof before) => list.filter(({ name }) => name !== 'compose-shop-web').map(({ id }) => id);
    expect(kept(await engine.containers())).toEqual(kept(before));
  });

  it('must change in place what the engine can change in place', async () => {
    const before = await engine.containers();
    const quiet = ['--var', 'log_level=info'];
    edit('role: worker\n', 'role: worker\n      mem_limit: 64m\n      memswap_limit: 64m\n');
    const planned = await document(...quiet);
    expect(changed(planned)).toEqual(['update docker.container.worker: mem_limit, memswap_limit']);
    expect((await apply(...quiet)).code).toBe(0);
    expect((await engine.containers()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect((await plan(...quiet)).code).toBe(0);
  });

  it('must bring back by drift-repair what was removed or stopped by hand', async () => {
    await engine.remove('compose-shop-worker');
    await engine.stop('compose-shop-api');
    const planned = await document();
    expect(planned.succession.class).toBe('drift-repair');
    expect(planned.drift.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'stopped docker.container.api',
      'missing docker.container.worker',
    ]);
    const applied = await apply();
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    expect((await engine.containers()).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'compose-shop-api running',
      'compose-shop-web running',
      'compose-shop-worker running',
    ]);
    expect((await plan()).code).toBe(0);
  });

  it('must see by its path what was changed by hand, and put it back', async () => {
    await engine.call('POST', '/containers/compose-shop-web/update', { RestartPolicy: { Name: 'always' } });
    const planned = await document();
    expect(planned.succession.class).toBe('drift-repair');
    expect(changed(planned)).toEqual(['update docker.container.web: restart']);
    expect((await apply()).code).toBe(0);
    expect((await plan()).code).toBe(0);
  });

  it('must refuse a foreign container in the place of its own, and leave it alone', async () => {
    await engine.remove('compose-shop-worker');
    const foreign = await engine.run('compose-shop-worker', image, ['sleep', '1000']);
    const refused = await plan();
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain('CONTAINER_FOREIGN');
    const applied = await apply();
    expect(applied.code).toBe(3);
    const stays = await engine.container('compose-shop-worker');
    expect(stays).toMatchObject({ id: foreign, running: true });
    await engine.remove('compose-shop-worker');
    expect((await apply()).code).toBe(0);
  });

  it('must make a plan stale when a live object moved after it, and change nothing', async () => {
    const file = path.join(work, 'plan.json');
    const made = await accede(['plan', ...variables, '--var', 'log_level=debug', '--out', file, shop]);
    expect(made.code, made.stderr).toBe(0);
    await engine.stop('compose-shop-web');
    const before = await engine.containers();
    const stale = await accede(['apply', file, '--auto-approve', shop]);
    expect(stale.code, stale.stdout + stale.stderr).toBe(4);
    expect(await engine.containers()).toEqual(before);
    await engine.call('POST', '/containers/compose-shop-web/start');
    const applied = await accede(['apply', file, '--auto-approve', shop]);
    expect(applied.code, applied.stdout + applied.stderr).toBe(0);
    const spent = await accede(['apply', file, '--auto-approve', shop]);
    expect(spent.code).toBe(4);
    expect((await accede(['apply', file, '--auto-approve', '--if-done', 'ok', shop])).code).toBe(0);
    expect((await engine.container('compose-shop-api')).env).toContain('LOG_LEVEL=debug');
    expect((await apply()).code).toBe(0);
  });

  it('must fail at once, with the last log lines, when a container exits while it is awaited, and serve as before', async () => {
    const { id } = await engine.container('compose-shop-web');
    const command = '[busybox, sh, -c, "echo the-cellar-is-flooded; exit 7"]';
    edit('command: [busybox, httpd, -f, -p, "80", -h, /srv]', `command: ${command}`);
    const begun = performance.now();
    const failed = await apply();
    expect(failed.code, failed.stdout + failed.stderr).toBe(5);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(failed.stdout + failed.stderr).toContain('the-cellar-is-flooded');
    expect(failed.stdout + failed.stderr).toMatch(/exit(ed|) .*7/);
    expect(await engine.container('compose-shop-web')).toMatchObject({ id, running: true });
    expect(await page()).toContain('Come in');
    edit(`command: ${command}`, 'command: [busybox, httpd, -f, -p, "80", -h, /srv]');
    expect((await plan()).code).toBe(0);
  });

  it('must refuse to destroy the volume by default, and leave nothing of ours when asked for it by name', async () => {
    const held = await accede(['destroy', '--auto-approve', ...variables, shop]);
    expect(held.code).toBe(3);
    expect(held.stdout).toContain('PROTECTED');
    expect(await engine.marked('compose-shop')).toHaveLength(5);
    const kept = await accede(['destroy', '--auto-approve', '--keep-protected', ...variables, shop]);
    expect(kept.code, kept.stdout + kept.stderr).toBe(0);
    expect(await engine.marked('compose-shop')).toEqual(['volume compose-shop-orders']);
    const gone = await accede(['destroy', '--include-protected', ...variables, shop], { input: 'compose-shop\nyes\n' });
    const goneOrAsked = gone.code === 0 ? gone : await accede(['destroy', '--auto-approve', '--include-protected', ...variables, shop]);
    expect(goneOrAsked.code, goneOrAsked.stdout + goneOrAsked.stderr).toBe(0);
    expect(await engine.marked('compose-shop')).toEqual([]);
  });
});
