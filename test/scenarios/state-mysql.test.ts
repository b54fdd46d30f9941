import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { freePort } from '../../scripts/servers/process.ts';
import { accede, accedeOk, type Ran, type RunOptions } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const PASSWORD = 'canary/"db"\\7c41';
const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`k${index}`, 'x']));

let folder: string;
let server: MariadbServer;
let database: string;
let databases = 0;
let workspace: Workspace;

beforeAll(async () => {
  folder = mkdtempSync('/tmp/acc-dbe-');
  server = await startMariadb(folder);
  await server.execute(`CREATE USER app@'%' IDENTIFIED BY '${PASSWORD.replaceAll('\\', '\\\\')}'`);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  databases += 1;
  database = `state${databases}`;
  await server.execute(`CREATE DATABASE ${database}; GRANT ALL ON ${database}.* TO app@'%'`);
  workspace = new Workspace({ 'environment.yaml': documents({ a: '1' }) });
});
afterEach(() => workspace.remove());

function documents(values: Readonly<Record<string, string>>, name = 'team'): string {
  return `apiVersion: accede/v1
kind: Environment
metadata: { name: ${name} }
secrets: { state_url: { env: STATE_URL } }
state: { backend: mysql, url: "\${secrets.state_url}" }
locals: { values: ${JSON.stringify(values)} }
resources:
  local.value:
    v: { for_each: "\${locals.values}", input: "\${each.value}" }
outputs:
  first: { value: "\${local.value.v['a'].output}" }
`;
}

const url = (changes: { readonly port?: number; readonly password?: string; readonly database?: string } = {}) =>
  `mysql://app:${encodeURIComponent(changes.password ?? PASSWORD)}@127.0.0.1:${changes.port ?? server.port}/${changes.database ?? database}`;
const withState = (options: RunOptions = {}, stateUrl = url()): RunOptions => ({ ...options, env: { STATE_URL: stateUrl } });
const run = (argv: readonly string[], options?: RunOptions) => accede(argv, withState(options));
const runOk = (argv: readonly string[], options?: RunOptions & { readonly code?: number }) =>
  accedeOk(argv, { ...options, ...withState(options) });
const addresses = async (dir = workspace.folder) => {
  const { stdout } = await runOk(['state', 'list', '--json', dir]);
  return (JSON.parse(stdout) as { readonly resources: readonly { readonly address: string }[] }).resources.map(({ address }) => address);
};

describe('an environment whose state is in a database', () => {
  it('must be planned, applied, changed and destroyed as any other, and leave no state on this disk', async () => {
    const { folder: dir } = workspace;
    await runOk(['plan', '--detailed-exitcode', dir], { code: 2 });
    await runOk(['plan', '--out', workspace.path('plan.json'), dir]);
    await runOk(['apply', workspace.path('plan.json'), '--auto-approve', dir]);
    await runOk(['plan', '--detailed-exitcode', dir]);
    expect((await runOk(['output', 'first', dir])).stdout.trim()).toBe('1');
    workspace.write('environment.yaml', documents({ a: '2', b: '1' }));
    await runOk(['apply', '--auto-approve', dir]);
    await runOk(['plan', '--detailed-exitcode', dir]);
    expect(await addresses()).toEqual(['local.value.v["a"]', 'local.value.v["b"]']);
    const status = JSON.parse((await runOk(['status', '--json', dir])).stdout);
    expect(status).toMatchObject({ state: { serial: 2, resources: 2 }, lock: null, operation: null });
    await runOk(['taint', 'local.value.v["b"]', dir]);
    await runOk(['plan', '--detailed-exitcode', dir], { code: 2 });
    await runOk(['destroy', '--auto-approve', dir]);
    expect(await addresses()).toEqual([]);
    expect((await runOk(['state', 'history', dir])).stdout).toContain('destroy');
    expect([...workspace.files().keys()].filter((name) => name.includes('.accede'))).toEqual([]);
  });

  it('must turn a second apply away with 75 while the first one works', async () => {
    workspace.write('environment.yaml', documents({ a: '1', ...many }));
    let late: Promise<Ran> | undefined;
    const first = await run(['apply', '--auto-approve', '--json', workspace.folder], {
      started: (child) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          if (late !== undefined || !chunk.toString().includes('"lock.acquired"')) return;
          late = run(['apply', '--auto-approve', '--json', '--lock-timeout', '1ms', workspace.folder]);
        });
      },
    });
    const turnedAway = await late;
    expect(first.code, first.stderr).toBe(0);
    expect(turnedAway?.code, turnedAway?.stdout).toBe(75);
    expect(turnedAway?.stdout).toContain('LOCK_BUSY');
    await runOk(['plan', '--detailed-exitcode', workspace.folder]);
  });

  it('must be finished by the next apply when the first was killed in the middle', async () => {
    workspace.write('environment.yaml', documents({ a: '1', ...many }));
    for (const after of [1, 40, 400]) {
      let done = 0;
      const killed = await run(['apply', '--auto-approve', '--json', workspace.folder], {
        started: (child) => {
          child.stdout?.on('data', (chunk: Buffer) => {
            done += chunk.toString().split('"step.done"').length - 1;
            if (done >= after) child.kill('SIGKILL');
          });
        },
      });
      expect(killed.signal).toBe('SIGKILL');
      const plan = await run(['plan', '--detailed-exitcode', workspace.folder]);
      expect(plan.code, plan.stderr).toBe(2);
    }
    const last = await runOk(['apply', '--auto-approve', '--json', workspace.folder]);
    expect(last.stdout).toContain('"lock.acquired"');
    await runOk(['plan', '--detailed-exitcode', workspace.folder]);
    expect((await addresses()).length).toBe(1_501);
  });

  it('must end a run whose lock ran out, write nothing more of it, and be finished by the next apply', async () => {
    workspace.write('environment.yaml', documents({ a: '1', ...many }));
    let lapsed: Promise<string> | undefined;
    const fenced = await run(['apply', '--auto-approve', '--json', workspace.folder], {
      started: (child) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          if (chunk.toString().includes('"step.done"')) lapsed ??= server.execute('UPDATE accede_lock SET lease_end = 0', database);
        });
      },
    });
    await lapsed;
    expect(fenced.code, fenced.stderr).toBe(6);
    expect(fenced.stdout).toContain('"FENCED"');
    const status = JSON.parse((await runOk(['status', '--json', workspace.folder])).stdout);
    expect(status).toMatchObject({ operation: { running: false }, lock: null });
    await runOk(['apply', '--auto-approve', workspace.folder]);
    await runOk(['plan', '--detailed-exitcode', workspace.folder]);
  });

  it('must share its database with another environment, and its server with other databases', async () => {
    const other = new Workspace({ 'environment.yaml': documents({ a: 'other', b: 'other' }, 'shop') });
    try {
      await Promise.all([workspace, other].map(({ folder: dir }) => runOk(['apply', '--auto-approve', dir])));
      expect(await addresses()).toEqual(['local.value.v["a"]']);
      expect((await addresses(other.folder)).length).toBe(2);
      await runOk(['destroy', '--auto-approve', other.folder]);
      await runOk(['plan', '--detailed-exitcode', workspace.folder]);
    } finally {
      other.remove();
    }
  });

  it('must be converted from the first format by its command, and not before', async () => {
    await runOk(['apply', '--auto-approve', workspace.folder]);
    await server.execute(
      'ALTER TABLE accede_lock DROP COLUMN lease_clock, DROP COLUMN lease_end; UPDATE accede_schema SET version = 1',
      database,
    );
    const refused = await run(['plan', workspace.folder]);
    expect([refused.code, refused.stderr.includes('STATE_FORMAT'), refused.stderr.includes('accede state upgrade')]).toEqual([
      1,
      true,
      true,
    ]);
    expect((await runOk(['state', 'upgrade', workspace.folder])).stdout).toContain('from the format 1 to 3');
    expect((await runOk(['state', 'upgrade', workspace.folder])).stdout).toContain('already');
    await runOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});

describe('a database that can not be used', () => {
  it('must end every command with 1 and a code, and change nothing', async () => {
    const { folder: dir } = workspace;
    await runOk(['apply', '--auto-approve', dir]);
    const wrong = [
      [url({ port: await freePort() }), /nothing listens/],
      [url({ password: 'canary-wrong-password' }), /refused the login/],
      [url({ database: 'nowhere' }), /no database of that name|may not do this/],
    ] as const;
    for (const [stateUrl, words] of wrong) {
      for (const argv of [
        ['plan', dir],
        ['apply', '--auto-approve', dir],
        ['status', dir],
        ['unlock', 'x', dir],
      ]) {
        const ran = await accede(argv, withState({}, stateUrl));
        expect(ran.code, ran.stderr).toBe(1);
        expect(ran.stderr).toContain('STATE_UNREACHABLE');
        expect(ran.stderr.replaceAll(/\s+/g, ' ')).toMatch(words);
        expect(ran.stdout + ran.stderr).not.toContain('canary-wrong');
      }
    }
    // What opens no state needs no secret of it either.
    await accedeOk(['validate', dir]);
    const without = await accede(['status', dir]);
    expect([without.code, without.stderr.includes('SECRET_UNREADABLE')]).toEqual([1, true]);
    await runOk(['plan', '--detailed-exitcode', dir]);
  });
});

describe('the password of the database', () => {
  it('must stand in no output, no command line, no file and no table', async () => {
    const { folder: dir } = workspace;
    const seen: { readonly what: string; readonly text: string }[] = [];
    const keep = async (...argv: readonly string[]) => {
      const ran = await run(argv, {
        started: (child) => seen.push({ what: `argv of ${argv.join(' ')}`, text: readFileSync(`/proc/${child.pid}/cmdline`, 'latin1') }),
      });
      seen.push({ what: argv.join(' '), text: ran.stdout + ran.stderr });
      return ran;
    };
    await keep('plan', '--out', workspace.path('plan.json'), dir);
    expect((await keep('apply', workspace.path('plan.json'), '--auto-approve', '--json', dir)).code).toBe(0);
    await keep('plan', '--json', dir);
    await keep('status', '--json', dir);
    await keep('state', 'pull', dir);
    await keep('state', 'history', '--json', dir);
    await keep('eval', 'secrets.state_url', dir);
    await keep('eval', 'int(secrets.state_url)', dir);
    await server.kill();
    expect((await keep('plan', dir)).code).toBe(1);
    await server.start();
    await keep('destroy', '--auto-approve', dir);
    for (const [name, bytes] of workspace.files()) seen.push({ what: name, text: bytes.toString('latin1') });
    await server.stop();
    for (const name of readdirSync(`${folder}/data/${database}`)) {
      seen.push({ what: `the table ${name}`, text: readFileSync(`${folder}/data/${database}/${name}`, 'latin1') });
    }
    await server.start();
    const base64 = Buffer.from(PASSWORD).toString('base64').slice(0, -3);
    const forms = [
      PASSWORD,
      JSON.stringify(PASSWORD).slice(1, -1),
      encodeURIComponent(PASSWORD),
      Buffer.from(PASSWORD).toString('hex'),
      base64,
    ];
    expect(seen.flatMap(({ what, text }) => forms.filter((form) => text.includes(form)).map((form) => `${form} in ${what}`))).toEqual([]);
    expect(seen.some(({ text }) => text.includes('local.value.v'))).toBe(true);
  });
});
