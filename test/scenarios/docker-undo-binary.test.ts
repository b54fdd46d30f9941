import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage, imageArchive } from '../../scripts/servers/image.ts';
import type { Attributes, Value } from '../../src/core/value.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { accedeOk, type Ran } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';

/** What a document has before and after; undefined where it is not in it. */
interface Kind {
  readonly effect: string;
  readonly address: string;
  readonly before?: Attributes;
  readonly after?: Attributes;
  readonly action: string;
}

let bench: Bench;
let plain: string;
let storing: string;
let archive: { readonly id: string; readonly archive: Buffer };
let workspace: Workspace;

beforeAll(async () => {
  bench = await Bench.start();
  plain = (await buildImage(bench.engine.host, { name: 'undo/plain' })).id;
  storing = (await buildImage(bench.engine.host, { name: 'undo/store', volumes: ['/var/lib/store'] })).id;
  archive = await imageArchive({ labels: { which: 'archived' } });
}, 120_000);

afterAll(() => bench?.stop());

beforeEach(() => {
  workspace = new Workspace({ 'app.tar': archive.archive });
});

afterEach(async () => {
  workspace.remove();
  await bench.clear();
});

const QUICK = { command: ['true'], interval: '100ms', timeout: '2m' };

function service(more: Attributes = {}): Attributes {
  return { image: plain, stop_signal: 'KILL', ready: QUICK, ...more };
}

/** One resource for each kind of effect that a change of the docker types has. */
function kinds(): readonly Kind[] {
  const subnet = { ipam: { config: [{ subnet: `${bench.engine.prefix}.120.0/24` }] } };
  const fixed = (last: number): Value => [{ name: 'undo-old', aliases: ['front'], ipv4_address: `${bench.engine.prefix}.120.${last}` }];
  const needs = { depends_on: ['docker.network.old', 'docker.network.side'] };
  const mounted = { volumes: ['undo-made:/data'], networks: ['undo-made'], depends_on: ['docker.network.made', 'docker.volume.made'] };
  return [
    { effect: 'an image is loaded', address: 'docker.image.loaded', action: 'create', after: { digest: archive.id, archive: 'app.tar' } },
    { effect: 'a network is made', address: 'docker.network.made', action: 'create', after: {} },
    { effect: 'a volume is made', address: 'docker.volume.made', action: 'create', after: {} },
    { effect: 'a container is made', address: 'docker.container.made', action: 'create', after: { ...service(mounted), image: storing } },
    {
      effect: 'limits and restart policy change in place',
      address: 'docker.container.limited',
      action: 'update',
      before: service({ mem_limit: '64m', pids_limit: 50 }),
      after: service({ mem_limit: '128m', cpus: 0.5, cpu_shares: 512, restart: 'always' }),
    },
    {
      effect: 'a container is renamed',
      address: 'docker.container.renamed',
      action: 'update',
      before: service({ name: 'undo-one' }),
      after: service({ name: 'undo-two' }),
    },
    {
      effect: 'networks are joined and left',
      address: 'docker.container.joined',
      action: 'update',
      before: service({ networks: fixed(9), ...needs }),
      after: service({ networks: ['undo-side'], ...needs }),
    },
    {
      effect: 'a container is replaced',
      address: 'docker.container.replaced',
      action: 'replace',
      before: service({ environment: { TURN: 1 }, restart: 'always', networks: fixed(10), ...needs }),
      after: service({ environment: { TURN: 2 }, restart: 'always', networks: fixed(10), ...needs }),
    },
    {
      effect: 'a container is replaced and goes on meanwhile',
      address: 'docker.container.overlapping',
      action: 'replace',
      before: service({ environment: { TURN: 1 }, lifecycle: { create_before_destroy: true } }),
      after: service({ environment: { TURN: 2 }, lifecycle: { create_before_destroy: true } }),
    },
    {
      effect: 'a container with a volume of its own is replaced',
      address: 'docker.container.store',
      action: 'replace',
      before: { ...service({ environment: { TURN: 1 } }), image: storing },
      after: { ...service({ environment: { TURN: 2 } }), image: storing },
    },
    { effect: 'a stopped container is started', address: 'docker.container.stopped', action: 'start', before: service(), after: service() },
    { effect: 'a container is removed', address: 'docker.container.removed', action: 'delete', before: service() },
    { effect: 'a network is removed', address: 'docker.network.removed', action: 'delete', before: {} },
    { effect: 'nothing is done', address: 'docker.network.old', action: 'noop', before: subnet, after: subnet },
    { effect: 'nothing is done', address: 'docker.network.side', action: 'noop', before: {}, after: {} },
  ];
}

function write(resources: readonly (readonly [address: string, attributes: Attributes | undefined])[]): void {
  const byType: Record<string, Record<string, Attributes>> = {};
  for (const [address, attributes] of resources) {
    if (attributes === undefined) continue;
    const dot = address.lastIndexOf('.');
    const type = address.slice(0, dot);
    byType[type] = { ...byType[type], [address.slice(dot + 1)]: attributes };
  }
  const head = { apiVersion: 'accede/v1', kind: 'Environment', metadata: { name: 'undo' } };
  workspace.write(
    'environment.yaml',
    JSON.stringify({ ...head, providers: { docker: { host: bench.engine.host } }, resources: byType }, null, 1),
  );
}

const apply = (code = 0): Promise<Ran> => accedeOk(['apply', '--auto-approve', workspace.folder], { code });
const plan = async (): Promise<PlanDocument> => JSON.parse((await accedeOk(['plan', '--json', workspace.folder])).stdout) as PlanDocument;

/** What stays when everything is taken back: what was fetched serves nobody by itself, and the next attempt finds it there. */
const STAYS = 'docker.image.loaded';

/** What a plan is going to do and why; without what tells one plan from another, and without what stays. */
function essence({ changes, steps, drift, warnings, outageAddresses, fingerprints }: PlanDocument): object {
  const { [STAYS]: _stays, ...others } = fingerprints;
  return {
    changes: changes.filter(({ address }) => address !== STAYS),
    steps: steps
      .filter(({ address }) => address !== STAYS)
      .map((step) => ({ ...step, after: step.after.filter((id) => !id.startsWith(STAYS)) })),
    drift,
    warnings,
    outageAddresses,
    fingerprints: others,
  };
}

interface Inspected {
  readonly Id: string;
  readonly Name: string;
  readonly State: { readonly Running: boolean };
  readonly HostConfig: { readonly [name: string]: unknown };
  readonly Mounts: readonly { readonly Name?: string; readonly Destination: string }[];
  readonly NetworkSettings: { readonly Networks: { readonly [name: string]: { readonly Aliases: unknown; readonly IPAMConfig: unknown } } };
}

/** Everything on the engine that a change can touch, by name. */
async function everything(): Promise<Readonly<Record<string, unknown>>> {
  const list = (await bench.hand('GET', '/containers/json?all=1')) as readonly { readonly Id: string }[];
  const containers = await Promise.all(
    list.map(async ({ Id }) => {
      const { Name, State, HostConfig, Mounts, NetworkSettings } = (await bench.hand('GET', `/containers/${Id}/json`)) as Inspected;
      const networks = Object.fromEntries(
        Object.entries(NetworkSettings.Networks).map(([name, { Aliases, IPAMConfig }]) => [name, [Aliases, IPAMConfig]]),
      );
      // An engine spells a limit that was set and taken away in another way than one that never was: the plan tells whether it is the same.
      const { RestartPolicy, Memory, MemorySwap, NetworkMode, Binds } = HostConfig;
      const settings = { RestartPolicy, Memory, MemorySwap, NetworkMode, Binds };
      const mounts = Mounts.map(({ Name: volume, Destination }) => `${volume ?? ''}:${Destination}`);
      return [`container ${Name}`, { Id, running: State.Running, settings, networks, mounts: mounts.toSorted() }] as const;
    }),
  );
  const networks = (await bench.hand('GET', '/networks')) as readonly { readonly Id: string; readonly Name: string }[];
  const { Volumes } = (await bench.hand('GET', '/volumes')) as { readonly Volumes: readonly { readonly Name: string }[] | null };
  return Object.fromEntries([
    ...containers,
    ...networks.map(({ Id, Name }) => [`network ${Name}`, Id] as const),
    ...(Volumes ?? []).map(({ Name }) => [`volume ${Name}`, true] as const),
  ]);
}

describe('an apply whose last step fails', () => {
  let before: PlanDocument;
  let after: PlanDocument;
  let stood: Readonly<Record<string, unknown>>;
  let stands: Readonly<Record<string, unknown>>;
  let failed: Ran;
  let second: Ran;
  let last: PlanDocument;

  beforeAll(async () => {
    workspace = new Workspace({ 'app.tar': archive.archive });
    const all = kinds();
    const rest = all.filter(({ after: wanted }) => wanted !== undefined).map(({ address }) => address);
    const ending = (ready: Attributes) => ['docker.container.ending', { ...service({ depends_on: rest }), ready }] as const;
    const never = ending({ command: ['false'], interval: '100ms', timeout: '500ms' });
    write(all.map(({ address, before: attributes }) => [address, attributes]));
    await apply();
    await bench.hand('POST', '/containers/undo-stopped/stop?t=0');
    write([...all.map(({ address, after: attributes }) => [address, attributes] as const), never]);
    before = await plan();
    stood = await everything();
    failed = await apply(5);
    stands = await everything();
    after = await plan();
    write([...all.map(({ address, after: attributes }) => [address, attributes] as const), ending(QUICK)]);
    second = await apply();
    last = JSON.parse((await accedeOk(['plan', '--json', '--detailed-exitcode', workspace.folder])).stdout) as PlanDocument;
    workspace.remove();
  }, 600_000);

  it('must have done the effects of every kind before it failed', () => {
    expect(failed.stdout + failed.stderr).toContain('NOT_READY');
    for (const { address, action } of kinds()) expect([address, changeOf(before, address)?.action]).toEqual([address, action]);
  });

  const changeOf = (document: PlanDocument, address: string) => document.changes.find((one) => one.address === address);

  it('must leave everything with its ids, names, networks, limits and volumes as it was', () => {
    expect(stands).toEqual(stood);
  });

  it('must be planned again as it was planned before', () => {
    expect(essence(after)).toEqual(essence(before));
    expect([changeOf(before, STAYS)?.action, changeOf(after, STAYS)?.action]).toEqual(['create', 'noop']);
  });

  it('must go through once what failed can work', () => {
    expect(second.code).toBe(0);
    expect(last.changes.filter(({ action }) => action !== 'noop')).toEqual([]);
  });
});

describe('a container with a volume that only its image declares', () => {
  const STORE = 'echo $TURN >> /var/lib/store/turns; exec sleep 1000';

  async function turns(): Promise<string> {
    const { Id } = (await bench.hand('POST', '/containers/undo-db/exec', {
      AttachStdout: true,
      Tty: true,
      Cmd: ['cat', '/var/lib/store/turns'],
    })) as { readonly Id: string };
    return (await bench.text('POST', `/exec/${Id}/start`, { Detach: false, Tty: true })).trim().split(/\s+/).join(' ');
  }

  it('must keep its data through three replacements and the way back to the first state', async () => {
    for (const turn of [1, 2, 3, 4]) {
      write([['docker.container.db', { ...service({ command: ['sh', '-c', STORE], environment: { TURN: turn } }), image: storing }]]);
      await apply();
    }
    await expect.poll(turns).toBe('1 2 3 4');
    const volume = Object.keys(await everything()).filter((name) => name.startsWith('volume'));
    expect(volume).toHaveLength(1);
    await accedeOk(['rollback', '--to', '1', '--auto-approve', workspace.folder]);
    await expect.poll(turns).toBe('1 2 3 4 1');
    expect(Object.keys(await everything()).filter((name) => name.startsWith('volume'))).toEqual(volume);
    write([['docker.container.db', { ...service({ command: ['sh', '-c', STORE], environment: { TURN: 1 } }), image: storing }]]);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});
