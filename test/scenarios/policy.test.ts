import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

let workspace: Workspace;
const publicKeys = new Map<string, string>();
const keys = new Workspace();

beforeAll(() => {
  for (const name of ['dana', 'emil']) {
    const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keys.path(name)]);
    expect(made.status, String(made.stderr)).toBe(0);
    publicKeys.set(name, keys.read(`${name}.pub`).trim());
  }
});
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.remove());

/** Writes an environment with one file and this policy. */
function write(content: string, policy: string, more = ''): void {
  workspace.write(
    'env/environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
policy:
${policy}
resources:
  local.file:
    a: { path: ../a.txt, content: "${content}" }
${more}`,
  );
}

const APPROVERS = () => `  approvers:
    - { name: dana, key: "${publicKeys.get('dana')}" }
    - { name: emil, key: "${publicKeys.get('emil')}" }`;

const run = (...words: readonly string[]) => accede(words, { cwd: workspace.folder });
const done = (...words: readonly string[]) => accedeOk(words, { cwd: workspace.folder });

async function refused(code: string, ...words: readonly string[]) {
  const ran = await run(...words);
  expect(ran.code, ran.stdout + ran.stderr).toBe(3);
  expect(ran.stdout + ran.stderr).toContain(`error[${code}]`);
  return ran;
}

const approve = (name: string, ...words: readonly string[]) => done('approve', 'plan.json', '--key', keys.path(name), ...words);

describe('a class', () => {
  it('must be allowed by the policy in force, which no commit loosens that needs it loosened', async () => {
    write('one', '  allow: [initial]');
    await done('apply', 'env', '--auto-approve');
    write('two', '  allow: [initial]');
    expect((await done('plan', 'env', '--out', 'plan.json')).stderr).toContain('CLASS_NOT_ALLOWED');
    await refused('CLASS_NOT_ALLOWED', 'apply', 'plan.json');
    write('two', '  plan_max_age: 2h');
    const loosened = await refused('CLASS_NOT_ALLOWED', 'apply', 'env', '--auto-approve');
    expect(loosened.stderr).toContain('policy-change');
    expect(workspace.read('a.txt')).toBe('one');
  });
});

describe('approvals', () => {
  const policy = () => `  approvals: { initial: 2 }\n${APPROVERS()}`;

  it('must be of two, where two are asked for, of exactly this plan, and be written into the evidence', async () => {
    write('one', policy());
    await done('plan', 'env', '--out', 'plan.json');
    await refused('APPROVALS_MISSING', 'apply', 'plan.json');
    // A plan that is refused begins no state.
    expect((await done('status', 'env')).stdout).toContain('none yet');
    await approve('dana');
    const one = await refused('APPROVALS_MISSING', 'apply', 'plan.json');
    expect(one.stderr).toContain('1 was given, by dana');
    await approve('dana');
    expect(JSON.parse(workspace.read('plan.json.approvals.json'))).toMatchObject({ approvals: [{}] });
    await refused('APPROVALS_MISSING', 'apply', 'plan.json');
    await approve('emil');
    expect((await done('approvals', 'plan.json')).stdout).toContain('2 of 2 approvals, by dana, emil');
    await done('apply', 'plan.json');
    expect(workspace.read('a.txt')).toBe('one');
    expect((await done('evidence', 'show', '1', 'env', '--json')).stdout).toContain('"by":["dana","emil"]');
  });

  it('must count one approver once, and say so', async () => {
    write('one', policy());
    await done('plan', 'env', '--out', 'plan.json');
    await approve('dana');
    const first = JSON.parse(workspace.read('plan.json.approvals.json')) as { readonly approvals: readonly object[] };
    rmSync(workspace.path('plan.json.approvals.json'));
    await approve('dana');
    const second = JSON.parse(workspace.read('plan.json.approvals.json')) as { readonly approvals: readonly object[] };
    writeFileSync(workspace.path('both.json'), JSON.stringify({ ...first, approvals: [...first.approvals, ...second.approvals] }));
    const twice = await refused('APPROVALS_MISSING', 'apply', 'plan.json', '--approvals', 'both.json');
    expect(twice.stderr).toContain('APPROVER_TWICE');
  });

  it('must not count for another plan', async () => {
    write('one', policy());
    await done('plan', 'env', '--out', 'plan.json');
    await approve('dana');
    await approve('emil');
    write('other', policy());
    await done('plan', 'env', '--out', 'other.json');
    const other = await refused('APPROVALS_MISSING', 'apply', 'other.json', '--approvals', 'plan.json.approvals.json');
    expect(other.stderr).toContain('APPROVAL_OTHER_PLAN');
  });

  it('must be found in the state store, by a plan that is made again too', async () => {
    write('one', `  approvals: { policy-change: 1 }\n${APPROVERS()}`);
    await done('apply', 'env', '--auto-approve');
    write('two', `  approvals: { policy-change: 1 }\n  plan_max_age: 1h\n${APPROVERS()}`);
    await done('plan', 'env', '--out', 'plan.json');
    await refused('APPROVALS_MISSING', 'apply', 'plan.json');
    await approve('emil', '--store');
    await done('apply', 'env', '--auto-approve');
    expect((await done('audit', 'list', 'env', '--json')).stdout).toContain('plan.approved');
  });
});

describe('a freeze window', () => {
  const frozen = (more = '') =>
    `  freeze: [{ name: for-good, from: "2020-01-01T00:00:00Z", until: "2999-01-01T00:00:00Z" }]\n${APPROVERS()}${more}`;

  it('must keep off, with its name and its end, and be broken with a reason and one approval more', async () => {
    write('one', frozen());
    await done('plan', 'env', '--out', 'plan.json');
    expect((await refused('FROZEN', 'apply', 'plan.json')).stderr).toMatch(/for-good ends at\s+2999-01-01/);
    await refused('APPROVALS_MISSING', 'apply', 'plan.json', '--break-freeze', '--reason', 'incident');
    expect((await run('apply', 'plan.json', '--break-freeze')).code).toBe(1);
    await approve('dana');
    await refused('FROZEN', 'apply', 'plan.json');
    await done('apply', 'plan.json', '--break-freeze', '--reason', 'incident');
    expect((await done('evidence', 'show', '1', 'env', '--json')).stdout).toContain('"freezeBroken":["for-good"]');
  });
});

describe('a rule', () => {
  const rules = `  rules:
    - { code: NOT_BAD, deny: '\${plan.changes.exists(c, c.after.content == "bad")}', message: content must not be bad }`;

  it('must refuse the plan with its own code, and be the sealed one whatever the documents say by now', async () => {
    write('bad', rules);
    expect((await run('plan', 'env')).stdout).toContain('NOT_BAD');
    write('good', rules);
    await done('apply', 'env', '--auto-approve');
    write('bad', '  plan_max_age: 1h');
    const denied = await run('plan', 'env');
    expect(denied.code).toBe(3);
    expect(denied.stdout).toContain('NOT_BAD');
    await refused('NOT_BAD', 'apply', 'env', '--auto-approve');
  });
});

describe('a hold', () => {
  const policy = '  plan_max_age: 1h';

  it('must keep off every source when it is set by hand, be shown first by status, and end when it is lifted', async () => {
    write('one', policy);
    expect((await run('hold', 'env', '--reason', 'too-early')).code).toBe(1);
    await done('apply', 'env', '--auto-approve');
    write('two', policy);
    await done('plan', 'env', '--out', 'plan.json');
    await done('hold', 'env', '--reason', 'incident-311', '--until', '12h');
    expect((await done('status', 'env')).stdout.split('\n')[2]).toMatch(/held: every source.*incident-311/);
    expect((await run('plan', 'env', '--class-only')).code).toBe(0);
    await refused('HELD', 'apply', 'plan.json');
    await done('hold', 'env', '--lift', '--reason', 'over');
    expect((await done('status', 'env')).stdout).not.toContain('held:');
    // A hold moves no serial, so that a plan from before it is as good as it was.
    await done('apply', 'plan.json');
    const audit = (await done('audit', 'list', 'env', '--json')).stdout;
    expect(audit).toContain('hold.set');
    expect(audit).toContain('hold.lifted');
    expect((await done('audit', 'verify', 'env')).code).toBe(0);
  });

  it('must be on the source that a rollback left, until another one comes', async () => {
    write('one', policy);
    await done('apply', 'env', '--auto-approve');
    write('two', policy);
    await done('apply', 'env', '--auto-approve');
    await done('rollback', 'env', '--auto-approve');
    expect(workspace.read('a.txt')).toBe('one');
    expect((await done('status', 'env')).stdout).toMatch(/held: documents sha256:.*op-3 went back from it/);
    await refused('HELD', 'apply', 'env', '--auto-approve');
    write('three', policy);
    await done('apply', 'env', '--auto-approve');
    write('two', policy);
    await done('apply', 'env', '--auto-approve');
    expect(workspace.read('a.txt')).toBe('two');
  });

  it('must be on a source whose candidate failed and was taken back, until it is lifted', async () => {
    const second = '    b: { path: ../there/b.txt, content: b, depends_on: [local.file.a] }\n';
    mkdirSync(workspace.path('there'));
    write('one', policy);
    await done('apply', 'env', '--auto-approve');
    write('two', policy, second);
    await done('plan', 'env', '--out', 'plan.json');
    rmSync(workspace.path('there'), { recursive: true });
    const failed = await run('apply', 'plan.json');
    expect(failed.code, failed.stdout + failed.stderr).toBe(5);
    expect(failed.stderr).toContain('SOURCE_HELD');
    expect(readFileSync(workspace.path('a.txt'), 'utf8')).toBe('one');
    mkdirSync(workspace.path('there'));
    await refused('HELD', 'apply', 'env', '--auto-approve');
    await done('hold', 'env', '--lift', '--reason', 'the-folder-was-missing');
    await done('apply', 'env', '--auto-approve');
    expect(workspace.read('a.txt')).toBe('two');
  });
});
