import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, accedeConfirmed } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let workspace: Workspace;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-rb-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'rollback/app', tag: '1' })).id;
});

afterAll(async () => {
  await docker?.stop();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(async () => {
  await accede(['destroy', '--auto-approve', workspace.folder], { env: { TOKEN: '' } });
  workspace.remove();
});

/** A steady container, one whose environment comes from a file and a secret, and in the third version one more. */
function write(version: number, network = version === 1 ? 'old' : 'new'): void {
  const container = (more: string) => `{ image: "${image}", stop_signal: KILL, ready: { command: ["true"], interval: 100ms }, ${more} }`;
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
providers: { docker: { host: "${docker.host}" } }
secrets: { token: { env: TOKEN } }
resources:
  docker.network: { net: { name: "shop-${network}" } }
  docker.container:
    steady: ${container('labels: { tier: steady }')}
    api: ${container(`networks: ["\${docker.network.net.name}"], labels: { version: "${version}" }, env_file: api.env, environment: { TOKEN: "\${secrets.token}" }`)}
${version === 3 ? `    extra: ${container('labels: { version: "3" }')}\n` : ''}`,
  );
  workspace.write('api.env', `VERSION=${version}\n`);
}

const run = (argv: readonly string[], token: string, code = 0) =>
  accedeConfirmed([...argv, workspace.folder], { env: { TOKEN: token }, code });

/** What runs, by name, without what differs between two containers of one kind. */
async function running(): Promise<Readonly<Record<string, unknown>>> {
  const found: [string, unknown][] = [];
  for (const { name, labels } of await engine.containers()) {
    const { running: isRunning, env } = await engine.container(name);
    found.push([
      name,
      { running: isRunning, version: labels['version'], env: env.filter((line) => /^(?:VERSION|TOKEN)=/.test(line)).sort() },
    ]);
  }
  return Object.fromEntries(found);
}

async function idOf(part: string): Promise<string | undefined> {
  return (await engine.containers()).find(({ name }) => name.includes(part))?.id;
}

describe('rollback of containers', () => {
  it('must bring back what ran before, with the secret of today, and leave the others running', async () => {
    const seen: Readonly<Record<string, unknown>>[] = [];
    for (const version of [1, 2, 3]) {
      write(version);
      await run(['apply', '--auto-approve'], 'first');
      seen.push(await running());
    }
    const steady = await idOf('steady');
    // The folder has gone on, and what the containers were made from is not there any more.
    workspace.write('api.env', 'VERSION=other\n');
    await run(['rollback', '--auto-approve'], 'first');
    expect(await running()).toEqual(seen[1]);
    expect(await idOf('extra')).toBeUndefined();
    await run(['rollback', '--to', '1', '--auto-approve'], 'second');
    const withToday = JSON.parse(JSON.stringify(seen[0]).replaceAll('TOKEN=first', 'TOKEN=second'));
    expect(await running()).toEqual(withToday);
    expect(await idOf('steady')).toBe(steady);
    await run(['rollback', '--to', '1', '--auto-approve'], 'second');
    await run(['plan', '--detailed-exitcode'], 'second', 2);
    await run(['rollback', '--to', '3', '--auto-approve'], 'first');
    expect(await running()).toEqual(seen[2]);
    write(3);
    await run(['plan', '--detailed-exitcode'], 'first');
    expect(await idOf('steady')).toBe(steady);
  });

  it('must leave everything as it is when what it brings back does not get ready, and work once it can', async () => {
    workspace.write('flag/ok', '');
    const withReady = (command: string) =>
      workspace.write(
        'environment.yaml',
        workspace
          .read('environment.yaml')
          .replace(
            /ready: \{[^}]*\}, networks/,
            `ready: { command: ${command}, interval: 100ms, timeout: 2s }, volumes: ["${workspace.path('flag')}:/flag"], networks`,
          ),
      );
    write(1, 'one');
    withReady('["test", "-e", "/flag/ok"]');
    await run(['apply', '--auto-approve'], 'first');
    write(2, 'one');
    withReady('["true"]');
    await run(['apply', '--auto-approve'], 'first');
    const [before, api] = [await running(), await idOf('api')];
    rmSync(workspace.path('flag/ok'));
    const failed = await run(['rollback', '--auto-approve'], 'first', 5);
    expect(failed.stderr).toContain('NOT_READY');
    expect(await running()).toEqual(before);
    expect(await idOf('api')).toBe(api);
    await run(['plan', '--detailed-exitcode'], 'first');
    workspace.write('flag/ok', '');
    await run(['rollback', '--to', '1', '--auto-approve'], 'first');
    expect(Object.values(await running())).toContainEqual({ running: true, version: '1', env: ['TOKEN=first', 'VERSION=1'] });
  });
});
