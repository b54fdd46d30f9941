import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accede, accedeOk, type Ran } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let workspace: Workspace;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-lost-');
  // What this engine gives every container by itself must not look like a difference when nothing is recorded.
  docker = await startDocker(work, { args: ['--default-ulimit', 'nofile=1024:2048', '--default-shm-size', '96m'] });
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'lost', tag: '1', user: '' })).id;
});

afterAll(async () => {
  await docker?.stop();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(async () => {
  for (const { id } of await engine.containers()) await engine.call('DELETE', `/containers/${id}?force=1&v=1`);
  await engine.call('POST', '/networks/prune');
  for (const name of (await engine.marked('lost')).filter((text) => text.startsWith('volume '))) {
    await engine.call('DELETE', `/volumes/${name.slice('volume '.length)}`);
  }
  workspace.remove();
});

const SLEEP = 'command: [sleep, "1000"], stop_signal: KILL, ready: { command: ["true"], interval: 100ms }';
const HEAD = () => `apiVersion: accede/v1
kind: Environment
metadata: { name: lost }
hooks: { backup: none }
providers:
  docker: { host: "${docker.host}" }
`;

interface Parts {
  readonly networks?: string;
  readonly volumes?: string;
  readonly containers?: string;
  readonly jobs?: string;
  readonly files?: string;
  readonly more?: string;
}

const PARTS: Required<Parts> = {
  networks: '    net: {}',
  volumes: '    data: { labels: { keep: "yes" } }',
  containers: '',
  jobs: '',
  files: '    page: { path: page.txt, content: "hello\\n", mode: "0640" }',
  more: 'outputs:\n  web: { value: "${docker.container.web.name}" }\n',
};

const container = (more = '') => `{ image: "${image}", ${SLEEP}${more === '' ? '' : `, ${more}`} }`;
const WEB = () =>
  `    web: ${container('networks: ["${docker.network.net.name}"], volumes: ["${docker.volume.data.name}:/data"], environment: { LEVEL: info }')}`;
const WORKER = () => `    worker: { for_each: [north, south], image: "${image}", ${SLEEP} }`;
/** What the engine gave what was made by hand has to be named: no mark says that it was not asked for. */
const GIVEN = 'shm_size: 96m, ulimits: { nofile: { soft: 1024, hard: 2048 } }';
const OLD = () => `    old: ${container(`name: old-by-hand, ${GIVEN}`)}`;

function write(parts: Parts = {}): void {
  const all = { ...PARTS, containers: [WEB(), WORKER(), OLD()].join('\n'), ...parts };
  const block = (type: string, text: string) => (text === '' ? '' : `  ${type}:\n${text}\n`);
  workspace.write(
    'environment.yaml',
    `${HEAD()}resources:\n${block('docker.network', all.networks)}${block('docker.volume', all.volumes)}${block('docker.container', all.containers)}${block('docker.job', all.jobs)}${block('local.file', all.files)}${all.more}`,
  );
}

const plan = (...more: readonly string[]) => accede(['plan', '--detailed-exitcode', ...more, workspace.folder]);
const planned = async (...more: readonly string[]) =>
  JSON.parse((await accede(['plan', '--json', ...more, workspace.folder])).stdout) as PlanDocument;
const apply = (...more: readonly string[]) => accedeOk(['apply', '--auto-approve', ...more, workspace.folder]);
const pull = async () => JSON.parse((await accedeOk(['state', 'pull', '--json', workspace.folder])).stdout) as State;
const lose = () => rmSync(workspace.path('.accede'), { recursive: true });
const actions = (document: PlanDocument) =>
  document.changes.filter(({ action }) => action !== 'noop').map(({ action, address }) => `${action} ${address}`);
const ids = async () => (await engine.containers()).map(({ id, name }) => `${name} ${id}`);
const done = (ran: Ran) => expect(ran.code, ran.stdout + ran.stderr).toBe(0);

interface Row {
  readonly address: string;
  readonly id: string;
  readonly ref: string;
  readonly marked: boolean;
}

interface State {
  readonly lineage: string;
  readonly serial: number;
  readonly createdAt: string;
  readonly digest: string;
  readonly resources: readonly Row[];
  readonly outputs: readonly unknown[];
  readonly sealed: { readonly serial: number };
}

/**
 * What has to be the same of two states, where one took the place of the other. Our id of what bears no mark stood nowhere but in the lost one,
 * and its fingerprint is that of the moment when it was imported; the same goes for a job on request that never ran, which has no object.
 */
function lasting(state: State): unknown {
  const { serial: _serial, createdAt: _createdAt, digest: _digest, sealed, resources, ...rest } = state;
  const isFound = ({ address, marked }: Row) => marked && address !== 'docker.job.restore';
  const rows = resources.map((row) =>
    isFound(row) ? row : { ...row, id: 'new', ref: row.ref.replace(row.id, 'new'), fingerprint: 'new' },
  );
  return { ...rest, resources: rows, sealed: { ...sealed, serial: 0 } };
}

/** A container made by hand, which an operator then imports. */
async function importOld(): Promise<void> {
  await engine.call('POST', '/containers/create?name=old-by-hand', { Image: image, Cmd: ['sleep', '1000'], StopSignal: 'SIGKILL' });
  await engine.call('POST', '/containers/old-by-hand/start');
  await accedeOk(['import', 'docker.container.old', 'old-by-hand', workspace.folder]);
}

describe('a state that was lost', () => {
  it('must come again as it was, with every object as it is', async () => {
    write({
      jobs: [
        `    setup: { image: "${image}", command: [sh, -c, "echo '{\\"done\\": true}'"], stdout: true }`,
        `    backup: { image: "${image}", command: [sh, -c, "echo '{\\"backed\\": \\"up\\"}'"], stdout: true, run: on_demand }`,
        `    restore: { image: "${image}", command: ["true"], run: on_demand }`,
      ].join('\n'),
    });
    await importOld();
    await apply();
    await accedeOk(['run', 'docker.job.backup', workspace.folder]);
    done(await plan());
    const before = await pull();
    const containers = await ids();
    const listed = (await accedeOk(['state', 'list', workspace.folder])).stdout.split('\n');
    expect(listed).toContain('docker.container.old\tunmarked');
    expect(listed).toContain('docker.container.web');
    cpSync(workspace.path('.accede'), workspace.path('copy'), { recursive: true });
    lose();
    const status = (await accedeOk(['status', workspace.folder])).stdout;
    expect(status).toContain('accede plan');

    const refused = await plan();
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain(`accede import 'docker.container.old'`);
    expect(refused.stdout).toContain(`accede import 'local.file.page' ${workspace.path('page.txt')}`);
    expect(refused.stdout).toContain('STATE_LOST');
    expect(refused.stdout).toContain(before.lineage);
    const document = await planned();
    expect(document.state).toMatchObject({ lineage: null, serial: 0, begins: before.lineage });
    expect(actions(document)).toEqual([
      'refuse docker.container.old',
      'adopt docker.container.web',
      'adopt docker.container.worker["north"]',
      'adopt docker.container.worker["south"]',
      'adopt docker.job.backup',
      'create docker.job.restore',
      'adopt docker.job.setup',
      'adopt docker.network.net',
      'adopt docker.volume.data',
      'refuse local.file.page',
    ]);

    await accedeOk(['import', 'docker.container.old', 'old-by-hand', workspace.folder]);
    await accedeOk(['import', 'local.file.page', workspace.path('page.txt'), workspace.folder]);
    expect((await plan()).code).toBe(2);
    await apply();
    expect(await ids()).toEqual(containers);
    expect(lasting(await pull())).toEqual(lasting(before));
    done(await plan());
    expect((await planned()).warnings).toEqual([]);
  });

  it('must be found by the marks after everything that leaves marks as they are', async () => {
    write();
    await importOld();
    await apply();
    const steps: readonly (readonly [string, Parts, readonly string[]])[] = [
      [
        'changed in place',
        {
          containers: [
            `    web: ${container('networks: ["${docker.network.net.name}"], volumes: ["${docker.volume.data.name}:/data"], environment: { LEVEL: info }, mem_limit: 64m')}`,
            WORKER(),
            OLD(),
          ].join('\n'),
        },
        ['update docker.container.web'],
      ],
      [
        'renamed in place',
        {
          containers: [
            `    web: ${container('name: the-web, networks: ["${docker.network.net.name}"], volumes: ["${docker.volume.data.name}:/data"], environment: { LEVEL: info }, mem_limit: 64m')}`,
            WORKER(),
            OLD(),
          ].join('\n'),
        },
        ['update docker.container.web'],
      ],
      [
        'moved',
        {
          containers: [
            `    site: ${container('name: the-web, networks: [{ name: "${docker.network.net.name}", aliases: [web] }], volumes: ["${docker.volume.data.name}:/data"], environment: { LEVEL: info }, mem_limit: 64m')}`,
            WORKER(),
            OLD(),
          ].join('\n'),
          more: 'moved:\n  - { from: docker.container.web, to: docker.container.site }\n',
        },
        ['update docker.container.site'],
      ],
    ];
    for (const [what, parts, expected] of steps) {
      write(parts);
      const containers = (await engine.containers()).map(({ id }) => id).toSorted();
      expect(actions(await planned()), what).toEqual(expected);
      await apply();
      expect((await engine.containers()).map(({ id }) => id).toSorted(), what).toEqual(containers);
      done(await plan());
      const before = await pull();
      const at = await ids();
      cpSync(workspace.path('.accede'), workspace.path('copy'), { recursive: true });
      lose();
      const document = await planned();
      const { changes, succession } = document;
      expect(
        succession.refusals.map(({ path }) => path),
        what,
      ).toEqual(['docker.container.old', 'local.file.page']);
      expect(
        changes.filter(({ action }) => action === 'adopt'),
        what,
      ).toHaveLength(5);
      expect(
        document.warnings.map(({ code }) => code),
        what,
      ).not.toContain('MARKED_UNCLAIMED');
      await accedeOk(['import', 'docker.container.old', 'old-by-hand', workspace.folder]);
      await accedeOk(['import', 'local.file.page', workspace.path('page.txt'), workspace.folder]);
      await apply();
      expect(await ids(), what).toEqual(at);
      expect(lasting(await pull()), what).toEqual(lasting(before));
      done(await plan());
      rmSync(workspace.path('copy'), { recursive: true });
    }
  });

  it('must give what was imported a mark with its next replacement', async () => {
    write({ containers: OLD(), networks: '', volumes: '', files: '', more: '' });
    await importOld();
    await apply();
    const unmarked = (await accedeOk(['state', 'list', workspace.folder])).stdout;
    expect(unmarked).toBe('docker.container.old\tunmarked\n');
    write({
      containers: `    old: ${container(`name: old-by-hand, environment: { A: b }, ${GIVEN}`)}`,
      networks: '',
      volumes: '',
      files: '',
      more: '',
    });
    await apply();
    expect((await accedeOk(['state', 'list', workspace.folder])).stdout).toBe('docker.container.old\n');
    const before = await pull();
    lose();
    expect(actions(await planned())).toEqual(['adopt docker.container.old']);
    await apply();
    expect(lasting(await pull())).toEqual(lasting(before));
  });

  it('must not be mistaken for another one, nor pass over what the documents do not name', async () => {
    write({ containers: [WEB(), WORKER(), `    stray: ${container()}`].join('\n'), files: '' });
    await apply();
    const containers = await ids();
    lose();
    write({ containers: [WEB(), WORKER()].join('\n'), files: '' });
    const document = await planned();
    expect(document.warnings).toEqual([
      expect.objectContaining({ code: 'MARKED_UNCLAIMED', address: 'docker.container.stray' }),
      expect.objectContaining({ code: 'STATE_LOST' }),
    ]);
    await apply();
    expect(await ids()).toEqual(containers);
    done(await plan());
  });

  it('must not take what stepped aside for the object itself', async () => {
    write({ networks: '', volumes: '', containers: WORKER(), files: '', more: '' });
    await apply();
    const { id } = await engine.container('lost-worker-south');
    await engine.stop('lost-worker-south');
    const aside = `lost-worker-south-aside-${id.slice(0, 12)}`;
    await engine.call('POST', `/containers/${id}/rename?name=${aside}`);
    lose();
    const document = await planned();
    expect(actions(document)).toEqual(['adopt docker.container.worker["north"]', 'create docker.container.worker["south"]']);
    expect(document.warnings.map(({ code, address }) => `${code} ${address}`)).toContain('MARKED_LEFT docker.container.worker["south"]');
    await apply();
    expect((await engine.containers()).map(({ name }) => name)).toEqual(['lost-worker-north', 'lost-worker-south', aside]);
    done(await plan());
  });

  it('must let a destroy take down what bears our mark, and leave the rest with a word', async () => {
    write({
      containers: [WEB(), WORKER(), OLD(), `    stray: ${container('networks: ["${docker.network.side.name}"]')}`].join('\n'),
      networks: '    net: {}\n    side: {}',
      jobs: `    setup: { image: "${image}", command: ["true"] }`,
    });
    await importOld();
    await apply();
    lose();
    write({ jobs: `    setup: { image: "${image}", command: ["true"] }` });
    const held = await accede(['destroy', '--auto-approve', workspace.folder]);
    expect(held.code).toBe(3);
    expect(held.stdout).toContain('PROTECTED');
    const kept = await accede(['destroy', '--auto-approve', '--keep-protected', workspace.folder]);
    expect(kept.code, kept.stdout + kept.stderr).toBe(0);
    expect(kept.stdout).toContain('LEFT_UNMARKED  docker.container.old');
    expect(kept.stdout).toContain('LEFT_UNMARKED  local.file.page');
    expect(await engine.marked('lost')).toEqual(['volume lost-data']);
    expect((await engine.containers()).map(({ name }) => name)).toEqual(['old-by-hand']);
    const gone = await accede(['destroy', '--include-protected', workspace.folder], { input: 'lost\n' });
    expect(gone.code, gone.stdout + gone.stderr).toBe(0);
    expect(await engine.marked('lost')).toEqual([]);
    expect((await engine.containers()).map(({ name }) => name)).toEqual(['old-by-hand']);
    expect(workspace.read('page.txt')).toBe('hello\n');
  });

  it('must be begun by hand too, with the lineage that the marks name', async () => {
    write({ containers: WEB(), files: '' });
    await apply();
    const before = await pull();
    const exists = await accede(['state', 'init', '--json', workspace.folder]);
    expect(exists.code).toBe(1);
    expect(JSON.parse(exists.stdout)).toMatchObject({ error: { code: 'STATE_EXISTS' } });
    lose();
    const made = JSON.parse((await accedeOk(['state', 'init', '--json', workspace.folder])).stdout) as unknown;
    expect(made).toEqual({ format: 'accede.init/v1', lineage: before.lineage, serial: 1, marked: 3 });
    await apply();
    expect(lasting(await pull())).toEqual(lasting(before));
  });
});
