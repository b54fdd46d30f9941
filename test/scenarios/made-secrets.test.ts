import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accede, type Ran } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const documents = (state: string, generation: number) => `apiVersion: accede/v1
kind: Environment
metadata: { name: made }
secrets: { passphrase: { env: PASSPHRASE } }
state: ${state}
resources:
  local.secret:
    db: { generation: ${generation} }
  local.directory:
    out: { path: out }
  local.file:
    url: { path: "\${local.directory.out.path}/url", content: "db://app:\${local.secret.db.value}@db", mode: "0600" }
    other: { path: "\${local.directory.out.path}/other", content: other }
outputs:
  url: { value: "db://app:\${local.secret.db.value}@db" }
`;
const WITHOUT = '{ backend: sqlite }';
const BY_FILE = '{ backend: sqlite, encryption: { key_file: state.key } }';
const BY_PASSPHRASE = '{ backend: sqlite, encryption: { passphrase: "${secrets.passphrase}" } }';

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
  workspace.write('state.key', `${randomBytes(32).toString('base64')}\n`, 0o600);
  workspace.write('environment.yaml', documents(BY_FILE, 1));
});
afterEach(() => workspace.remove());

async function run(code: number, ...argv: readonly string[]): Promise<Ran> {
  const ran = await accede([...argv, workspace.folder], { env: { PASSPHRASE: 'a passphrase of some length' } });
  expect(ran.code, `accede ${argv.join(' ')}\n${ran.stdout}\n${ran.stderr}`).toBe(code);
  return ran;
}

const codesOf = (ran: Ran) => [...`${ran.stdout}${ran.stderr}`.matchAll(/\b(?:STATE|SECRET)_[A-Z_]+\b/g)].map(([text]) => text);
const secret = () => workspace.read('out/url').replace(/^db:\/\/app:(.*)@db$/, '$1');

describe('secrets that Accede makes, with the program itself', () => {
  it('must be made, kept, rotated and kept again under another key, and never shown', async () => {
    workspace.write('environment.yaml', documents(WITHOUT, 1));
    expect(codesOf(await run(3, 'plan'))).toContain('STATE_KEY_NEEDED');
    workspace.write('environment.yaml', documents(BY_FILE, 1));
    await run(0, 'apply', '--auto-approve');
    const first = secret();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(workspace.path('out/url')).mode & 0o777).toBe(0o600);
    await run(0, 'plan', '--detailed-exitcode');
    const { mtimeMs } = statSync(workspace.path('out/other'));

    workspace.write('environment.yaml', documents(BY_FILE, 2));
    const plan = await run(2, 'plan', '--detailed-exitcode');
    expect(plan.stdout).toMatch(/local\.file\.url\s+update/);
    expect(plan.stdout).not.toMatch(/local\.file\.other\s+update/);
    await run(0, 'apply', '--auto-approve');
    const second = secret();
    expect(second).not.toBe(first);
    expect(statSync(workspace.path('out/other')).mtimeMs).toBe(mtimeMs);

    workspace.write('environment.yaml', documents(BY_PASSPHRASE, 2));
    expect(codesOf(await run(1, 'plan'))).toContain('STATE_KEY_WRONG');
    await run(0, 'state', 'rekey', '--from-key-file', workspace.path('state.key'));
    await run(0, 'plan', '--detailed-exitcode');
    rmSync(workspace.path('state.key'));

    const pulled = (await run(0, 'state', 'pull')).stdout;
    workspace.write('state.json', pulled);
    rmSync(workspace.path('.accede'), { recursive: true });
    await run(0, 'state', 'push', workspace.path('state.json'));
    rmSync(workspace.path('out/url'));
    await run(0, 'apply', '--auto-approve');
    expect(secret()).toBe(second);
    const output = await run(0, 'output', '--json');
    const shown = [
      plan.stdout,
      pulled,
      output.stdout,
      (await run(0, 'state', 'show', 'local.secret.db')).stdout,
      (await run(0, 'show', 'local.secret.db')).stdout,
    ];
    for (const text of shown) for (const hidden of [first, second]) expect(text).not.toContain(hidden);
  });

  it('must say what is missing when the key is gone, and go on when it is back', async () => {
    await run(0, 'apply', '--auto-approve');
    const made = secret();
    workspace.write('environment.yaml', documents(WITHOUT, 1));
    expect(codesOf(await run(1, 'plan'))).toContain('STATE_KEY_MISSING');
    workspace.write('environment.yaml', documents('{ backend: sqlite, encryption: { key_file: gone.key } }', 1));
    const gone = await run(1, 'apply', '--auto-approve');
    expect(codesOf(gone)).toContain('STATE_KEY_UNUSABLE');
    workspace.write('environment.yaml', documents(BY_FILE, 1));
    await run(0, 'plan', '--detailed-exitcode');
    expect(secret()).toBe(made);
  });

  it('must refuse to remove a directory with content, and say how to go on', async () => {
    await run(0, 'apply', '--auto-approve');
    workspace.write('out/theirs', 'x');
    const refused = await run(3, 'destroy', '--auto-approve');
    expect(`${refused.stdout}${refused.stderr}`).toContain('DIRECTORY_NOT_EMPTY');
    rmSync(workspace.path('out/theirs'));
    await run(0, 'destroy', '--auto-approve');
    expect(existsSync(workspace.path('out'))).toBe(false);
  });
});
