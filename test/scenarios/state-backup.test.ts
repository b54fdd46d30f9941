import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as turn } from 'node:timers/promises';
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { accede, accedeOk, type Ran } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const PASSWORD = 'canary/"db"\\9d13';
const FILE = 'state: { backend: sqlite, encryption: { key_file: state.key } }';
const SERVER = 'state: { backend: mysql, url: "${secrets.state_url}", encryption: { key_file: state.key } }';

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace({ 'environment.yaml': documents(FILE, 3) });
  workspace.write('state.key', Buffer.alloc(32, 7), 0o600);
});
afterEach(() => workspace.remove());

function documents(state: string, values: number): string {
  const keys = Object.fromEntries(Array.from({ length: values }, (_, index) => [`k${index}`, `v${index}`]));
  return `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
secrets: { state_url: { env: STATE_URL } }
${state}
locals: { values: ${JSON.stringify(keys)} }
resources:
  local.value:
    v: { for_each: "\${locals.values}", input: "\${each.value}" }
  local.secret:
    token: { bytes: 16, encoding: hex }
`;
}

const env = (url = 'mysql://nobody:nothing@127.0.0.1:1/none') => ({ STATE_URL: url });
const ok = (argv: readonly string[], options: { readonly code?: number; readonly url?: string } = {}) =>
  accedeOk(argv, { cwd: workspace.folder, env: env(options.url), ...(options.code === undefined ? {} : { code: options.code }) });
const contents = async (url?: string) => {
  const { resources, outputs, lineage, digest } = JSON.parse((await ok(['state', 'pull'], url === undefined ? {} : { url })).stdout);
  return { resources, outputs, lineage, digest };
};

describe('a backup', () => {
  it('must be refused when one byte of it was altered, and name the section', async () => {
    await ok(['apply', '--auto-approve']);
    const taken = await ok(['state', 'backup', 'one.backup']);
    expect(taken.stdout).toContain('Backed up #1 of shop');
    expect(taken.stdout).toContain('read back and whole');
    const bytes = readFileSync(workspace.path('one.backup'));
    renameSync(workspace.path('.accede'), workspace.path('former'));
    for (const [text, section] of [
      ['"accede.backup', 'header'],
      ['local.value.v', 'resources'],
      ['"what', 'audit'],
      ['"sections', 'manifest'],
    ] as const) {
      const altered = Buffer.from(bytes);
      const at = altered.indexOf(text) + 2;
      altered[at] = (altered[at] ?? 0) ^ 2;
      writeFileSync(workspace.path('altered.backup'), altered);
      const refused = await ok(['state', 'restore', 'altered.backup', '--accept-loss', 'none', '--json'], { code: 1 });
      expect(JSON.parse(refused.stdout).error).toMatchObject({
        code: 'STATE_BACKUP_DAMAGED',
        detail: expect.stringContaining(section === 'audit' ? 'the section' : `the section ${section} `),
      });
    }
    expect((await ok(['status'])).stdout).not.toContain('#1');
    await ok(['state', 'restore', 'one.backup', '--accept-loss', 'none']);
    await ok(['plan', '--detailed-exitcode']);
  });

  it('must name what is lost, and reject old plans and old holders when it was put back', async () => {
    await ok(['apply', '--auto-approve']);
    await ok(['plan', '--out', 'before.json', '--replace', 'local.value.v["k0"]']);
    await ok(['state', 'backup', 'one.backup']);
    workspace.write('environment.yaml', documents(FILE, 5));
    await ok(['apply', '--auto-approve', '--reason', 'will be lost']);
    workspace.write('environment.yaml', documents(FILE, 3));
    await ok(['plan', '--out', 'after.json']);
    // An apply that goes on in the former store, and is stopped in the middle of it.
    workspace.write('environment.yaml', documents(FILE, 8));
    const holder = stoppedApply();
    await holder.stopped;
    // The documents name another place from now on.
    const former = workspace.path('former');
    mkdirSync(former);
    for (const [name, content] of [
      [
        'environment.yaml',
        documents(FILE.replace('encryption', 'path: ../.accede/state.db, encryption').replace('state.key', '../state.key'), 3),
      ],
    ] as const)
      writeFileSync(`${former}/${name}`, content);
    workspace.write('environment.yaml', documents(FILE.replace('encryption', 'path: new.db, encryption'), 3));
    const restore = ['state', 'restore', 'one.backup', '--replaces', 'sqlite:.accede/state.db'];
    const unstated = await ok(restore, { code: 1 });
    expect(unstated.stderr).toContain('STATE_LOSS_UNSTATED');
    expect(unstated.stderr).toContain('Lost with it: #2 to #3');
    expect((await ok([...restore, '--accept-loss', '2..9'], { code: 1 })).stderr).toContain('STATE_LOSS_DIFFERS');
    await ok([...restore, '--accept-loss', '2..3'], { code: 75 });
    const { lock } = JSON.parse((await ok(['status', '--json', former])).stdout);
    await ok(['unlock', lock.lockId, former]);
    const restored = await ok([...restore, '--accept-loss', '2..3', '--json']);
    expect(JSON.parse(restored.stdout)).toMatchObject({ from: 1, lost: { from: 2, to: 3 }, serial: 4, epoch: 2 });

    const rejected = await holder.goOn();
    expect([rejected.code, rejected.stdout.includes('"STATE_RETIRED"'), rejected.stdout.includes('new.db')]).toEqual([6, true, true]);
    expect((await ok(['apply', '--auto-approve', former], { code: 1 })).stderr).toContain('STATE_RETIRED');
    for (const plan of ['before.json', 'after.json']) {
      const stale = await ok(['apply', plan, '.'], { code: 4 });
      expect(stale.stderr).toContain('PLAN_STALE');
    }
    expect((await ok(['state', 'history'])).stdout).toContain('state-restore');
    expect((await ok(['audit', 'list'])).stdout).toMatch(/state\.restored.*lost=2\.\.3/);
    await ok(['audit', 'verify']);
    await ok(['apply', '--auto-approve']);
    await ok(['plan', '--detailed-exitcode']);
  });

  it('must be good when it was killed as soon as it has its name, and put back by the run after one that was killed', async () => {
    await ok(['apply', '--auto-approve']);
    for (const [index, moment] of ['before', 'inside', 'after'].entries()) {
      const taking = await killedAt(['state', 'backup', `${index}.backup`], `state.backup@${moment}`);
      expect(taking).toBe('SIGKILL');
    }
    await ok(['audit', 'verify']);
    renameSync(workspace.path('.accede'), workspace.path('former'));
    for (const moment of ['before', 'inside']) {
      expect(await killedAt(['state', 'restore', '2.backup', '--accept-loss', 'none'], `state.load@${moment}`)).toBe('SIGKILL');
      expect(JSON.parse((await ok(['status', '--json'])).stdout).state).toBeNull();
    }
    await ok(['state', 'restore', '0.backup', '--accept-loss', 'none']);
    await ok(['audit', 'verify']);
    await ok(['plan', '--detailed-exitcode']);
  });

  async function killedAt(argv: readonly string[], place: string): Promise<NodeJS.Signals | null> {
    const ran = await accede(argv, { cwd: workspace.folder, env: { ...env(), ACCEDE_FAILPOINT: `${place}=kill` } });
    return ran.signal;
  }

  it('must be taken while an operation is open, and say so', async () => {
    workspace.write('environment.yaml', documents(FILE, 8));
    const holder = stoppedApply();
    await holder.stopped;
    const taken = await ok(['state', 'backup', 'open.backup']);
    expect(taken.stderr).toContain('STATE_BACKUP_OPEN');
    expect((await holder.goOn()).code).toBe(0);
    renameSync(workspace.path('.accede'), workspace.path('former'));
    await ok(['state', 'restore', 'open.backup', '--accept-loss', 'none']);
    await ok(['apply', '--auto-approve']);
    await ok(['plan', '--detailed-exitcode']);
  });

  /** An apply that stops itself right before its third effect, outside of any transaction of the state. */
  function stoppedApply(): { readonly stopped: Promise<void>; goOn(): Promise<Ran> } {
    let pid: number | undefined;
    let isEnded = false;
    const running = accede(['apply', '--auto-approve', '--json', '--parallelism', '1'], {
      cwd: workspace.folder,
      env: { ...env(), ACCEDE_FAILPOINT: 'effect.perform@before:3=stop' },
      started: (child) => {
        pid = child.pid;
      },
    }).finally(() => {
      isEnded = true;
    });
    const stopped = async () => {
      for (;;) {
        if (isEnded) throw new Error(`it ended by itself: ${(await running).stdout}`);
        if (/^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return;
        await turn(20);
      }
    };
    return {
      stopped: stopped(),
      goOn: async () => {
        if (pid === undefined) throw new Error('nothing was started');
        process.kill(pid, 'SIGCONT');
        return await running;
      },
    };
  }
});

describe('the audit chain', () => {
  it.each([
    ['flipped', "UPDATE accede_audit SET body = replace(body, 'begun', 'bogun') WHERE ordinal = 4", '4 is altered'],
    ['removed', 'DELETE FROM accede_audit WHERE ordinal = 3', '3 is missing'],
    [
      'reordered',
      'UPDATE accede_audit SET ordinal = 99 WHERE ordinal = 4; UPDATE accede_audit SET ordinal = 4 WHERE ordinal = 5; UPDATE accede_audit SET ordinal = 5 WHERE ordinal = 99',
      '4 is altered',
    ],
  ])('must show to audit verify, and to a backup, which record was %s', async (_, sql, problem) => {
    await ok(['apply', '--auto-approve']);
    await ok(['taint', 'local.value.v["k0"]']);
    expect((await ok(['audit', 'verify'])).stdout).toContain('The chain is whole');
    const database = new Database(workspace.path('.accede/state.db'));
    database.exec(sql);
    database.close();
    const verdict = await ok(['audit', 'verify'], { code: 2 });
    expect(verdict.stderr).toContain(`The record ${problem}`);
    expect((await ok(['state', 'backup', 'one.backup'], { code: 1 })).stderr).toContain('AUDIT_BROKEN');
  });
});

describe('a move to another store', () => {
  let folder: string;
  let server: MariadbServer;
  let databases = 0;
  let url: string;
  let place: string;

  beforeAll(async () => {
    folder = mkdtempSync('/tmp/acc-mv-');
    server = await startMariadb(folder);
    await server.execute(`CREATE USER app@'%' IDENTIFIED BY '${PASSWORD.replaceAll('\\', '\\\\')}'`);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    databases += 1;
    await server.execute(`CREATE DATABASE moved${databases}; GRANT ALL ON moved${databases}.* TO app@'%'`);
    place = `mysql://127.0.0.1:${server.port}/moved${databases}`;
    url = place.replace('//', `//app:${encodeURIComponent(PASSWORD)}@`);
  });

  it('must keep every resource from SQLite to MariaDB and back, plan nothing, and close the former store', async () => {
    await ok(['apply', '--auto-approve']);
    await ok(['plan', '--out', 'late.json', '--replace', 'local.value.v["k0"]']);
    const before = await contents();
    const inClear = await ok(['state', 'migrate', '--to', url], { code: 1 });
    expect(inClear.stderr).toContain('STATE_PASSWORD_IN_CLEAR');
    const moved = await ok(['state', 'migrate', '--to', 'env:STATE_URL', '--reason', 'a team'], { url });
    expect(moved.stdout).toContain(place);
    expect(moved.stdout).toContain('backend: mysql');
    for (const argv of [['plan'], ['apply', '--auto-approve'], ['apply', 'late.json', '.'], ['status'], ['taint', 'local.value.v["k0"]']]) {
      const late = await ok(argv, { code: 1 });
      expect([argv[0], late.stderr.includes('STATE_RETIRED'), late.stderr.replaceAll(/\s+/g, ' ').includes(place)]).toEqual([
        argv[0],
        true,
        true,
      ]);
      expect(late.stderr).not.toContain('app:');
    }
    await ok(['audit', 'verify']);
    expect((await ok(['audit', 'list'])).stdout).toContain('state.retired');

    workspace.write('environment.yaml', documents(SERVER, 3));
    await ok(['plan', '--detailed-exitcode'], { url });
    expect(await contents(url)).toEqual(before);
    await ok(['apply', 'late.json', '.'], { url, code: 4 });
    // The secret that the state keeps opens at the new place.
    workspace.write(
      'environment.yaml',
      `${documents(SERVER, 4)}  local.file:\n    f: { path: token.txt, content: "\${local.secret.token.value}" }\n`,
    );
    await ok(['apply', '--auto-approve'], { url });
    expect(workspace.read('token.txt')).toHaveLength(32);
    const during = await contents(url);

    // Back into the very file that was taken out of use.
    const back = await ok(['state', 'migrate', '--to', 'sqlite:.accede/state.db'], { url });
    expect(back.stdout).toContain('backend: sqlite');
    const late = await ok(['apply', '--auto-approve'], { url, code: 1 });
    expect(late.stderr).toContain('STATE_RETIRED');
    workspace.write('environment.yaml', workspace.read('environment.yaml').replace(SERVER, FILE));
    await ok(['plan', '--detailed-exitcode']);
    expect(await contents()).toEqual(during);
    expect((await ok(['audit', 'list'])).stdout.match(/state\.migrated/g)?.length).toBe(2);
    await ok(['audit', 'verify']);
    for (const { stdout, stderr } of [inClear, moved, back, late]) {
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(stdout + stderr).not.toContain(secret);
    }
  });

  it('must be ended by the next run, wherever it was killed, and never leave two stores in use', async () => {
    workspace.write('environment.yaml', documents(FILE, 3));
    await ok(['apply', '--auto-approve']);
    const before = await contents();
    const other = new Workspace({ 'environment.yaml': documents(SERVER, 3) });
    other.write('state.key', Buffer.alloc(32, 7), 0o600);
    try {
      const inUse = async () => {
        const [former, next] = await Promise.all(
          [workspace, other].map(({ folder: cwd }) => accede(['state', 'pull'], { cwd, env: env(url) })),
        );
        return { former: former?.code === 0, next: next?.code === 0, said: `${former?.stderr}${next?.stderr}` };
      };
      const killedAt = async (place: string, then: { readonly former: boolean; readonly next: boolean }) => {
        const ran = await accede(['state', 'migrate', '--to', 'env:STATE_URL'], {
          cwd: workspace.folder,
          env: { ...env(url), ACCEDE_FAILPOINT: `${place}=kill` },
        });
        expect([place, ran.signal]).toEqual([place, 'SIGKILL']);
        const { said, ...found } = await inUse();
        expect([place, found]).toEqual([place, then]);
        if (!found.former && !found.next) expect(said).toMatch(/STATE_RETIRED[^]*STATE_MOVE_OPEN/);
      };
      // Before the former store is out of use it goes on; each run makes the copy anew.
      for (const place of ['state.load@before', 'state.load@inside', 'state.load@after', 'state.retire@before', 'state.retire@inside'])
        await killedAt(place, { former: true, next: false });
      for (const place of ['state.retire@after', 'state.activate@before', 'state.activate@inside'])
        await killedAt(place, { former: false, next: false });
      await killedAt('state.activate@after', { former: false, next: true });
      await ok(['state', 'migrate', '--to', 'env:STATE_URL'], { url });
      expect(await inUse()).toMatchObject({ former: false, next: true });
      const pulled = JSON.parse((await accedeOk(['state', 'pull'], { cwd: other.folder, env: env(url) })).stdout);
      expect(pulled).toMatchObject(before);
      await accedeOk(['audit', 'verify'], { cwd: other.folder, env: env(url) });
      await accedeOk(['plan', '--detailed-exitcode'], { cwd: other.folder, env: env(url) });
    } finally {
      other.remove();
    }
  });
});
