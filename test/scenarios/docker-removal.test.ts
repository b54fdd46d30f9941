import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';
import { EngineProxy } from './docker-proxy.ts';

const CONTAINER = 'docker.container';
const NETWORK = 'docker.network';

let bench: Bench;
let proxy: EngineProxy;
let image: string;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  image = (await buildImage(bench.engine.host, {})).id;
  proxy = new EngineProxy(join(bench.folder, 'p.sock'), bench.engine.socket);
  await proxy.open();
}, 60_000);

afterAll(async () => {
  await proxy?.cut();
  await bench?.stop();
});

beforeEach(() => {
  driver = bench.driver({ config: { host: proxy.host } });
});

afterEach(async () => {
  proxy.refuses.clear();
  await driver.close();
  await bench.clear();
});

function service(more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', command: ['sleep', '1000'], ready: { command: ['true'], interval: '100ms' }, ...more };
}

/** What the effects told of their progress. */
function told(): string {
  return driver.told.map(({ message }) => message).join('\n');
}

describe('what stands against a removal for a moment only', () => {
  it.each([
    [409, 'cannot remove container "/bench-app": conflict: cannot remove the default link name of the container'],
    [500, 'container 0123: driver "overlay2" failed to remove root filesystem: unlinkat /x: device or resource busy'],
  ])('D20: must be waited for with its reason when a container goes: %i %s', async (status, message) => {
    await driver.create(CONTAINER, 'app', service());
    proxy.refuses.set('DELETE /containers/', { status, message, times: 3 });
    await driver.delete(CONTAINER, 'app');
    expect(told()).toContain(`trying again to remove it, since the engine says: ${message}`);
    expect(await driver.read(CONTAINER, 'app', { desired: service() })).toEqual({ kind: 'absent' });
  });

  it('must not be waited for when it does not pass', async () => {
    await driver.create(CONTAINER, 'app', service());
    const message = 'You cannot remove a running container 0123. Stop the container before attempting removal or force remove';
    proxy.refuses.set('DELETE /containers/', { status: 409, message, times: 1 });
    expect(await failureOf(driver.delete(CONTAINER, 'app'))).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(message) });
    expect(told()).not.toContain('trying again');
  });

  it('D19: must be waited for with the names of who is leaving when a network goes', async () => {
    await driver.create(NETWORK, 'net', {});
    const body = { Image: image, Cmd: ['sleep', '1000'], HostConfig: { NetworkMode: 'bench-net' } };
    const { Id } = (await bench.hand('POST', '/containers/create?name=guest', body)) as { readonly Id: string };
    await bench.hand('POST', `/containers/${Id}/start`);
    const gone = driver.delete(NETWORK, 'net');
    await expect.poll(told).toContain('waiting until it is left by guest');
    await bench.hand('DELETE', `/containers/${Id}?force=1`);
    await gone;
    expect((await driver.read(NETWORK, 'net', { desired: {} })).kind).toBe('absent');
  });
});

describe('two networks of one name', () => {
  it('D18: must be refused with their ids wherever one of them would be taken', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      const made = (await bench.hand('POST', '/networks/create', { Name: 'twin', CheckDuplicate: false })) as { readonly Id: string };
      ids.push(made.Id.slice(0, 12));
    }
    const listed = `(${ids.toSorted().join(', ')})`;
    const seen = await driver.read(NETWORK, 'twin', { desired: { name: 'twin' } });
    expect(seen).toMatchObject({ kind: 'cannot-see', code: 'NETWORK_AMBIGUOUS', reason: expect.stringContaining(listed) });
    const failure = await failureOf(driver.create(CONTAINER, 'app', service({ networks: ['twin'] })));
    expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(listed) });
    expect(await (await driver.session()).resolve(driver.type(NETWORK).type, 'twin', driver.readIo())).toBeUndefined();
  });
});

describe('what stepped aside', () => {
  it('must not be found in the place of its successor, and count in no inventory', async () => {
    const labels = { slot: 'blue' };
    await driver.create(CONTAINER, 'app', service({ labels }));
    const { ref = '' } = driver.recorded(CONTAINER, 'app');
    await failureOf(driver.change(CONTAINER, 'app', service({ labels, command: ['no-such-program'] })));
    const session = await driver.session();
    const query = { address: driver.address(CONTAINER, 'app'), type: driver.type(CONTAINER).type, mark: driver.mark };
    expect(await session.read({ ...query, ref }, driver.readIo())).toMatchObject({ kind: 'found', ref, owner: 'ours' });
    await bench.hand('DELETE', '/containers/bench-app?force=1');
    const { id } = driver.recorded(CONTAINER, 'app');
    expect(await session.read({ ...query, id, identity: 'bench-app' }, driver.readIo())).toEqual({ kind: 'absent' });
    const inventory = {
      address: driver.address('docker.inventory', 'slot'),
      type: driver.type('docker.inventory').type,
      mark: driver.mark,
      desired: { selector: { label: ['slot=blue'] } },
    };
    expect(await session.read(inventory, driver.readIo())).toMatchObject({ computed: { names: [], states: [] } });
  });
});
