import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

/** Writes its turn down in its volume, and tells all turns that it finds there. */
const STORE = 'echo $TURN >> /var/lib/store/turns; cat /var/lib/store/turns; exec sleep 1000';

let work: string;
let docker: DockerServer;
let engine: EngineClient;
let image: string;
let storing: string;
let workspace: Workspace;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-rep-');
  docker = await startDocker(work);
  engine = new EngineClient(docker.host);
  image = (await buildImage(docker.host, { name: 'replace/app', tag: '1' })).id;
  storing = (await buildImage(docker.host, { name: 'replace/store', tag: '1', volumes: ['/var/lib/store'] })).id;
}, 60_000);

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
  for (const name of await volumes()) await engine.call('DELETE', `/volumes/${name}`);
  await engine.call('POST', '/networks/prune');
});

function write(resources: string, more = ''): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
providers:
  docker: { host: "${docker.host}" }
resources:
${resources}
${more}`,
  );
}

/** A container in one line of YAML that stops at once and is ready at once. */
function container(name: string, attributes: string): string {
  return `    ${name}: { stop_signal: KILL, ready: { command: ["true"], interval: 100ms }, ${attributes} }\n`;
}

function store(turn: number, more = ''): string {
  const attributes = `image: "${storing}", command: [sh, -c, "${STORE}"], environment: { TURN: "${turn}" }${more}`;
  return `  docker.container:\n${container('db', attributes)}`;
}

const apply = () => accedeOk(['apply', '--auto-approve', workspace.folder]);
const plan = () => accedeOk(['plan', '--detailed-exitcode', workspace.folder]);

async function volumes(): Promise<readonly string[]> {
  const { Volumes } = (await engine.call('GET', '/volumes')) as { readonly Volumes: readonly { readonly Name: string }[] | null };
  return (Volumes ?? []).map(({ Name }) => Name).toSorted();
}

/** What the containers of the engine are called and how they stand. */
async function stand(): Promise<readonly string[]> {
  return (await engine.containers()).map(({ name, state }) => `${name} ${state}`);
}

/** The turns that a container found in its volume. */
async function turns(name: string): Promise<string> {
  const { body } = await ask(docker.socket, { method: 'GET', path: `/containers/${name}/logs?stdout=1` });
  return body
    .toString('latin1')
    .replace(/[^\d\n]/g, '')
    .trim()
    .split(/\n+/)
    .join(' ');
}

async function expectTurns(expected: string): Promise<void> {
  await expect.poll(() => turns('shop-db')).toBe(expected);
}

describe('a volume that the image declares and the document does not mount', () => {
  it('must keep its data through replacements, one that fails, the first document again and a removal by hand', async () => {
    write(store(1));
    await apply();
    const [volume = ''] = await volumes();
    for (const [turn, expected] of [
      [2, '1 2'],
      [3, '1 2 3'],
      [4, '1 2 3 4'],
      // A successor that never gets ready wrote its turn as well before the one before it came back and wrote its own again.
      [9, undefined],
      [1, '1 2 3 4 9 4 1'],
    ] as const) {
      write(expected === undefined ? store(turn).replace('["true"]', '["false"], timeout: 1s') : store(turn));
      if (expected === undefined) {
        const { id } = await engine.container('shop-db');
        await accedeOk(['apply', '--auto-approve', workspace.folder], { code: 5 });
        expect(await engine.container('shop-db')).toMatchObject({ id, running: true });
      } else {
        await apply();
        await expectTurns(expected);
        await plan();
      }
      expect(await stand()).toEqual(['shop-db running']);
      expect(await volumes()).toEqual([volume]);
    }
    write(store(5, ', lifecycle: { create_before_destroy: true }'));
    await apply();
    await expectTurns('1 2 3 4 9 4 1 5');
    await engine.remove('shop-db');
    await apply();
    await expectTurns('1 2 3 4 9 4 1 5 5');
    await plan();
    expect(await volumes()).toEqual([volume]);
  }, 120_000);

  it('must be warned of with the lines of a volume that takes over the data, and these must make no difference to the container', async () => {
    write(store(1));
    expect((await apply()).stderr).toContain('ANONYMOUS_VOLUME');
    const [volume = ''] = await volumes();
    const { id } = await engine.container('shop-db');
    // It is said where something is done about the container, and not for ever.
    expect((await plan()).stdout).not.toContain('ANONYMOUS_VOLUME');
    write(store(2));
    const warned = (await accedeOk(['plan', workspace.folder])).stdout;
    expect(warned).toContain('ANONYMOUS_VOLUME  docker.container.db');
    const lines = [
      `resources: docker.volume: db_var_lib_store: name: ${volume}`,
      `import: - address: docker.volume.db_var_lib_store id: ${volume}`,
      'volumes: ["${docker.volume.db_var_lib_store.name}:/var/lib/store"]',
    ];
    for (const line of lines) expect(warned.replace(/\s+/g, ' ')).toContain(line);
    const taken = `import: [{ address: docker.volume.db_var_lib_store, id: ${volume} }]`;
    const mounted = ', volumes: ["${docker.volume.db_var_lib_store.name}:/var/lib/store"]';
    write(`  docker.volume: { db_var_lib_store: { name: ${volume} } }\n${store(1, mounted)}`, taken);
    await apply();
    expect((await engine.container('shop-db')).id).toBe(id);
    write(`  docker.volume: { db_var_lib_store: { name: ${volume} } }\n${store(2, mounted)}`, taken);
    await apply();
    await expectTurns('1 2');
    expect((await plan()).stdout).not.toContain('ANONYMOUS_VOLUME');
    expect(await volumes()).toEqual([volume]);
  }, 60_000);

  it('must stay when its container goes, and be renewed and removed only where the document says so', async () => {
    write(store(1));
    await apply();
    const [first = ''] = await volumes();
    write(store(2, ', renew_anon_volumes: true'));
    await apply();
    await expectTurns('2');
    const [second = ''] = await volumes();
    expect(await volumes()).toEqual([second]);
    expect(second).not.toBe(first);
    await engine.call('POST', '/containers/create?name=other', { Image: image, HostConfig: { Binds: [`${second}:/x`] } });
    write(store(3, ', renew_anon_volumes: true'));
    await apply();
    await expectTurns('3');
    // Somebody else uses the second one by now.
    expect(await volumes()).toHaveLength(2);
    await engine.remove('other');
    await engine.call('DELETE', `/volumes/${second}`);
    write(store(4));
    await apply();
    await expectTurns('3 4');
    const kept = await volumes();
    write('  local.value: { nothing: { input: 1 } }');
    await apply();
    expect([await stand(), await volumes()]).toEqual([[], kept]);
    write(store(5, ', renew_anon_volumes: true'));
    await apply();
    write('  local.value: { nothing: { input: 1 } }');
    await apply();
    expect(await volumes()).toEqual(kept);
  }, 120_000);
});

describe('a replacement', () => {
  const app = (turn: number, more: string) =>
    container('app', `image: "${image}", command: [sleep, "1000"], environment: { TURN: "${turn}" }, ${more}`);

  it('must show each step on its own, and keep the predecessor from coming back with the engine while it is open', async () => {
    write(`  docker.container:\n${app(1, 'restart: always')}`);
    await apply();
    const { id } = await engine.container('shop-app');
    const aside = `shop-app-aside-${id.slice(0, 12)}`;
    write(`  docker.container:\n${app(2, 'restart: always').replace('["true"]', '["false"]')}`);
    const shown = JSON.parse((await accedeOk(['plan', '--json', workspace.folder])).stdout) as {
      readonly steps: readonly { readonly effect: string; readonly direction: string; readonly stage: string }[];
    };
    const directions = Object.fromEntries(shown.steps.map(({ effect, direction }) => [effect, direction]));
    expect(directions).toMatchObject({
      stop: 'back',
      'set-aside': 'back',
      create: 'back',
      start: 'back',
      ready: 'back',
      retire: 'forward',
    });
    const killed = killedWhileItWaits(aside);
    expect((await killed).signal).toBe('SIGKILL');
    expect(await stand()).toEqual(['shop-app running', `${aside} exited`]);
    await docker.restart();
    await eventually('the successor came back', async () => (await stand()).includes('shop-app running'));
    expect(await stand()).toEqual(['shop-app running', `${aside} exited`]);
    write(`  docker.container:\n${app(1, 'restart: always')}`);
    await apply();
    await apply();
    expect(await stand()).toEqual(['shop-app running']);
    expect((await engine.container('shop-app')).env).toContain('TURN=1');
    await plan();
  }, 120_000);

  /** An apply that is killed when its successor runs and is waited for. */
  function killedWhileItWaits(aside: string) {
    const isWaiting = async () => {
      const names = await stand();
      return names.includes('shop-app running') && names.includes(`${aside} exited`);
    };
    return accede(['apply', '--auto-approve', workspace.folder], {
      started: (child) => void eventually('it waits for the successor', isWaiting).then(() => child.kill('SIGKILL')),
    });
  }

  it('must be taken back by recover --back after it was killed', async () => {
    write(`  docker.container:\n${app(1, 'restart: always')}`);
    await apply();
    const { id } = await engine.container('shop-app');
    write(`  docker.container:\n${app(2, 'restart: always').replace('["true"]', '["false"]')}`);
    expect((await killedWhileItWaits(`shop-app-aside-${id.slice(0, 12)}`)).signal).toBe('SIGKILL');
    const back = await accede(['recover', '--back', '--auto-approve', workspace.folder]);
    expect(back.code, back.stdout + back.stderr).toBe(0);
    expect(await stand()).toEqual(['shop-app running']);
    expect((await engine.container('shop-app')).id).toBe(id);
    write(`  docker.container:\n${app(1, 'restart: always')}`);
    await plan();
  }, 60_000);

  it('must have the old container serve again within seconds when its successor never gets ready', async () => {
    const networks = 'networks: [{ name: "${docker.network.net.name}", aliases: [front], ipv4_address: ADDRESS }]';
    const address = `${docker.prefix}.230.9`;
    const document = (turn: number, ready: string) =>
      write(
        `  docker.network: { net: { ipam: { config: [{ subnet: ${docker.prefix}.230.0/24 }] } } }
  docker.container:\n${app(turn, `restart: always, ${networks.replace('ADDRESS', address)}`).replace('["true"]', ready)}`,
      );
    document(1, '["true"]');
    await apply();
    const { id } = await engine.container('shop-app');
    document(2, '["false"], timeout: 1s');
    const began = performance.now();
    const failed = await accede(['apply', '--auto-approve', workspace.folder]);
    expect(failed.code, failed.stdout + failed.stderr).toBe(5);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await stand()).toEqual(['shop-app running']);
    expect((await engine.container('shop-app')).id).toBe(id);
    const seen = (await engine.call('GET', '/containers/shop-app/json')) as {
      readonly HostConfig: { readonly RestartPolicy: { readonly Name: string } };
      readonly NetworkSettings: { readonly Networks: { readonly 'shop-net': { readonly IPAddress: string } } };
    };
    expect([seen.HostConfig.RestartPolicy.Name, seen.NetworkSettings.Networks['shop-net'].IPAddress]).toEqual(['always', address]);
    document(1, '["true"]');
    await plan();
  }, 60_000);

  it('must not let a predecessor hold a volume or a network that is replaced with it', async () => {
    const document = (turn: number) =>
      write(
        `  docker.volume: { data: { labels: { turn: "${turn}" }, lifecycle: { prevent_destroy: false } } }
  docker.network: { net: { labels: { turn: "${turn}" } } }
${store(turn, ', volumes: ["${docker.volume.data.name}:/data"], networks: ["${docker.network.net.name}"]')}`,
      );
    document(1);
    await apply();
    document(2);
    await apply();
    await expectTurns('1 2');
    expect(await stand()).toEqual(['shop-db running']);
    await plan();
  }, 60_000);
});
