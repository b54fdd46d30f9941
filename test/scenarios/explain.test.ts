import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const DOCUMENTS = `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
variables:
  port: { type: number, default: 1 }
resources:
  local.directory:
    etc: { path: etc }
  local.file:
    a:
      path: etc/a.txt
      content: "port \${vars.port}"
      depends_on: [local.directory.etc]
    b:
      path: b.txt
      content: "all of \${local.file.a.content}"
`;

let workspace: Workspace;
let plan: string;

beforeEach(async () => {
  workspace = new Workspace({ 'environment.yaml': DOCUMENTS });
  plan = join(workspace.folder, 'plan.json');
  const git = (...argv: readonly string[]) =>
    execFileSync('git', ['-C', workspace.folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv]);
  git('init', '-q', '.');
  git('add', '-A');
  git('commit', '-qm', 'the first documents');
  await accedeOk(['apply', '--auto-approve', workspace.folder]);
  await accedeOk(['plan', '--var', 'port=2', '--out', plan, workspace.folder]);
});

afterEach(() => workspace.remove());

describe('explain', () => {
  it('must say what a code means, and name the nearest where there is none', async () => {
    const told = await accedeOk(['explain', 'release_altered']);
    expect(told.stdout).toContain('RELEASE_ALTERED');
    expect(told.stdout).toContain('it was altered afterwards');
    const all = await accedeOk(['explain', '--json', 'DOCKER_UNREACHABLE']);
    expect(JSON.parse(all.stdout)).toMatchObject({
      format: 'accede.explanation/v1',
      kind: 'code',
      codes: [{ owner: 'Provider docker', exit: expect.any(Array) }],
    });
    const near = await accede(['explain', 'RELEASE_ALTRED']);
    expect(near.code).toBe(1);
    expect(near.stderr).toContain('Did you mean RELEASE_ALTERED?');
  });

  it('must tell where a resource is written, its commit, and what it is tied to', async () => {
    const told = await accedeOk(['explain', 'local.file.a', workspace.folder, '--json']);
    expect(JSON.parse(told.stdout)).toMatchObject({
      kind: 'address',
      type: 'local.file',
      source: { file: 'environment.yaml', line: 10, column: 5 },
      origin: { summary: 'the first documents' },
      needs: ['local.directory.etc'],
      neededBy: ['local.file.b'],
      recorded: { status: 'ready' },
    });
    const near = await accede(['explain', 'local.file.aa', workspace.folder]);
    expect(near.code).toBe(1);
    expect(near.stderr).toMatch(/Did you mean\s+local\.file\.a\?/);
  });

  it('must lead from a step back to the line, the commit and the dependency that pulled it in', async () => {
    const told = await accedeOk(['explain', 'local.file.b:update', plan], { cwd: workspace.folder });
    expect(told.stdout).toContain('local.file.b: content reads ${local.file.a.content} at environment.yaml:16:');
    const found = JSON.parse(
      (await accedeOk(['explain', 'local.file.b:update', plan, '--json'], { cwd: workspace.folder })).stdout,
    ) as Record<string, unknown>;
    expect(found).toMatchObject({
      kind: 'step',
      action: 'update',
      waits: [{ step: 'local.file.a:update', kind: 'needs', edges: [{ kind: 'reference', path: 'content' }] }],
      causes: [
        { address: 'local.file.b', through: [{ to: 'local.file.a', source: { line: 16 } }] },
        { address: 'local.file.a', places: [{ path: 'content', source: { line: 12 } }], through: [] },
      ],
      causeOrigin: { summary: 'the first documents' },
    });
    const before = JSON.parse(
      (await accedeOk(['explain', 'local.file.a:update', plan, '--json'], { cwd: workspace.folder })).stdout,
    ) as Record<string, unknown>;
    expect(before['before']).toEqual(['local.file.b:update']);
  });

  it('must explain an address by a plan, and say when the documents moved on', async () => {
    const told = await accedeOk(['explain', 'local.file.b', plan], { cwd: workspace.folder });
    expect(told.stdout).toContain('local.file.b:update');
    expect(told.stderr).not.toContain('EXPLAIN_MOVED_ON');
    workspace.write('environment.yaml', `# another line\n${DOCUMENTS}resourcez: {}\n`);
    const broken = await accedeOk(['explain', 'local.file.b:update', plan], { cwd: workspace.folder });
    expect(broken.stderr).toContain('EXPLAIN_MOVED_ON');
    expect(broken.stdout).toContain('local.file.a:update');
  });

  it('must name the steps that there are, and ask for the plan', async () => {
    const unknown = await accede(['explain', 'local.file.b:start', plan], { cwd: workspace.folder });
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain('Did you mean local.file.b:update?');
    const without = await accede(['explain', 'local.file.b:update']);
    expect(without.code).toBe(1);
    expect(without.stderr).toContain('accede plan --out plan.json');
  });
});
