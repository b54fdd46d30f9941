import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { accede, accedeOk, type Ran, type RunOptions } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';
import { unnamed, unreached } from './crash/coverage.ts';

const MOMENTS = ['before', 'inside', 'after'] as const;
const BACKENDS = ['sqlite', 'mariadb'] as const;

let work: string;
let mariadb: MariadbServer;
let docker: DockerServer;
const workspaces: Workspace[] = [];
const killed: { readonly boundary: string; readonly moment: string }[] = [];
let environments = 0;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-bnd-');
  for (const folder of ['db', 'engine']) mkdirSync(join(work, folder));
  [mariadb, docker] = await Promise.all([startMariadb(join(work, 'db')), startDocker(join(work, 'engine'))]);
});

afterAll(async () => {
  await docker?.stop();
  await mariadb?.stop();
  for (const workspace of workspaces) workspace.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

/** An environment of its own with two files in it, and where its state is changed by hand. */
interface Place {
  readonly workspace: Workspace;
  /** Runs SQL on its state. */
  alter(sql: string): Promise<void>;
}

async function placeOn(backend: (typeof BACKENDS)[number]): Promise<Place> {
  const name = `place${++environments}`;
  const workspace = new Workspace();
  workspaces.push(workspace);
  if (backend === 'mariadb') await mariadb.execute(`CREATE DATABASE ${name}`);
  const state =
    backend === 'sqlite' ? '' : `state: { backend: mysql, host: ${mariadb.host}, port: ${mariadb.port}, user: root, database: ${name} }\n`;
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: ${name} }
${state}resources:
  local.file:
    a: { path: a.txt, content: one }
    b: { path: b.txt, content: two }
`,
  );
  const alter = async (sql: string) => {
    if (backend === 'mariadb') {
      await mariadb.execute(sql, name);
      return;
    }
    const database = new Database(workspace.path('.accede/state.db'));
    database.exec(sql);
    database.close();
  };
  return { workspace, alter };
}

/** Kills a command at a moment of a boundary. */
async function killAt(boundary: string, moment: string, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const env = {
    ...options.env,
    ACCEDE_FAILPOINT: [options.env?.['ACCEDE_FAILPOINT'], `${boundary}@${moment}=kill`].filter(Boolean).join(','),
  };
  const ran = await accede(argv, { ...options, env });
  expect(ran.signal, `${boundary} ${moment}\n${ran.stdout}${ran.stderr}`).toBe('SIGKILL');
  killed.push({ boundary, moment });
  return ran;
}

async function expectSettled({ workspace }: Place): Promise<void> {
  await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  expect([workspace.read('a.txt'), workspace.read('b.txt')]).toEqual(['one', 'two']);
  await accedeOk(['audit', 'verify', workspace.folder]);
}

/** The id of the lock that somebody holds. */
async function lockOf(folder: string): Promise<string | undefined> {
  const { code, stdout } = await accede(['status', '--json', folder]);
  // There may be no state yet.
  if (code !== 0) return undefined;
  return (JSON.parse(stdout) as { readonly lock: { readonly lockId: string } | null }).lock?.lockId;
}

const CASES = BACKENDS.flatMap((backend) => MOMENTS.map((moment) => [backend, moment] as const));

describe('kill -9 where a state comes to be', () => {
  it.each(CASES)('must leave no half of a state: the lock on %s, %s', async (backend, moment) => {
    const place = await placeOn(backend);
    await killAt('state.acquire', moment, ['apply', '--auto-approve', place.workspace.folder]);
    await accedeOk(['plan', '--detailed-exitcode', place.workspace.folder], { code: 2 });
    await accedeOk(['apply', '--auto-approve', place.workspace.folder]);
    await expectSettled(place);
  });

  it.each(MOMENTS)('must leave no half of a state: the tables in a database, %s', async (moment) => {
    const place = await placeOn('mariadb');
    await killAt('state.define', moment, ['apply', '--auto-approve', place.workspace.folder]);
    await accedeOk(['plan', '--detailed-exitcode', place.workspace.folder], { code: 2 });
    await accedeOk(['apply', '--auto-approve', place.workspace.folder]);
    await expectSettled(place);
  });
});

describe('kill -9 while a lease is renewed', () => {
  it('must leave the lock to be taken over at once, on both backends', async () => {
    await Promise.all(
      CASES.map(async ([backend, moment]) => {
        const place = await placeOn(backend);
        // The first renewal is due after 20 s.
        const env = { ACCEDE_FAILPOINT: 'effect.perform=delay:120000' };
        await killAt('state.renew', moment, ['apply', '--auto-approve', place.workspace.folder], { env });
        const next = await accedeOk(['apply', '--auto-approve', '--json', '--lock-timeout', '1ms', place.workspace.folder]);
        expect(next.stdout).toContain('"lock.acquired"');
        await expectSettled(place);
      }),
    );
  });
});

describe('kill -9 while the lock of somebody else is ended', () => {
  it.each(CASES)('must leave it ended or as it was, with the fence grown only then: %s, %s', async (backend, moment) => {
    const place = await placeOn(backend);
    const { folder } = place.workspace;
    let stopped: { kill(signal: NodeJS.Signals): boolean } | undefined;
    const holder = accede(['apply', '--auto-approve', folder], {
      env: { ACCEDE_FAILPOINT: 'effect.perform=stop' },
      started: (child) => {
        stopped = child;
      },
    });
    try {
      await eventually('the holder has the lock and is stopped', async () => (await lockOf(folder)) !== undefined);
      const lockId = (await lockOf(folder)) ?? '';
      await killAt('state.unlock', moment, ['unlock', lockId, folder]);
      const isEnded = moment === 'after';
      expect(await lockOf(folder)).toBe(isEnded ? undefined : lockId);
      if (!isEnded) await accedeOk(['unlock', lockId, folder]);
      await accedeOk(['apply', '--auto-approve', folder]);
    } finally {
      stopped?.kill('SIGCONT');
    }
    const fenced = await holder;
    expect(fenced.code, fenced.stdout + fenced.stderr).toBe(6);
    expect(fenced.stderr).toContain('FENCED');
    await expectSettled(place);
  });
});

describe('kill -9 while applies are held off, or let go on', () => {
  it.each(CASES)('must be done by whoever says it again: %s, %s', async (backend, moment) => {
    const place = await placeOn(backend);
    const { folder } = place.workspace;
    await accedeOk(['apply', '--auto-approve', folder]);
    place.workspace.write('b.txt', 'drifted');
    const isKept = moment === 'after';
    await killAt('state.hold', moment, ['hold', '--reason', 'a test', folder]);
    if (!isKept) await accedeOk(['hold', '--reason', 'a test', folder]);
    const held = await accede(['apply', '--auto-approve', folder]);
    expect(held.code, held.stdout + held.stderr).not.toBe(0);
    expect(place.workspace.read('b.txt')).toBe('drifted');
    await killAt('state.hold', moment, ['hold', '--lift', '--reason', 'the test is over', folder]);
    if (!isKept) await accedeOk(['hold', '--lift', '--reason', 'the test is over', folder]);
    await accedeOk(['apply', '--auto-approve', folder]);
    await expectSettled(place);
  });
});

describe('kill -9 while an approval is kept', () => {
  it.each(CASES)('must be kept whole or not at all, and once when it is given again: %s, %s', async (backend, moment) => {
    const place = await placeOn(backend);
    const { folder } = place.workspace;
    await accedeOk(['apply', '--auto-approve', folder]);
    place.workspace.write('b.txt', 'drifted');
    const [plan, key] = [place.workspace.path('plan.json'), place.workspace.path('key.pem')];
    place.workspace.write('key.pem', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }), 0o600);
    await accedeOk(['plan', '--out', plan, folder]);
    await killAt('state.approve', moment, ['approve', plan, '--key', key, '--store']);
    await accedeOk(['approve', plan, '--key', key, '--store']);
    const { stdout } = await accedeOk(['audit', 'list', '--json', folder]);
    expect(stdout.split('plan.approved').length - 1).toBe(moment === 'after' ? 2 : 1);
    await accedeOk(['apply', plan, '--auto-approve', folder]);
    await expectSettled(place);
  });
});

describe('kill -9 while the tables of a state are brought up to date', () => {
  it.each(CASES)('must leave what the next upgrade ends: %s, %s', async (backend, moment) => {
    const place = await placeOn(backend);
    const { folder } = place.workspace;
    await accedeOk(['apply', '--auto-approve', folder]);
    await place.alter('UPDATE accede_schema SET version = 1; ALTER TABLE accede_lock DROP COLUMN lease_end');
    await killAt('state.upgrade', moment, ['state', 'upgrade', folder]);
    await accedeOk(['state', 'upgrade', folder]);
    await expectSettled(place);
  });
});

describe('kill -9 around a command inside of an object', () => {
  it('must leave the object as it is, and the next command free to run', async () => {
    const engine = new EngineClient(docker.host);
    const image = (await buildImage(docker.host, { name: 'boundary', tag: '1' })).id;
    const workspace = new Workspace();
    workspaces.push(workspace);
    workspace.write(
      'environment.yaml',
      `apiVersion: accede/v1
kind: Environment
metadata: { name: inside }
providers: { docker: { host: "${docker.host}" } }
resources:
  docker.container:
    app: { image: "${image}", command: [sleep, "1000"], stop_signal: SIGKILL, ready: { command: ["true"] } }
`,
    );
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const before = await engine.container('inside-app');
    for (const moment of ['before', 'after']) {
      await killAt('effect.exec', moment, ['exec', 'docker.container.app', workspace.folder, '--', 'sh', '-c', `echo ${moment} >> /ran`]);
    }
    const ran = await accedeOk(['exec', 'docker.container.app', workspace.folder, '--', 'cat', '/ran']);
    expect(ran.stdout).toBe('after\n');
    expect(await engine.container('inside-app')).toEqual(before);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});

describe('a fail point that does not kill', () => {
  it('must give the error that its boundary would give by itself, and leave the next run to work', async () => {
    const cases = [
      ['state.begin@before=enospc', 1, /STATE_FULL/],
      ['state.write@before:2=enospc', 6, /STATE_FULL/],
      ['state.write@inside:2=eio', 6, /STATE_UNREACHABLE/],
      ['state.end@after=lost-reply', 6, /STATE_UNREACHABLE/],
      ['host.change@before=enospc', 5, /no space/],
      ['host.change@after=eio', 5, /EIO/],
      ['effect.perform@after=lost-reply', 5, /broke off/],
    ] as const;
    for (const [faults, code, words] of cases) {
      const place = await placeOn('sqlite');
      const failed = await accede(['apply', '--auto-approve', place.workspace.folder], { env: { ACCEDE_FAILPOINT: faults } });
      expect(failed.code, `${faults}\n${failed.stdout}${failed.stderr}`).toBe(code);
      expect(failed.stdout + failed.stderr, faults).toMatch(words);
      // What was taken back holds the same documents off.
      if (code === 5) await accedeOk(['hold', '--lift', '--reason', 'the fault is over', place.workspace.folder]);
      await accedeOk(['apply', '--auto-approve', place.workspace.folder]);
      await expectSettled(place);
    }
  });

  it('must be refused before anything is done where it names what there is not', async () => {
    const place = await placeOn('sqlite');
    const refused = await accede(['apply', '--auto-approve', place.workspace.folder], { env: { ACCEDE_FAILPOINT: 'state.nowhere=kill' } });
    expect([refused.code, refused.stderr.includes('ACCEDE_FAILPOINT')]).toEqual([1, true]);
    expect([...place.workspace.files().keys()]).toEqual(['environment.yaml']);
  });

  it('must tell of each boundary in the order in which a run passes them', async () => {
    const place = await placeOn('sqlite');
    const trace = join(work, 'trace');
    await accedeOk(['apply', '--auto-approve', place.workspace.folder], { env: { ACCEDE_FAILPOINT: `trace=${trace}` } });
    const passed = readFileSync(trace, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t').slice(1, 3).join(' '));
    expect(passed.slice(0, 4)).toEqual(['state.acquire before', 'state.acquire inside', 'state.acquire after', 'state.begin before']);
    expect(passed.at(-1)).toBe('state.release after');
  });
});

it('must have reached every boundary that is its own', () => {
  expect(unreached('alone', killed)).toEqual([]);
  expect(unnamed()).toEqual([]);
});
