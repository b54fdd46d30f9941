import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import type { Attributes } from '../../src/core/value.ts';
import { containerSchema } from '../../src/providers/docker/container/schema.ts';
import { differences } from '../conformance/differences.ts';
import type { Driver } from '../conformance/driver.ts';
import { attributesOf, CONTAINER_ROWS, givenObjects, type Images, imageFor, nameOf } from './docker-attributes.ts';
import { Bench } from './docker-bench.ts';
import { FULL_IMAGE } from './docker-spellings.ts';

/** Rows that went through everything. */
const passed = new Set<string>();

let bench: Bench;
let images: Images;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  const plain = (await buildImage(bench.engine.host, { name: 'test/plain' })).id;
  images = { plain, full: (await buildImage(bench.engine.host, FULL_IMAGE)).id };
  await givenObjects(bench, plain);
  driver = bench.driver();
}, 60_000);

afterAll(async () => {
  const attributes = new Set(CONTAINER_ROWS.map(({ attribute }) => attribute)).size;
  process.stdout.write(`docker.container: ${attributes} attributes in ${CONTAINER_ROWS.length} rows, ${passed.size} passed\n`);
  await driver.close();
  await bench.stop();
});

const TYPE = 'docker.container';

function baseOf(image: string): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms', timeout: '20s' } };
}

describe('every attribute of docker.container', () => {
  it('must have a row or a reason', () => {
    const names = Object.keys(containerSchema.shape);
    // Conformance covers what needs the record (name, image, files, ready and its like); platform and privileged have cases below.
    // No engine here has a GPU: its unit test goes through the requests that the engine takes and tells.
    const elsewhere = ['gpus', 'privileged', 'image', 'name', 'secrets', 'configs', 'ready', 'renew_anon_volumes', 'platform'];
    expect(names.filter((name) => !elsewhere.includes(name) && !CONTAINER_ROWS.some((row) => row.attribute === name))).toEqual([]);
  });

  it.each(CONTAINER_ROWS.map((row, index) => ({ ...row, name: nameOf(row, index) })))(
    'must be set, seen, changed and taken away: $name',
    async ({ name, ...row }) => {
      const base = baseOf(imageFor(row, images));
      const [before, after, without] = [row.value, row.other, undefined].map((value) => attributesOf(row, value, base, bench)) as [
        Attributes,
        Attributes,
        Attributes,
      ];
      await driver.create(TYPE, name, before);
      expect(await driver.differences(TYPE, name, before)).toEqual([]);
      expect(await driver.differences(TYPE, name, without)).toEqual(row.goneFirst.by === 'change' ? row.goneFirst.paths : []);
      expect(await driver.differences(TYPE, name, after)).toEqual(row.paths);
      expect(await driver.change(TYPE, name, after)).toBe(row.change);
      expect(await driver.differences(TYPE, name, after)).toEqual([]);
      expect(await driver.differences(TYPE, name, without)).toEqual(row.gone.by === 'change' ? row.gone.paths : []);
      if (row.gone.by === 'change') expect(await driver.change(TYPE, name, without)).toBe(row.change);
      expect(await driver.differences(TYPE, name, without)).toEqual([]);
      await driver.change(TYPE, name, before);
      expect(await driver.differences(TYPE, name, before)).toEqual([]);
      passed.add(name);
    },
  );

  it('must differ in nothing after the engine was restarted', async () => {
    await bench.engine.restart();
    for (const [index, row] of CONTAINER_ROWS.entries()) {
      const name = nameOf(row, index);
      expect(await driver.differences(TYPE, name, attributesOf(row, row.value, baseOf(imageFor(row, images)), bench)), name).toEqual([]);
    }
  });
});

describe('what the image gives by itself', () => {
  it('must be no difference, named or not, and a difference when it is overridden', async () => {
    const base = { ...baseOf(images.full) };
    await driver.create(TYPE, 'inherits', base);
    expect(await driver.differences(TYPE, 'inherits', base)).toEqual([]);
    const named: Attributes = {
      ...base,
      entrypoint: '/bin/env',
      command: ['sleep', '1000000'],
      environment: { LEVEL: 'info' },
      user: 'app',
      working_dir: '/tmp',
      labels: { vendor: 'image' },
      expose: [7000],
      healthcheck: { test: ['CMD', 'true'], interval: '90s', retries: 7 },
      stop_signal: 'SIGKILL',
      volumes: ['/image-volume'],
      platform: 'linux/amd64',
    };
    expect(await driver.differences(TYPE, 'inherits', named)).toEqual([]);
    const overridden = { ...base, environment: { LEVEL: 'debug' }, user: 'root', labels: { vendor: 'me' }, healthcheck: { disable: true } };
    expect(await driver.differences(TYPE, 'inherits', overridden)).toEqual([
      'environment.LEVEL',
      'healthcheck.test',
      'labels.vendor',
      'user',
    ]);
    await driver.change(TYPE, 'inherits', overridden);
    expect(await driver.differences(TYPE, 'inherits', overridden)).toEqual([]);
    expect(await driver.differences(TYPE, 'inherits', { ...base, platform: 'linux/arm64' })).toContain('platform');
  });

  it('must be taken away by an entrypoint of its own, without a difference in the command', async () => {
    const attributes = { ...baseOf(images.full), entrypoint: ['sleep', '1000'], healthcheck: { test: 'exit 0' }, user: '0' };
    await driver.create(TYPE, 'entry', attributes);
    expect(await driver.differences(TYPE, 'entry', attributes)).toEqual([]);
    const cleared = { ...baseOf(images.full), entrypoint: [], command: ['sleep', '1000'] };
    expect(await driver.change(TYPE, 'entry', cleared)).toBe('replace');
    expect(await driver.differences(TYPE, 'entry', cleared)).toEqual([]);
    expect(await driver.differences(TYPE, 'entry', { ...baseOf(images.full), command: ['sleep', '1000'] })).toEqual(['entrypoint']);
  });

  it('must not count what the engine adds to a privileged container', async () => {
    await bench.hand('POST', '/containers/create?name=bench-privileged', {
      Image: images.plain,
      StopSignal: 'KILL',
      HostConfig: { Privileged: true },
    });
    const observed = await driver.read(TYPE, 'privileged', { desired: { image: images.plain } });
    if (observed.kind !== 'found') throw new Error('it was made by hand');
    const type = driver.type(TYPE);
    expect(
      differences(
        type,
        driver.normal(TYPE, 'privileged', { image: images.plain, stop_signal: 'KILL', privileged: true }),
        observed.attributes,
      ),
    ).toEqual([]);
    expect(differences(type, driver.normal(TYPE, 'privileged', { image: images.plain, stop_signal: 'KILL' }), observed.attributes)).toEqual(
      ['privileged'],
    );
  });
});
