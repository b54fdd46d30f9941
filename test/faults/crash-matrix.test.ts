import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';
import { unreached } from './crash/coverage.ts';
import { Lane, type Passage } from './crash/lane.ts';
import { killEverywhere, table } from './crash/matrix.ts';
import { engineHead, engineScene, hostScene } from './crash/scene.ts';

/**
 * `all`: each place on the real engine with both backends. A number: each so many-th place alone, for a quick look. Else each place without an
 * engine on both backends, and every fourth of the engine on each, by turns.
 */
const ASKED = process.env['ACCEDE_FAULTS'];

/** Hundreds of runs of the program one after another. */
vi.setConfig({ testTimeout: 3 * 3_600_000 });

let work: string;
let mariadb: MariadbServer;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
const workspaces: Workspace[] = [];
const killed: Passage[] = [];

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-crm-');
  for (const folder of ['db', 'engine', 'shared']) mkdirSync(join(work, folder));
  [mariadb, docker] = await Promise.all([startMariadb(join(work, 'db')), startDocker(join(work, 'engine'))]);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'crash', tag: '1' })).id;
  await engine.run('bystander', image, ['sleep', '100000']);
});

afterAll(async () => {
  await docker?.stop();
  await mariadb?.stop();
  for (const workspace of workspaces) workspace.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

type Backend = 'sqlite' | 'mariadb';

async function stateOf(backend: Backend, environment: string): Promise<string> {
  if (backend === 'sqlite') return '';
  await mariadb.execute(`CREATE DATABASE ${environment}`);
  return `state: { backend: mysql, host: ${mariadb.host}, port: ${mariadb.port}, user: root, database: ${environment} }\n`;
}

async function laneOf(kind: 'engine' | 'host', backend: Backend): Promise<Lane> {
  const environment = `${kind}${backend}`;
  const workspace = new Workspace();
  workspaces.push(workspace);
  const fakeWorld = join(work, `${environment}.jsonl`);
  writeFileSync(fakeWorld, '');
  const state = await stateOf(backend, environment);
  const head = `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: ${environment} }\n${state}`;
  const shared = join(work, 'shared');
  if (kind === 'host') {
    const scene = hostScene({ folder: workspace.folder, environment, fakeWorld });
    return new Lane({ environment, workspace, scene, fakeWorld, head: `${head}providers: { fake: {} }\n` });
  }
  const scene = engineScene({ engine, image, shared, environment, fakeWorld, bystander: 'bystander' });
  return new Lane({ environment, workspace, scene, fakeWorld, head: engineHead({ environment, host: docker.host, image, state }) });
}

describe('kill -9 at every boundary of an apply, and again in what ends it', () => {
  it.each(['host', 'engine'] as const)('must end with the world as desired or as before, and with nothing done twice: %s', async (kind) => {
    const backends = ['sqlite', 'mariadb'] as const;
    const step = ASKED === 'all' ? 1 : ASKED === undefined ? (kind === 'host' ? 1 : 4) : Number(ASKED);
    // Each lane goes on to its own end, whatever becomes of the other.
    const ended = await Promise.allSettled(
      backends.map(async (backend, index) => {
        const lane = await laneOf(kind, backend);
        const share = { step, offset: step === 1 ? 0 : index * Math.floor(step / 2) };
        const points = await killEverywhere(lane, share, index === 0 ? 0 : 1);
        return [`${kind} ${backend}`, points.length, lane] as const;
      }),
    );
    const failed = ended.find((lane) => lane.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const rows = ended.flatMap((lane) => (lane.status === 'fulfilled' ? [lane.value] : []));
    process.stdout.write(`\n${table(rows)}\n`);
    for (const [, , { trials }] of rows)
      killed.push(...trials.flatMap(({ killed: first, again }) => [first, ...(again === undefined ? [] : [again])]));
    expect(rows.every(([, points, { trials }]) => trials.length >= Math.floor(points / step))).toBe(true);
  });

  it('must have reached every boundary that is its own, unless a share alone was asked for', () => {
    const missing = unreached('matrix', killed);
    // A share of the engine's places reaches each boundary, and not each of its moments.
    const wholly = missing.filter((place) => !killed.some(({ boundary }) => place.startsWith(`${boundary} `)));
    if (ASKED === undefined) expect(wholly).toEqual([]);
    else expect(missing).toEqual(ASKED === 'all' ? [] : expect.any(Array));
  });
});
