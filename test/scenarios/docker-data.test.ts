import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage, imageArchive } from '../../scripts/servers/image.ts';
import { digestBytes, digestOf } from '../../src/core/canonical.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let workspace: Workspace;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-dat-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'data/app', tag: '1' })).id;
});

afterAll(async () => {
  await docker?.stop();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(async () => {
  workspace.remove();
  for (const { id } of await engine.containers()) await engine.remove(id);
});

function write(resources: string, outputs = '{}'): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: data }
providers:
  docker: { host: "${docker.host}" }
resources:
${resources}
outputs: ${outputs}
`,
  );
}

function containers(labels: Readonly<Record<string, string>>): string {
  const one = (name: string, label: string) =>
    `    ${name}: { image: "${image}", labels: { ${label} }, stop_signal: KILL, ready: { command: ["true"], interval: 100ms } }`;
  return ['  docker.container:', ...Object.entries(labels).map(([name, label]) => one(name, label))].join('\n');
}

function inventory(guard: string): string {
  return `  docker.inventory:\n    slot: { selector: { label: [slot=blue] }, guard: ${guard} }`;
}

async function foreign(name: string, label: Readonly<Record<string, string>>): Promise<void> {
  await engine.call('POST', `/containers/create?name=${name}`, { Image: image, Labels: label });
}

const OUTPUTS = '{ names: { value: "${docker.inventory.slot.names}" }, states: { value: "${docker.inventory.slot.states}" } }';

describe('docker.inventory', () => {
  it('must tell which containers carry the label, and leave no trace in state and plan', async () => {
    write(containers({ a: 'slot: blue', b: 'slot: green' }));
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    await foreign('z-other', { slot: 'blue' });
    write(`${containers({ a: 'slot: blue', b: 'slot: green' })}\n${inventory('none')}`, OUTPUTS);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const { stdout } = await accedeOk(['output', '--json', workspace.folder]);
    expect(stdout).toContain('["data-a","z-other"]');
    expect(stdout).toContain('["running","created"]');
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
    expect((await accedeOk(['state', 'list', workspace.folder])).stdout).not.toContain('docker.inventory');
  });

  it('must refuse the plan under guard: subset when a container that is not ours carries the label', async () => {
    write(`${containers({ a: 'slot: blue', b: 'slot: green' })}\n${inventory('subset')}`);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    await foreign('stray-2', { slot: 'blue' });
    await foreign('stray-1', { slot: 'blue' });
    await foreign('elsewhere', { slot: 'green' });
    const refused = await accede(['plan', workspace.folder]);
    expect(refused.code).toBe(3);
    expect(refused.stdout + refused.stderr).toContain('INVENTORY_FOREIGN');
    expect(refused.stdout + refused.stderr).toContain('stray-1, stray-2');
  });

  it('must refuse the plan under guard: equal when one of ours does not carry the label', async () => {
    write(`${containers({ a: 'slot: blue', b: 'slot: green' })}\n${inventory('none')}`);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    write(`${containers({ a: 'slot: blue', b: 'slot: green' })}\n${inventory('equal')}`);
    const refused = await accede(['plan', workspace.folder]);
    expect(refused.code).toBe(3);
    expect(refused.stdout + refused.stderr).toContain('INVENTORY_INCOMPLETE');
    expect(refused.stdout + refused.stderr).toContain('data-b');
    write(`${containers({ a: 'slot: blue', b: 'slot: blue' })}\n${inventory('none')}`);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    write(`${containers({ a: 'slot: blue', b: 'slot: blue' })}\n${inventory('equal')}`);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});

describe('docker.image_content', () => {
  const FILES = { '/srv/site/index.html': '<h1>shop</h1>', '/srv/site/js/app.js': 'start()' };
  const expected = digestOf([
    { path: 'index.html', kind: 'file', mode: '0644', content: digestBytes(FILES['/srv/site/index.html']) },
    { path: 'js', kind: 'directory', mode: '0755' },
    { path: 'js/app.js', kind: 'file', mode: '0644', content: digestBytes(FILES['/srv/site/js/app.js']) },
  ]);

  it('must be read at apply when the image comes in the same plan, and be known to the plan afterwards', async () => {
    const { id, archive } = await imageArchive({ name: 'data/web', files: FILES });
    writeFileSync(workspace.path('web.tar'), archive);
    write(
      `  docker.image: { web: { digest: "${id}", archive: web.tar } }
  docker.image_content: { site: { image: "\${docker.image.web.reference}", path: /srv/site/ } }
  local.value: { served: { input: "\${docker.image_content.site.tree}" } }`,
      '{ tree: { value: "${local.value.served.output}" } }',
    );
    const plan = JSON.parse((await accedeOk(['plan', '--json', workspace.folder])).stdout) as {
      readonly changes: readonly { readonly address: string; readonly action: string }[];
    };
    expect(plan.changes.find(({ address }) => address === 'docker.image_content.site')?.action).toBe('read');
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    expect((await accedeOk(['output', '--json', workspace.folder])).stdout).toContain(expected);
    expect(await engine.containers()).toEqual([]);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });

  it('must refuse a path that is not there, and one that leads through a link', async () => {
    const content = (path: string) => `  docker.image_content: { site: { image: "${image}", path: ${path} } }`;
    for (const [path, code] of [
      ['/srv/none', 'DATA_ABSENT'],
      ['/bin/sh', 'IMAGE_CONTENT_LINK'],
    ] as const) {
      write(content(path));
      const refused = await accede(['plan', workspace.folder]);
      expect(refused.code).toBe(3);
      expect(refused.stdout + refused.stderr).toContain(code);
    }
    write(content('/etc/passwd'), '{ digest: { value: "${docker.image_content.site.digest}" } }');
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const accounts = 'root:x:0:0:root:/:/bin/sh\napp:x:10001:10001:app:/:/bin/sh\n';
    expect((await accedeOk(['output', '--json', workspace.folder])).stdout).toContain(digestBytes(accounts));
  });
});
