import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { EngineProxy } from '../scenarios/docker-proxy.ts';
import { EngineClient } from '../support/engine-client.ts';
import { type Loss, MysqlProxy } from '../support/mysql-proxy.ts';
import { Workspace } from '../support/workspace.ts';
import { Lane } from './crash/lane.ts';
import { engineHead, engineScene, hostScene } from './crash/scene.ts';

let work: string;
let docker: DockerServer;
let mariadb: MariadbServer;
let engine: EngineClient;
let image: string;
const workspaces: Workspace[] = [];

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-lst-');
  for (const folder of ['db', 'engine', 'shared']) mkdirSync(join(work, folder));
  [mariadb, docker] = await Promise.all([startMariadb(join(work, 'db')), startDocker(join(work, 'engine'))]);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'lost', tag: '1' })).id;
  await engine.run('bystander', image, ['sleep', '100000']);
});

afterAll(async () => {
  await docker?.stop();
  await mariadb?.stop();
  for (const workspace of workspaces) workspace.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

function placeOf(environment: string): { readonly workspace: Workspace; readonly fakeWorld: string } {
  const workspace = new Workspace();
  workspaces.push(workspace);
  const fakeWorld = join(work, `${environment}.jsonl`);
  writeFileSync(fakeWorld, '');
  return { workspace, fakeWorld };
}

describe('a reply of an engine that is lost after the engine did what was asked', () => {
  it('must be found out by looking: nothing is done twice, nothing that destroys is asked for twice, whichever reply it is', async () => {
    const environment = 'lost';
    const place = placeOf(environment);
    const proxy = new EngineProxy(join(work, 'proxy.sock'), docker.host.replace('unix://', ''));
    await proxy.open();
    const scene = engineScene({ ...place, engine, image, shared: join(work, 'shared'), environment, bystander: 'bystander' });
    const lane = new Lane({ ...place, environment, scene, head: engineHead({ environment, host: proxy.host, image }) });
    await lane.begin();
    const from = proxy.mutations.length;
    await lane.passages();
    const requests = proxy.mutations.slice(from);
    for (let at = 0; at < requests.length; at++) {
      const begun = proxy.mutations.length;
      proxy.losesAt = begun + at;
      const { first } = await lane.disturbed(`the reply to ${requests[at]} is lost`, () => proxy.mutations.length);
      expect(proxy.losesAt, requests[at]).toBeUndefined();
      const sent = proxy.mutations.slice(begun, first);
      const lost = sent[at] ?? '';
      expect(sent.filter((line) => line === lost && isDestructive(line)).length, lost).toBeLessThanOrEqual(1);
    }
    process.stdout.write(`\nlost replies of the engine: ${requests.length}, all resolved\n`);
    expect(requests.length).toBeGreaterThan(10);
    await proxy.cut();
  });
});

function isDestructive(line: string): boolean {
  return line.startsWith('DELETE ') || line.endsWith('/stop') || line.endsWith('/kill');
}

const LOSSES: readonly Loss[] = ['reply', 'cut', 'request'];

describe('a commit of a database whose connection breaks', () => {
  it('must be done exactly once in an apply, whichever commit it is, and whether its request or its reply is lost', async () => {
    const environment = 'lostcommit';
    const place = placeOf(environment);
    await mariadb.execute(`CREATE DATABASE ${environment}`);
    const proxy = new MysqlProxy(mariadb.port);
    await proxy.open();
    const scene = hostScene({ ...place, folder: place.workspace.folder, environment });
    const state = `state: { backend: mysql, host: 127.0.0.1, port: ${proxy.port}, user: root, database: ${environment} }`;
    const head = `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: ${environment} }\n${state}\nproviders: { fake: {} }\n`;
    const lane = new Lane({ ...place, environment, scene, head });
    await lane.begin();
    const from = proxy.commits;
    await lane.passages();
    const commits = proxy.commits - from;
    for (let at = 0; at < commits; at++) {
      const loss = LOSSES[at % LOSSES.length];
      const before = proxy.lost;
      proxy.spares = at;
      proxy.loses = loss;
      const { code } = await lane.disturbed(`the ${loss} of the commit ${at + 1} is lost`, () => proxy.lost);
      expect(code).toBe(0);
      expect(proxy.lost).toBe(before + 1);
    }
    process.stdout.write(`\nlost commits: ${commits}, all resolved\n`);
    expect(commits).toBeGreaterThan(20);
    await proxy.close();
  });
});
