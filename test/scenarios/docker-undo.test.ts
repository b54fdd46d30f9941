import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';

const CONTAINER = 'docker.container';
const NETWORK = 'docker.network';
const VOLUME = 'docker.volume';
const QUICK = { command: ['true'], interval: '100ms', timeout: '5s' };
const NEVER = { command: ['false'], interval: '100ms', timeout: '300ms' };

let bench: Bench;
let image: string;
let storing: string;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  image = (await buildImage(bench.engine.host, {})).id;
  storing = (await buildImage(bench.engine.host, { volumes: ['/var/lib/store', '/var/lib/log/'] })).id;
}, 60_000);

afterAll(() => bench?.stop());

beforeEach(() => {
  driver = bench.driver();
});

afterEach(async () => {
  await driver.close();
  await bench.clear();
});

interface Inspected {
  readonly Id: string;
  readonly Name: string;
  readonly State: { readonly Running: boolean; readonly StartedAt: string };
  readonly HostConfig: { readonly RestartPolicy: { readonly Name: string; readonly MaximumRetryCount: number } };
  readonly Mounts: readonly { readonly Name?: string; readonly Destination: string }[];
  readonly NetworkSettings: {
    readonly Networks: {
      readonly [name: string]: { readonly IPAMConfig: unknown; readonly Aliases: readonly string[] | null; readonly IPAddress: string };
    };
  };
}

async function inspect(ref: string): Promise<Inspected> {
  return (await bench.hand('GET', `/containers/${ref}/json`)) as Inspected;
}

/** Of every container: its name, and how it stands. */
async function containers(): Promise<readonly string[]> {
  const list = (await bench.hand('GET', '/containers/json?all=1')) as readonly {
    readonly Names: readonly string[];
    readonly State: string;
  }[];
  return list.map((one) => `${one.Names[0]?.slice(1)} ${one.State}`).toSorted();
}

async function volumes(): Promise<readonly string[]> {
  const { Volumes } = (await bench.hand('GET', '/volumes')) as { readonly Volumes: readonly { readonly Name: string }[] | null };
  return (Volumes ?? []).map(({ Name }) => Name).toSorted();
}

function service(more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', command: ['sleep', '1000'], ready: QUICK, ...more };
}

async function anonymous(ref: string): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await inspect(ref)).Mounts.map((mount) => [mount.Destination, mount.Name ?? '']));
}

describe('the way back from a replacement', () => {
  it('must bring back the same container, running, with its restart policy, name, networks and addresses', async () => {
    driver.repetitions = 2;
    const pool = { ipam: { config: [{ subnet: `${bench.engine.prefix}.220.0/24` }] } };
    await driver.create(NETWORK, 'net', pool);
    await driver.create(NETWORK, 'side', {});
    const networks = [{ name: 'bench-net', aliases: ['front'], ipv4_address: `${bench.engine.prefix}.220.9` }, 'bench-side'];
    for (const restart of ['always', 'unless-stopped', 'on-failure:3', 'no']) {
      const attributes = service({ restart, networks, environment: { TURN: 1 } });
      await driver.create(CONTAINER, 'app', attributes);
      const { ref } = driver.recorded(CONTAINER, 'app');
      const before = await inspect(ref ?? '');
      const seen = await driver.read(CONTAINER, 'app');
      const failure = await failureOf(
        driver.change(CONTAINER, 'app', service({ restart, networks, environment: { TURN: 2 }, ready: NEVER })),
      );
      expect(failure.code).toBe('NOT_READY');
      expect(await containers()).toEqual(['bench-app running', `bench-app-aside-${ref?.slice(0, 12)} exited`]);
      expect((await inspect(ref ?? '')).HostConfig.RestartPolicy).toEqual({ Name: 'no', MaximumRetryCount: 0 });
      await driver.takeBack(CONTAINER, 'app');
      expect(await containers()).toEqual(['bench-app running']);
      const after = await inspect('bench-app');
      expect(after.Id).toBe(ref);
      expect(after.HostConfig.RestartPolicy).toEqual(before.HostConfig.RestartPolicy);
      expect(Object.entries(after.NetworkSettings.Networks).map(([name, one]) => [name, one.Aliases, one.IPAMConfig])).toEqual(
        Object.entries(before.NetworkSettings.Networks).map(([name, one]) => [name, one.Aliases, one.IPAMConfig]),
      );
      expect(after.NetworkSettings.Networks['bench-net']?.IPAddress).toBe(`${bench.engine.prefix}.220.9`);
      expect(await driver.read(CONTAINER, 'app')).toEqual({ ...seen, computed: expect.anything() });
      expect(await driver.differences(CONTAINER, 'app', attributes)).toEqual([]);
      await driver.delete(CONTAINER, 'app');
    }
  }, 60_000);

  it('must let a predecessor that goes on beside its successor have its name again without a pause', async () => {
    driver.repetitions = 2;
    await driver.create(NETWORK, 'net', {});
    const networks = [{ name: 'bench-net', aliases: ['front'] }];
    await driver.create(CONTAINER, 'app', service({ restart: 'always', networks }));
    const seen = await driver.read(CONTAINER, 'app');
    const { ref = '' } = driver.recorded(CONTAINER, 'app');
    const { StartedAt } = (await inspect(ref)).State;
    const next = service({ restart: 'always', networks, environment: { TURN: 2 }, ready: NEVER });
    expect((await failureOf(driver.change(CONTAINER, 'app', next, 'create-first'))).code).toBe('NOT_READY');
    const aside = await inspect(ref);
    expect(aside).toMatchObject({ Name: `/bench-app-aside-${ref.slice(0, 12)}`, State: { Running: true, StartedAt } });
    expect(aside.NetworkSettings.Networks['bench-net']?.Aliases).toContain('front');
    await driver.takeBack(CONTAINER, 'app');
    expect(await containers()).toEqual(['bench-app running']);
    expect(await driver.read(CONTAINER, 'app')).toEqual({ ...seen, computed: expect.anything() });
    expect((await inspect(ref)).State.StartedAt).toBe(StartedAt);
  });

  it('must leave one that did not run as it was, and say when it is gone', async () => {
    await driver.create(CONTAINER, 'app', service({ restart: 'always' }));
    const { ref = '' } = driver.recorded(CONTAINER, 'app');
    await bench.hand('POST', '/containers/bench-app/kill');
    await bench.hand('POST', '/containers/bench-app/stop?t=0');
    const next = service({ restart: 'always', environment: { TURN: 2 }, ready: NEVER });
    await failureOf(driver.change(CONTAINER, 'app', next));
    await driver.takeBack(CONTAINER, 'app');
    expect(await containers()).toEqual(['bench-app exited']);
    expect((await inspect(ref)).HostConfig.RestartPolicy.Name).toBe('always');
    await failureOf(driver.change(CONTAINER, 'app', next));
    await bench.hand('DELETE', `/containers/${ref}?force=1`);
    const failure = await failureOf(driver.takeBack(CONTAINER, 'app'));
    expect(failure).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('removed meanwhile') });
  });

  it('must remove a new container with the volumes that came with it, and never those that it took over', async () => {
    driver.repetitions = 2;
    await driver.create(CONTAINER, 'first', { ...service({ ready: NEVER }), image: storing }).catch(() => undefined);
    expect(await volumes()).toHaveLength(2);
    await driver.takeBack(CONTAINER, 'first');
    expect([await containers(), await volumes()]).toEqual([[], []]);

    await driver.create(CONTAINER, 'app', { ...service(), image: storing });
    const { ref = '' } = driver.recorded(CONTAINER, 'app');
    const kept = await volumes();
    expect(Object.values(await anonymous(ref)).toSorted()).toEqual(kept);
    const next = { ...service({ volumes: ['/extra'], environment: { TURN: 2 }, ready: NEVER }), image: storing };
    expect((await failureOf(driver.change(CONTAINER, 'app', next))).code).toBe('NOT_READY');
    expect(await volumes()).toHaveLength(3);
    expect(await anonymous('bench-app')).toMatchObject(await anonymous(ref));
    await driver.takeBack(CONTAINER, 'app');
    expect(await containers()).toEqual(['bench-app running']);
    expect(await volumes()).toEqual(kept);
  });
});

describe('the way back from a change in place', () => {
  it('must bring name, limits, restart policy and networks to what they were', async () => {
    driver.repetitions = 2;
    await driver.create(NETWORK, 'a', {});
    await driver.create(NETWORK, 'b', {});
    const plain = service();
    const full = service({
      name: 'bench-other',
      restart: 'always',
      networks: [{ name: 'bench-a', aliases: ['x'] }, 'bench-b'],
      mem_limit: '64m',
      mem_reservation: '32m',
      cpus: 0.5,
      cpu_shares: 512,
      cpuset: '0',
      pids_limit: 50,
    });
    for (const [from, to] of [
      [plain, full],
      [full, plain],
    ] as const) {
      await driver.create(CONTAINER, 'app', from);
      const seen = await driver.read(CONTAINER, 'app');
      expect(await driver.change(CONTAINER, 'app', to)).toBe('update');
      expect(await driver.differences(CONTAINER, 'app', to)).toEqual([]);
      await driver.takeBack(CONTAINER, 'app');
      expect(await driver.read(CONTAINER, 'app')).toEqual({ ...seen, computed: expect.anything() });
      expect(await driver.differences(CONTAINER, 'app', from)).toEqual([]);
      await driver.delete(CONTAINER, 'app');
    }
  });
});

describe('the way back from what was made', () => {
  it('must remove a network and a volume again, and leave what somebody uses', async () => {
    driver.repetitions = 2;
    for (const [type, name] of [
      [NETWORK, 'net'],
      [VOLUME, 'data'],
    ] as const) {
      await driver.create(type, name, {});
      await driver.takeBack(type, name);
      expect((await driver.read(type, name, { desired: {} })).kind).toBe('absent');
    }
    driver.repetitions = 1;
    await driver.create(NETWORK, 'net', {});
    const body = { Image: image, Cmd: ['sleep', '1000'], StopSignal: 'KILL', HostConfig: { NetworkMode: 'bench-net' } };
    const { Id } = (await bench.hand('POST', '/containers/create?name=guest', body)) as { readonly Id: string };
    await bench.hand('POST', `/containers/${Id}/start`);
    const back = driver.takeBack(NETWORK, 'net');
    await expect.poll(() => driver.told.map(({ message }) => message)).toContain('waiting until it is left by guest');
    await bench.hand('DELETE', `/containers/${Id}?force=1`);
    await back;
    expect((await driver.read(NETWORK, 'net', { desired: {} })).kind).toBe('absent');

    await driver.create(VOLUME, 'data', {});
    await bench.hand('POST', '/containers/create?name=user', { Image: image, HostConfig: { Binds: ['bench-data:/x'] } });
    expect(await failureOf(driver.takeBack(VOLUME, 'data'))).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('in use'),
    });
    expect(await volumes()).toEqual(['bench-data']);
  });

  it('must remove the container of a job that did not run, and name the one before it as it was', async () => {
    const job = (more: Attributes) => ({ image, command: ['no-such-program'], ...more });
    expect((await failureOf(driver.create('docker.job', 'migrate', job({})))).code).toBe('INVALID');
    expect(await containers()).toEqual(['bench-migrate created']);
    await driver.takeBack('docker.job', 'migrate');
    expect(await containers()).toEqual([]);

    await driver.create('docker.job', 'migrate', job({ command: ['true'] }));
    await failureOf(driver.change('docker.job', 'migrate', job({ command: ['no-such-program'] }), 'create-first'));
    expect(await containers()).toEqual(['bench-migrate created', expect.stringMatching(/^bench-migrate-aside-\w+ exited$/)]);
    await driver.takeBack('docker.job', 'migrate');
    expect(await containers()).toEqual(['bench-migrate exited']);
  });
});
