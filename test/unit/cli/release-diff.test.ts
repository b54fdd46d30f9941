import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accede } from '../../support/binary.ts';

const D = (digit: string): string => `sha256:${digit.repeat(64)}`;
const release = (api: string, more = ''): string => `apiVersion: accede/v1
kind: Release
metadata: { name: shop, version: 1 }
services:
  api: { image: "${api}" }
roles:
  bulk: { schema: v1, parallelism: 4, tunable: { parallelism: { min: 1, max: 9 } } }
${more}`;
const environment = (extra: string): string => `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
release: release.yaml
resources:
  docker.container:
    api: { image: "\${release.services.api.image}", ports: ["127.0.0.1:8080:80"] }
    worker:
      for_each: "\${release.roles}"
      role: worker
      image: "r.example/worker@${D('1')}"
      configs: { /etc/role.json: "\${json(each.value)}" }
${extra}`;

let folder = '';
const write = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
};
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'accede-release-diff-'));
  write('one.yaml', release(`r.example/api@${D('1')}`));
  write('image.yaml', release(`r.example/api@${D('2')}`));
  write('owner.yaml', release(`other.example/api@${D('2')}`).replace('parallelism: 4', 'parallelism: 5'));
  write('tuned.yaml', release(`r.example/api@${D('1')}`).replace('parallelism: 4', 'parallelism: 5'));
  for (const name of ['a', 'b', 'c']) write(`${name}/release.yaml`, release(`r.example/api@${D('1')}`));
  write('a/environment.yaml', environment(''));
  write('b/environment.yaml', environment('policy: { plan_max_age: 1h }\n').replace('8080:80', '9090:80'));
  write('c/environment.yaml', environment('').replace('role: worker', 'role: service'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const diff = async (...argv: readonly string[]) => {
  const ran = await accede(['release', 'diff', ...argv, '--json'], { cwd: folder });
  return { code: ran.code, found: JSON.parse(ran.stdout) };
};

describe('release diff', () => {
  it('must say the class of two releases, and refuse strictly with every path', async () => {
    expect(await diff('one.yaml', 'one.yaml')).toMatchObject({ code: 0, found: { format: 'accede.release-diff/v1', class: 'no-op' } });
    expect(await diff('one.yaml', 'tuned.yaml')).toMatchObject({ code: 0, found: { class: 'worker-tuning' } });
    const image = await diff('one.yaml', 'image.yaml');
    expect(image).toMatchObject({ code: 0, found: { class: 'serving-refresh' } });
    expect(image.found.changedPaths).toEqual([
      {
        path: 'release.services.api.image.digest',
        role: 'service',
        facet: 'implementation',
        action: 'changed',
        admittedBy: 'serving-refresh',
      },
    ]);
    expect(image.found.rejected[0]).toMatchObject({ class: 'worker-implementation', uncovered: ['release.services.api.image.digest'] });
    const owner = await diff('one.yaml', 'owner.yaml');
    expect(owner).toMatchObject({
      code: 3,
      found: { class: 'refuse', chosen: 'replacement', refusals: [{ code: 'REPLACEMENT_NOT_ALLOWED' }] },
    });
    expect(owner.found.refusals[0].message).toContain('release.services.api.image.repository');
    expect(owner.found.refusals[0].message).toContain('release.roles.bulk.parallelism');
  });

  it('must judge releases in an environment by its policy, with the resources that read them', async () => {
    const tuned = await diff('one.yaml', 'tuned.yaml', '--environment', 'a');
    expect(tuned).toMatchObject({ code: 0, found: { class: 'worker-tuning' } });
    expect(tuned.found.changedPaths.map(({ path: at }: { path: string }) => at)).toEqual([
      'docker.container.worker["bulk"].configs["/etc/role.json"].content',
      'release.roles.bulk.parallelism',
    ]);
    expect(await diff('one.yaml', 'owner.yaml', '--environment', 'a')).toMatchObject({ code: 0, found: { class: 'replacement' } });
  });

  it('must compare two environments, wherever they lie', async () => {
    expect(await diff('a', 'b')).toMatchObject({ code: 0, found: { class: 'configuration' } });
    expect(await diff('a', 'c')).toMatchObject({ code: 3, found: { class: 'refuse', chosen: 'replacement' } });
    expect(await diff('a', 'one.yaml')).toMatchObject({ code: 1, found: { error: { code: 'NOTHING_TO_COMPARE' } } });
  });

  it('must show rule, what differs and what narrower classes do not admit', async () => {
    const ran = await accede(['release', 'diff', 'a', 'b'], { cwd: folder });
    expect(ran.stdout).toMatchInlineSnapshot(`
      "Successor: configuration
        rule      only how it is wired differs: no image, no store, no data; what governs differs as well
        differs   infrastructure.governance: policy.plan_max_age
        differs   service.configuration: docker.container.api.ports
        not       job-run uncovered: docker.container.api.ports
        not       runtime-generation uncovered: docker.container.api.ports
      "
    `);
  });
});
