import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accede, accedeOk, type RunOptions } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const TOKENS = { one: 'canary-one-8d1f27', two: 'canary-two-55b0ce' };

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
  spawnSync('git', ['init', '-q', workspace.folder]);
  mkdirSync(workspace.path('out'));
});
afterEach(() => workspace.remove());

/** The documents of a version: files, a template, an include from above the folder, a fragment, a release, variables and a secret. */
function write(version: 1 | 2 | 3): void {
  workspace.write(
    'env/environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: demo }
state: { backend: sqlite, path: ../state/demo.db }
include: ["../shared/*.yaml"]
release: { file: release.yaml }
variables: { port: { type: integer, default: ${version * 1000} } }
secrets: { token: { env: TOKEN }, key: { file: key.txt } }
locals: { sites: "\${parse_yaml(file('sites.txt'))}" }
resources:
  local.file:
    plain: { path: ../out/plain.txt, content: "version ${version} port \${vars.port}" }
    template: { path: ../out/template.txt, content: "\${template('motd.tpl', {'release': release.metadata.version})}" }
    secret: { path: ../out/secret.txt, content: "\${secrets.token}/\${secrets.key} ${version}", mode: "0600" }
    site: { for_each: "\${locals.sites}", path: "../out/site-\${each.key}.txt", content: "\${string(each.value)}" }
${version === 3 ? '    third: { path: ../out/third.txt, content: third }\n' : ''}outputs: { version: { value: ${version} } }
`,
  );
  workspace.write(
    'env/release.yaml',
    `apiVersion: accede/v1\nkind: Release\nmetadata: { name: demo, version: "${version}.0" }\nservices: {}\n`,
  );
  workspace.write('env/motd.tpl', `release \${release}, text ${version}\n`);
  workspace.write('env/sites.txt', version === 1 ? '{ a: 1 }\n' : `{ a: ${version}, b: ${version} }\n`);
  workspace.write(
    'shared/base.yaml',
    `apiVersion: accede/v1\nkind: Fragment\nresources: { local.file: { shared: { path: ../out/shared.txt, content: "shared ${version}" } } }\n`,
  );
  const fragment = 'apiVersion: accede/v1\nkind: Fragment\nresources: { local.file: { late: { path: ../out/late.txt, content: late } } }\n';
  if (version === 3) workspace.write('env/late.yaml', fragment);
  else rmSync(workspace.path('env/late.yaml'), { force: true });
  if (!existsSync(workspace.path('env/key.txt'))) workspace.write('env/key.txt', 'key-canary-31c7aa\n', 0o600);
  chmodSync(workspace.path('env/key.txt'), 0o600);
}

const run = (argv: readonly string[], options: RunOptions & { readonly code?: number } = {}) =>
  accedeOk([...argv], { cwd: workspace.folder, ...options, env: { TOKEN: TOKENS.one, ...options.env } });

async function apply(version: 1 | 2 | 3, env: Readonly<Record<string, string>> = {}): Promise<void> {
  write(version);
  await run(['apply', 'env', '--auto-approve'], { env });
}

/** What stands outside of the documents. */
function world(): Readonly<Record<string, string>> {
  const files = [...workspace.files(workspace.path('out'))];
  return Object.fromEntries(files.map(([name, bytes]) => [name.replace('out/', ''), bytes.toString()]));
}

const rows = async (...argv: readonly string[]) => JSON.parse((await run([...argv, '--json'])).stdout) as Record<string, never>;

async function threeVersions(): Promise<readonly Readonly<Record<string, string>>[]> {
  const worlds: Readonly<Record<string, string>>[] = [];
  for (const version of [1, 2, 3] as const) {
    await apply(version);
    worlds.push(world());
  }
  return worlds;
}

describe('rollback', () => {
  it('must bring back the environment before, the one before that, and the one that was left', async () => {
    const [one, two, three] = await threeVersions();
    await run(['rollback', 'env', '--auto-approve']);
    expect(world()).toEqual(two);
    await run(['rollback', 'env', '--to', '1', '--auto-approve']);
    expect(world()).toEqual(one);
    // Before the one in force now stands the second version again, brought back as operation 4.
    await run(['rollback', 'env', '--auto-approve']);
    expect(world()).toEqual(two);
    await run(['rollback', 'env', '--to', '#3', '--auto-approve']);
    expect(world()).toEqual(three);
    await run(['plan', 'env', '--detailed-exitcode']);
    const { operations } = (await rows('state', 'history', 'env')) as unknown as { operations: { kind: string; outcome: string }[] };
    expect(operations.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      ...Array.from({ length: 4 }, () => 'rollback done'),
      ...Array.from({ length: 3 }, () => 'apply done'),
    ]);
  });

  it('must put in force what it brought back, so that the next plan shows the documents of the folder again', async () => {
    await threeVersions();
    const { inForce: before } = (await rows('show', '2', 'env')) as unknown as { inForce: { sourceDigest: string } };
    await run(['rollback', 'env', '--auto-approve']);
    const status = (await rows('status', 'env')) as unknown as {
      inForce: { serial: number; sourceDigest: string; isWritten: boolean };
      reachable: { serial: number; isInForce: boolean }[];
    };
    expect(status.inForce).toMatchObject({ serial: 4, sourceDigest: before.sourceDigest, isWritten: false });
    expect(status.reachable.map(({ serial, isInForce }) => [serial, isInForce])).toEqual([
      [4, true],
      [3, false],
      [2, false],
      [1, false],
    ]);
    await run(['plan', 'env', '--detailed-exitcode'], { code: 2 });
    expect((await run(['output', 'version', 'env'])).stdout.trim()).toBe('2');
  });

  it('must need nothing of the folder but the state and the files of secrets', async () => {
    const [one, two] = await threeVersions();
    for (const name of ['environment.yaml', 'late.yaml', 'release.yaml', 'motd.tpl', 'sites.txt']) rmSync(workspace.path(`env/${name}`));
    rmSync(workspace.path('shared'), { recursive: true });
    const gone = await accede(['rollback', 'env', '--auto-approve'], { cwd: workspace.folder, env: { TOKEN: TOKENS.one } });
    expect(gone).toMatchObject({ code: 1 });
    expect(gone.stderr).toContain('NO_ENVIRONMENT');
    // Where the state is has to be known, and nothing else has to be right.
    const stub = 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: demo }\nstate: { backend: sqlite, path: ../state/demo.db }\n';
    workspace.write('env/environment.yaml', `${stub}resources: { local.file: { broken: { nothing: "\${vars.missing}" } } }\n`);
    await run(['rollback', 'env', '--auto-approve']);
    expect(world()).toEqual(two);
    workspace.write('env/broken.yaml', 'a: [\n');
    await run(['rollback', 'env', '--to', '1', '--auto-approve']);
    expect(world()).toEqual(one);
  });

  it('must find the state of a folder that lost all its documents', async () => {
    const own = new Workspace({
      'environment.yaml':
        'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: own }\nresources: { local.value: { a: { input: 1 } } }\n',
    });
    try {
      await accedeOk(['apply', own.folder, '--auto-approve']);
      own.write('environment.yaml', own.read('environment.yaml').replace('input: 1', 'input: 2'));
      await accedeOk(['apply', own.folder, '--auto-approve']);
      rmSync(own.path('environment.yaml'));
      await accedeOk(['rollback', own.folder, '--auto-approve']);
      const patch = await accedeOk(['rollback', '--patch', own.folder]);
      expect(patch.stdout).toContain('+resources: { local.value: { a: { input: 1 } } }');
      expect(spawnSync('git', ['-C', own.folder, 'apply'], { input: patch.stdout }).status).toBe(0);
      await accedeOk(['plan', own.folder, '--detailed-exitcode']);
    } finally {
      own.remove();
    }
  });

  it('must take the secrets of today and the variables of then', async () => {
    await apply(1, { ACCEDE_VAR_port: '1111' });
    await apply(2);
    workspace.write('env/key.txt', 'key-of-today-77\n', 0o600);
    const planned = await run(['rollback', 'env', '--auto-approve'], { env: { TOKEN: TOKENS.two, ACCEDE_VAR_port: '9' } });
    expect(world()).toMatchObject({ 'plain.txt': 'version 1 port 1111', 'secret.txt': `${TOKENS.two}/key-of-today-77 1` });
    expect(planned.stdout + planned.stderr).not.toContain(TOKENS.two);
    await run(['rollback', 'env', '--to', '3', '--auto-approve'], { env: { TOKEN: '' }, code: 0 });
    expect(world()['secret.txt']).toBe('/key-of-today-77 1');
  });

  it('must keep no secret in the state', async () => {
    await threeVersions();
    await apply(3, { TOKEN: TOKENS.two });
    for (const [name, bytes] of workspace.files(workspace.path('state'))) {
      for (const canary of [TOKENS.one, TOKENS.two, 'key-canary-31c7aa']) {
        expect(`${name} ${bytes.includes(canary)}`).toBe(`${name} false`);
        expect(`${name} ${bytes.includes(Buffer.from(canary).toString('base64').slice(0, 16))}`).toBe(`${name} false`);
      }
    }
  });

  it('must not keep again what is kept already', async () => {
    await apply(1);
    const size = () => readFileSync(workspace.path('state/demo.db')).length;
    workspace.write('env/big.txt', 'x'.repeat(900_000));
    workspace.write(
      'env/environment.yaml',
      workspace
        .read('env/environment.yaml')
        .replace('resources:', `x-note: a\nresources:\n  local.value: { big: { input: "\${size(file('big.txt'))}" } }`),
    );
    await run(['apply', 'env', '--auto-approve']);
    const once = size();
    for (const note of ['b', 'c', 'd']) {
      workspace.write('env/motd.tpl', note);
      await run(['apply', 'env', '--auto-approve']);
    }
    expect(size() - once).toBeLessThan(400_000);
  });

  it('must refuse a serial that put nothing in force, was pruned, or never was, and name those that can be reached', async () => {
    await threeVersions();
    await run(['taint', 'local.file.plain', 'env']);
    const refused = async (to: string, code: string) => {
      const ran = await accede(['rollback', 'env', '--auto-approve', '--to', to, '--json'], {
        cwd: workspace.folder,
        env: { TOKEN: TOKENS.one },
      });
      expect(ran.code).toBe(1);
      const { error } = JSON.parse(ran.stdout) as { error: { code: string; detail: string } };
      expect(error.code).toBe(code);
      return error.detail;
    };
    expect(await refused('4', 'NOTHING_PUT_IN_FORCE')).toBe(
      'op-4 put nothing in force: it is a taint that ended as done. These serials can be reached: #3, #2, #1.',
    );
    expect(await refused('9', 'NO_SUCH_SERIAL')).toContain('the state has #1 to #4');
    await run(['state', 'prune', '--before', '2', 'env']);
    expect(await refused('1', 'NO_SUCH_SERIAL')).toContain('the state has #2 to #5');
    expect(await refused('4', 'NOTHING_PUT_IN_FORCE')).toContain('These serials can be reached: #3, #2.');
    await run(['rollback', 'env', '--to', '2', '--auto-approve']);
    await run(['state', 'prune', '--keep', '1', 'env']);
    const alone = await accede(['rollback', 'env', '--auto-approve'], { cwd: workspace.folder, env: { TOKEN: TOKENS.one } });
    expect(alone.stderr).toContain('NOTHING_BEFORE');
  });

  it('must say no when nobody approves, and change nothing', async () => {
    await threeVersions();
    const before = world();
    const asked = await accede(['rollback', 'env'], { cwd: workspace.folder, env: { TOKEN: TOKENS.one } });
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.stderr).toContain('APPROVAL_IMPOSSIBLE');
    expect(asked.stdout).toContain('Back to what #2 put in force');
    const other = await accede(['rollback', 'env', '--auto-approve', '--expect-class', 'no-op'], {
      cwd: workspace.folder,
      env: { TOKEN: TOKENS.one },
    });
    expect(other).toMatchObject({ code: 3 });
    expect(world()).toEqual(before);
  });

  it('must print events as apply does, the result last', async () => {
    await threeVersions();
    const { stdout } = await run(['rollback', 'env', '--auto-approve', '--json']);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; result?: { exitCode: number; serial: number } });
    expect(events[0]?.type).toBe('lock.acquired');
    expect(events.at(-1)).toMatchObject({ type: 'operation.done', result: { exitCode: 0, serial: 4 } });
  });

  it('must put an environment in force although the world is already as it says', async () => {
    const [one] = await threeVersions();
    // A part of the environment does not put it in force, whatever it changes.
    for (const name of ['plain', 'template', 'secret', 'shared', 'site', 'third', 'late']) {
      await run(['rollback', 'env', '--to', '1', '--auto-approve', '--target', `local.file.${name}`]);
    }
    expect(world()).toEqual(one);
    expect((await rows('status', 'env')) as unknown as object).toMatchObject({ inForce: { serial: 3 } });
    const { stdout } = await run(['rollback', 'env', '--to', '1', '--auto-approve']);
    expect(stdout).toContain('Done: 0 steps');
    const { inForce } = (await rows('show', '1', 'env')) as unknown as { inForce: { sourceDigest: string } };
    expect((await rows('status', 'env')) as unknown as object).toMatchObject({ inForce: { sourceDigest: inForce.sourceDigest } });
    expect((await run(['rollback', 'env', '--to', '1', '--auto-approve'])).stdout).not.toContain('Done');
  });

  it('must bring back what was destroyed', async () => {
    const [one] = await threeVersions();
    await run(['rollback', 'env', '--to', '1', '--auto-approve']);
    await run(['destroy', 'env', '--auto-approve']);
    expect(world()).toEqual({});
    await run(['rollback', 'env', '--auto-approve']);
    expect(world()).toEqual(one);
  });

  it('must be gone on with by recover and named by status when it was killed half-way', async () => {
    const many = (version: number) => {
      const value = `version ${version}`;
      const files = JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, value])));
      workspace.write(
        'env/environment.yaml',
        `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: many }\nlocals: { files: ${files} }\nresources: { local.file: { f: { for_each: "\${locals.files}", path: "../out/\${each.key}", content: "\${each.value}" } } }\n`,
      );
    };
    for (const version of [1, 2, 3]) {
      many(version);
      await run(['apply', 'env', '--auto-approve']);
    }
    const killed = await accede(['rollback', 'env', '--to', '1', '--auto-approve', '--json', '--parallelism', '1'], {
      cwd: workspace.folder,
      started: (child) => child.stdout?.on('data', (chunk: Buffer) => chunk.includes('"step.done"') && child.kill('SIGKILL')),
    });
    expect(killed.signal).toBe('SIGKILL');
    expect(new Set(Object.values(world()))).toEqual(new Set(['version 1', 'version 3']));
    const { operation } = (await rows('status', 'env')) as unknown as { operation: { kind: string; next: string } };
    expect(operation).toMatchObject({ kind: 'rollback', next: 'accede rollback --to 1 env' });
    // Nothing else was put in force, so that is what going back means now.
    const asked = await accede(['rollback', 'env'], { cwd: workspace.folder });
    expect(asked.stdout).toContain('Back to what #3 put in force');
    await run(['recover', '--forward', 'env', '--auto-approve']);
    expect(new Set(Object.values(world()))).toEqual(new Set(['version 1']));
    expect((await rows('status', 'env')) as unknown as object).toMatchObject({
      operation: null,
      inForce: { serial: 5 },
      lastOperation: { kind: 'rollback' },
    });
  });

  it('must leave everything as it is when it fails, and end with 5', async () => {
    // A file at another path is another file.
    const REPLACING = ['--auto-approve', '--expect-class', 'replacement'];
    await threeVersions();
    const before = world();
    // Its folder is gone, so that the second version can not be written there.
    write(2);
    workspace.write('env/environment.yaml', workspace.read('env/environment.yaml').replace('../out/plain.txt', '../gone/plain.txt'));
    mkdirSync(workspace.path('gone'));
    await run(['apply', 'env', ...REPLACING]);
    await run(['rollback', 'env', ...REPLACING]);
    expect(world()).toEqual(before);
    rmSync(workspace.path('gone'), { recursive: true });
    const failed = await accede(['rollback', 'env', '--to', '4', ...REPLACING], { cwd: workspace.folder, env: { TOKEN: TOKENS.one } });
    expect(failed).toMatchObject({ code: 5 });
    expect(world()).toEqual(before);
    expect((await rows('status', 'env')) as unknown as object).toMatchObject({
      operation: null,
      inForce: { serial: 5 },
      lastOperation: { outcome: 'compensated' },
    });
  });
});

describe('rollback --patch', () => {
  it('must print what makes the folder agree with what is in force, as git applies it', async () => {
    await threeVersions();
    await run(['rollback', 'env', '--auto-approve']);
    const patch = await run(['rollback', '--patch', 'env']);
    expect(spawnSync('git', ['-C', workspace.folder, 'apply'], { input: patch.stdout }).status).toBe(0);
    await run(['plan', 'env', '--detailed-exitcode']);
    expect((await rows('status', 'env')) as unknown as object).toMatchObject({ inForce: { isWritten: true } });
    const again = await run(['rollback', '--patch', 'env']);
    expect(again).toMatchObject({ stdout: '', stderr: 'The documents of the folder are those of #4.\n' });
    const first = await run(['rollback', '--patch', '--to', '1', 'env']);
    expect(spawnSync('git', ['-C', workspace.folder, 'apply'], { input: first.stdout }).status).toBe(0);
    await run(['diff', '1', 'env', 'env', '--detailed-exitcode']);
  });
});

describe('diff and show', () => {
  it('must tell attributes, outputs, variables and documents of two serials apart', async () => {
    await threeVersions();
    const text = (await run(['diff', '2', '3', 'env', '--detailed-exitcode'], { code: 2 })).stdout;
    for (const line of [
      '~ local.file.plain',
      '+ local.file.third',
      '+ local.file.late',
      '+ late.yaml',
      '~ motd.tpl',
      '~ ../shared/base.yaml',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/content +"version 2 port 2000" → "version 3 port 3000"/);
    expect(text).toMatch(/port +2000 → 3000/);
    expect(text).not.toContain(TOKENS.one);
    await run(['diff', '3', '3', 'env', '--detailed-exitcode']);
    await run(['diff', '3', 'env', 'env', '--detailed-exitcode']);
    await run(['diff', 'env', '2', 'env', '--detailed-exitcode'], { code: 2 });
  });

  it('must compare two plans, and refuse to compare a plan with documents', async () => {
    await apply(1);
    await run(['plan', 'env', '--out', 'a.json']);
    write(2);
    await run(['plan', 'env', '--out', 'b.json']);
    const { stdout } = await run(['diff', 'a.json', 'b.json']);
    expect(stdout).toMatch(/~ local.file.plain\n +is planned as update, before as noop/);
    const refused = await accede(['diff', 'a.json', 'env'], { cwd: workspace.folder, env: { TOKEN: TOKENS.one } });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('NOTHING_TO_COMPARE');
  });

  it('must show what a serial was made of', async () => {
    await threeVersions();
    const { stdout } = await run(['show', '3', 'env']);
    for (const line of ['late.yaml', '../shared/base.yaml', 'port = 3000']) expect(stdout).toContain(line);
  });
});

describe('state prune', () => {
  it('must keep what is in force, and be an operation of its own', async () => {
    await threeVersions();
    const { stdout, stderr } = await run(['state', 'prune', '--before', '99', 'env']);
    expect(stdout).toBe(
      'Forgot 2 operations, with 2 environments that could be brought back; #3 and what came after it is kept. State #4.\n',
    );
    expect(stderr).toContain('STATE_PRUNE_HELD_BACK');
    expect((await run(['state', 'prune', '--before', '99', 'env'])).stdout).toBe('Nothing is old enough to be forgotten.\n');
    await run(['plan', 'env', '--detailed-exitcode']);
    await run(['audit', 'verify', 'env']);
    const { operations } = (await rows('state', 'history', 'env')) as unknown as { operations: { kind: string }[] };
    expect(operations.map(({ kind }) => kind)).toEqual(['state-prune', 'apply']);
    await apply(1);
    await run(['rollback', 'env', '--to', '3', '--auto-approve']);
    expect(world()['plain.txt']).toBe('version 3 port 3000');
  });
});
