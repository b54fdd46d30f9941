import { afterAll, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

const environment = `apiVersion: accede/v1
kind: Environment
metadata: { name: same }
variables:
  size: { type: integer, default: 3 }
locals:
  sites: { north: { colour: blue }, south: { colour: green } }
`;
const first = `apiVersion: accede/v1
kind: Fragment
resources:
  local.value:
    a: { input: { size: "\${vars.size}", names: [x, y] } }
  local.file:
    page: { for_each: "\${locals.sites}", path: "\${each.key}.txt", content: "\${each.value.colour} \${json(local.value.a.output)}" }
`;
const second = `apiVersion: accede/v1
kind: Fragment
resources:
  local.value:
    b: { input: 1, depends_on: [local.value.a] }
`;
/** The same documents: keys in another order, flow for block, a comment, other file names. */
const shuffled = {
  'zz.yaml': `# a comment
kind: Environment
locals:
  sites:
    south: { colour: green }
    north: { colour: blue }
metadata: { name: same }
variables: { size: { default: 3, type: integer } }
apiVersion: accede/v1
`,
  'aa.yaml': `kind: Fragment
apiVersion: accede/v1
resources:
  local.value: { b: { depends_on: [local.value.a], input: 1 } }
`,
  'mm.yml': `kind: Fragment
apiVersion: accede/v1
resources:
  local.file:
    page: { content: "\${each.value.colour} \${json(local.value.a.output)}", path: "\${each.key}.txt", for_each: "\${locals.sites}" }
  local.value:
    a: { input: { names: [x, y], size: "\${vars.size}" } }
`,
};

const made: Workspace[] = [];
const workspace = (files: Readonly<Record<string, string>>) => {
  const one = new Workspace(files);
  made.push(one);
  return one;
};
afterAll(() => {
  for (const one of made) one.remove();
});

const plan = async (one: Workspace, ...more: readonly string[]) =>
  JSON.parse((await accedeOk(['plan', '--json', ...more, one.folder])).stdout) as PlanDocument;

describe('the digest of a plan', () => {
  it('must be the same on two runs, in two folders, with files renamed and keys reordered, at any parallelism', async () => {
    const one = workspace({ 'environment.yaml': environment, 'first.yaml': first, 'second.yaml': second });
    const digests = [
      await plan(one),
      await plan(one, '--parallelism', '1'),
      await plan(workspace({ 'environment.yaml': environment, 'first.yaml': first, 'second.yaml': second })),
      await plan(workspace(shuffled)),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(1);
  });

  it('must be another one when a variable, a document or the state is', async () => {
    const one = workspace({ 'environment.yaml': environment, 'first.yaml': first, 'second.yaml': second });
    const digests = [await plan(one), await plan(one, '--var', 'size=4')];
    one.write('second.yaml', second.replace('input: 1', 'input: 2'));
    digests.push(await plan(one));
    await accedeOk(['apply', '--auto-approve', one.folder]);
    digests.push(await plan(one));
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(4);
  });

  it('must not cover the times at which it was made', async () => {
    const one = workspace({ 'environment.yaml': environment, 'first.yaml': first, 'second.yaml': second });
    const [a, b] = [await plan(one), await plan(one)];
    expect(a.createdAt).not.toBe(b.createdAt);
    expect({ ...a, createdAt: '', expiresAt: '' }).toEqual({ ...b, createdAt: '', expiresAt: '' });
  });
});
