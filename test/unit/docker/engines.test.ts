import { describe, expect, it } from 'vitest';
import type { ResourceAddress, TypeName } from '../../../src/core/address.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Attributes } from '../../../src/core/value.ts';
import { localHost } from '../../../src/host/local.ts';
import { readOnlyHost } from '../../../src/host/readonly.ts';
import type { Found, ObjectQuery, ReadIo, ResourceType, TypeContext } from '../../../src/providers/contract.ts';
import { containerType } from '../../../src/providers/docker/container/type.ts';
import { networkType } from '../../../src/providers/docker/network.ts';
import { agreedVersion } from '../../../src/providers/docker/provider.ts';
import { openReadSession } from '../../../src/providers/docker/session.ts';
import { volumeType } from '../../../src/providers/docker/volume.ts';
import { differences } from '../../conformance/differences.ts';
import {
  RECORDED_CONTAINERS,
  RECORDED_NETWORK,
  RECORDED_VOLUME,
  type RecordedEngine,
  recordedEngines,
  recordedReader,
} from '../../support/recorded-engines.ts';

const MARK = { environment: 'bench', lineage: 'c0'.repeat(16) };
const ENGINES = recordedEngines();
const LINUX = ENGINES.filter(({ network }) => network !== undefined);

function contextOf(type: ResourceType, name: string): TypeContext {
  return { environment: 'bench', address: `${type.type}.${name}` as ResourceAddress, name, folder: '/documents', config: {} };
}

function normal(type: ResourceType, name: string, document: Attributes): Attributes {
  return type.normalize(document, contextOf(type, name));
}

const io: ReadIo = {
  clock: systemClock,
  signal: new AbortController().signal,
  host: readOnlyHost(localHost()),
};

/** What a session on this engine says of the object that this document made. */
async function read(engine: RecordedEngine, type: ResourceType, name: string, document: Attributes, more: Partial<ObjectQuery> = {}) {
  const attributes = normal(type, name, document);
  const session = openReadSession({ reader: recordedReader(engine), close: () => undefined }, {});
  const identity = type.identity(attributes, contextOf(type, name));
  const address = contextOf(type, name).address;
  const query: ObjectQuery = { address, type: type.type as TypeName, mark: MARK, ...(identity === undefined ? {} : { identity }), ...more };
  const observed = await session.read(query, io);
  if (observed.kind !== 'found') throw new Error(`${type.type}.${name} is ${JSON.stringify(observed)}`);
  return observed;
}

/** The same, when it is the recorded one. */
async function readRecorded(engine: RecordedEngine, type: ResourceType, name: string, document: Attributes): Promise<Found> {
  const { ref, id } = await read(engine, type, name, document);
  const recorded = { attributes: normal(type, name, document), computed: {} };
  return read(engine, type, name, document, { ref, ...(id === undefined ? {} : { id }), recorded });
}

function imageOf(engine: RecordedEngine): string {
  return String((engine.image as { readonly Id: string }).Id);
}

describe.each(ENGINES)('an engine $engine that replies in API $api', (engine) => {
  const image = imageOf(engine);

  it('D3: must show no difference in a container of it, whatever it calls the default network', async () => {
    const names = Object.keys(engine.containers);
    expect(names).toContain('plain');
    for (const name of names) {
      const document = { image, ...RECORDED_CONTAINERS[name] };
      const observed = await readRecorded(engine, containerType, name, document);
      expect(differences(containerType, normal(containerType, name, document), observed.attributes), name).toEqual([]);
      expect(observed.owner).toBe('ours');
    }
  });

  it('must show what differs at its path, and nothing else', async () => {
    const { attributes } = await readRecorded(engine, containerType, 'plain', { image });
    const other = {
      image,
      environment: { LEVEL: 'debug' },
      user: 'root',
      healthcheck: { retries: 2 },
      networks: ['recorded-net'],
      ulimits: { core: 1 },
    };
    expect(differences(containerType, normal(containerType, 'plain', other), attributes)).toEqual([
      'environment.LEVEL',
      'healthcheck.retries',
      'networks',
      'ulimits',
      'user',
    ]);
  });
});

describe.each(LINUX)('networks, volumes and ports of an engine $engine', (engine) => {
  it('must be no difference, with the options that the engine gives by its own configuration', async () => {
    const network = await readRecorded(engine, networkType, 'net', RECORDED_NETWORK);
    expect(differences(networkType, normal(networkType, 'net', RECORDED_NETWORK), network.attributes)).toEqual([]);
    const volume = await readRecorded(engine, volumeType, 'data', RECORDED_VOLUME);
    expect(differences(volumeType, normal(volumeType, 'data', RECORDED_VOLUME), volume.attributes)).toEqual([]);
  });

  it('must be told with what the engine chose', async () => {
    const { computed } = await readRecorded(engine, containerType, 'rich', { image: imageOf(engine), ...RECORDED_CONTAINERS['rich'] });
    expect(computed).toMatchObject({
      addresses: { 'recorded-net': '10.200.0.2' },
      published_ports: { '80/tcp': 18080, '81/udp': 18081, '82/tcp': expect.any(Number) },
    });
  });
});

describe('what an engine gives by its own configuration', () => {
  const engine = LINUX.find(({ engine: version }) => version.startsWith('28'));
  const network = networkType;

  async function differing(document: Attributes, recorded: Attributes): Promise<readonly string[]> {
    if (engine === undefined) throw new Error('no recording of an engine 28');
    const { ref, id } = await read(engine, network, 'net', document);
    const known = { ref, ...(id === undefined ? {} : { id }), recorded: { attributes: normal(network, 'net', recorded), computed: {} } };
    const { attributes } = await read(engine, network, 'net', document, known);
    return differences(network, normal(network, 'net', document), attributes);
  }

  it('must be compared where the document names it', async () => {
    const mtu = (value: string) => ({ ...RECORDED_NETWORK, driver_opts: { 'com.docker.network.driver.mtu': value } });
    expect(await differing(mtu('1450'), RECORDED_NETWORK)).toEqual([]);
    expect(await differing(mtu('1400'), RECORDED_NETWORK)).toEqual(['driver_opts["com.docker.network.driver.mtu"]']);
  });

  it('must be a difference when the document named it before', async () => {
    const before = { ...RECORDED_NETWORK, driver_opts: { 'com.docker.network.driver.mtu': '1450' } };
    expect(await differing(RECORDED_NETWORK, before)).toEqual(['driver_opts']);
  });

  it('must be a difference in an object that was made anew by hand', async () => {
    if (engine === undefined) throw new Error('no recording of an engine 28');
    const { id } = await read(engine, network, 'net', RECORDED_NETWORK);
    const recorded = { attributes: normal(network, 'net', RECORDED_NETWORK), computed: {} };
    const { attributes } = await read(engine, network, 'net', RECORDED_NETWORK, {
      ref: 'f'.repeat(64),
      ...(id === undefined ? {} : { id }),
      recorded,
    });
    expect(differences(network, normal(network, 'net', RECORDED_NETWORK), attributes)).toEqual(['driver_opts']);
  });
});

describe('the version of the API', () => {
  it.each(ENGINES)('must be agreed upon with an engine $engine', ({ api }) => {
    expect(agreedVersion(api, api === '1.52' ? '1.44' : '1.24')).toBe(api);
  });
});
