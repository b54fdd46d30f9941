import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { Attributes, Value } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { Bench } from './docker-bench.ts';
import { type Making, remakeContainer } from './docker-remake.ts';
import { FULL_IMAGE, INHERITED, SAID, type Spelled, spelled } from './docker-spellings.ts';

const CONTAINER = 'docker.container';

/** What was made anew by hand with another value is drift, and this is its path. */
const DRIFTS: readonly (readonly [path: string, change: (making: Making) => void])[] = [
  ['environment', ({ Config }) => void (Config['Env'] = ['LEVEL=debug', 'FROM_IMAGE=yes', 'PATH=/bin'])],
  ['volumes', ({ HostConfig }) => void (HostConfig['Binds'] = ['/srv:/srv'])],
  ['user', ({ Config }) => void (Config['User'] = 'root')],
  ['command', ({ Config }) => void (Config['Cmd'] = ['sleep', '2000000'])],
  ['healthcheck', ({ Config }) => void (Config['Healthcheck'] = { ...(Config['Healthcheck'] as object), Retries: 3 })],
  ['entrypoint', ({ Config }) => void (Config['Entrypoint'] = ['/bin/busybox', 'env'])],
  ['working_dir', ({ Config }) => void (Config['WorkingDir'] = '/etc')],
  ['labels', ({ Config }) => void (Config['Labels'] = { ...(Config['Labels'] as object), vendor: 'me' })],
  ['stop_signal', ({ Config }) => void (Config['StopSignal'] = 'SIGINT')],
];

let bench: Bench;
let image: string;
let port: number;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  port = await freePort();
  await bench.hand('POST', '/volumes/create', { Name: 'given' });
  image = (await buildImage(bench.engine.host, FULL_IMAGE)).id;
  driver = bench.driver();
}, 60_000);

afterAll(async () => {
  await driver?.close();
  await bench?.stop();
});

function document(rows: readonly Spelled[], other?: readonly [attribute: string, value: Value | undefined]): Attributes {
  const base = { image, ready: { command: ['true'], interval: '100ms' } };
  return { ...base, ...spelled(rows, port, ([attribute, [first]]) => (attribute === other?.[0] ? other[1] : first)) };
}

describe.each([
  ['said', SAID],
  ['inherited', INHERITED],
] as const)('what is %s', (name, rows) => {
  beforeAll(() => driver.create(CONTAINER, name, document(rows)));

  it.each(rows)('must be no difference in any spelling: %s', async (attribute, spellings) => {
    for (const spelling of spellings) {
      expect(await driver.differences(CONTAINER, name, document(rows, [attribute, spelling])), JSON.stringify(spelling)).toEqual([]);
    }
  });
});

describe('networks', () => {
  it('must be no difference in any spelling, by name or by id', async () => {
    const { Id } = (await bench.hand('POST', '/networks/create', { Name: 'given', EnableIPv6: false })) as { readonly Id: string };
    await bench.hand('POST', '/networks/create', { Name: 'other' });
    const networks = (value: Value): Attributes => ({ ...document([]), networks: value });
    await driver.create(CONTAINER, 'joined', networks({ given: { aliases: ['b', 'a'] }, other: null }));
    const spellings: readonly Value[] = [
      { other: {}, given: { aliases: ['a', 'b'] } },
      ['other', { name: 'given', aliases: ['a', 'b', 'joined'] }],
      [{ name: Id, aliases: ['b', 'a'] }, 'other'],
    ];
    for (const spelling of spellings) expect(await driver.differences(CONTAINER, 'joined', networks(spelling))).toEqual([]);
  });
});

describe('what is no spelling', () => {
  it.each(DRIFTS)('must be seen as drift: %s', async (path, change) => {
    const name = `drift-${path}`;
    await driver.create(CONTAINER, name, document([]));
    await remakeContainer(bench, driver.recorded(CONTAINER, name).ref ?? '', change);
    expect(await driver.differences(CONTAINER, name, document([]))).toEqual([path]);
  });
});
