import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage, imageArchive } from '../../scripts/servers/image.ts';
import { type RegistryServer, startRegistry } from '../../scripts/servers/registry.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';

const IMAGE = 'docker.image';
const CONTAINER = 'docker.container';

let bench: Bench;
let registry: RegistryServer;
let driver: Driver;
let archived: string;

beforeAll(async () => {
  bench = await Bench.start();
  const documents = join(bench.folder, 'documents');
  mkdirSync(documents);
  mkdirSync(join(bench.folder, 'registry'));
  registry = await startRegistry(join(bench.folder, 'registry'));
  const labels = { 'org.opencontainers.image.revision': 'abc123' };
  const { id, archive } = await imageArchive({ name: 'archived/app', labels, files: { '/version': 'archived' } });
  archived = id;
  writeFileSync(join(documents, 'app.tar'), archive);
}, 60_000);

afterAll(async () => {
  await registry.stop();
  await bench.stop();
});

beforeEach(() => {
  driver = bench.driver();
});

afterEach(async () => {
  await driver.close();
  await bench.clear();
  for (const { Id } of (await bench.hand('GET', '/images/json')) as { readonly Id: string }[]) await bench.dropImage(Id);
});

function running(image: string, more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms' }, ...more };
}

async function imageIds(): Promise<readonly string[]> {
  return ((await bench.hand('GET', '/images/json')) as { readonly Id: string }[]).map(({ Id }) => Id);
}

/** Puts an image into the registry and takes it off the engine; gives back its digest there. */
async function push(repository: string, version: string): Promise<{ readonly id: string; readonly digest: string }> {
  const { id } = await buildImage(bench.engine.host, { name: repository, tag: 'push', files: { '/version': version } });
  const log = await bench.text('POST', `/images/${repository}/push?tag=push`, undefined, { 'x-registry-auth': 'e30=' });
  const digest = /"Digest":"(sha256:[0-9a-f]{64})"/.exec(log)?.[1];
  if (digest === undefined) throw new Error(`the push went wrong: ${log}`);
  await bench.dropImage(id);
  return { id, digest };
}

describe('docker.image', () => {
  it('must load an archive, know it again, and take it away when nothing uses it', async () => {
    const attributes = { digest: archived, archive: 'app.tar', expect: { revision: 'abc123' } };
    await driver.create(IMAGE, 'app', attributes);
    expect(await driver.differences(IMAGE, 'app', attributes)).toEqual([]);
    expect(await driver.read(IMAGE, 'app')).toMatchObject({
      ref: archived,
      computed: { id: archived, reference: archived, revision: 'abc123' },
    });
    await driver.create(CONTAINER, 'app', running(archived));
    await driver.delete(IMAGE, 'app');
    expect(await imageIds()).toContain(archived);
    const again = bench.driver();
    await again.create(IMAGE, 'app', attributes);
    await driver.delete(CONTAINER, 'app');
    await again.close();
    await bench.dropImage(archived);
    await driver.create(IMAGE, 'app', attributes);
    await bench.hand('DELETE', '/images/archived/app:latest?noprune=1');
    await driver.delete(IMAGE, 'app');
    expect(await imageIds()).toEqual([]);
  });

  it('must leave an image that was there before, or that has another tag', async () => {
    const { id } = await buildImage(bench.engine.host, { name: 'before/app' });
    await driver.create(IMAGE, 'before', { digest: id, archive: 'app.tar' });
    await driver.delete(IMAGE, 'before');
    expect(await imageIds()).toEqual([id]);
  });

  it('must say what an archive does not hold and what an image does not declare', async () => {
    const digest = `sha256:${'1'.repeat(64)}`;
    const wrong = await failureOf(driver.create(IMAGE, 'wrong', { digest, archive: 'app.tar' }));
    expect(wrong).toMatchObject({ code: 'INVALID', message: expect.stringContaining(`does not hold the image ${digest}`) });
    const revision = await failureOf(
      driver.create(IMAGE, 'revision', { digest: archived, archive: 'app.tar', expect: { revision: 'def456' } }),
    );
    expect(revision).toMatchObject({ code: 'INVALID', message: expect.stringMatching(/revision "def456".*declares "abc123"/) });
    const platform = await failureOf(driver.create(IMAGE, 'platform', { digest: archived, archive: 'app.tar', platform: 'linux/s390x' }));
    expect(platform).toMatchObject({ code: 'INVALID', message: expect.stringMatching(/is for linux\/\w+, not for linux\/s390x/) });
  });

  it('D11: must pull by digest, a tag beside it saying nothing, and a container by the same name must find nothing to do', async () => {
    const repository = `${registry.host}/shop/web`;
    const first = await push(repository, 'one');
    const second = await push(repository, 'two');
    await driver.create(IMAGE, 'web', { repository, digest: first.digest });
    expect(await driver.read(IMAGE, 'web')).toMatchObject({ ref: first.id, computed: { reference: `${repository}@${first.digest}` } });
    const attributes = running(`${repository}@${first.digest}`);
    await driver.create(CONTAINER, 'web', running(`${repository}:any@${first.digest}`));
    expect(await driver.differences(CONTAINER, 'web', attributes)).toEqual([]);
    expect(await driver.differences(CONTAINER, 'web', running(`${repository}:other@${first.digest}`))).toEqual([]);
    expect(await driver.differences(CONTAINER, 'web', running(first.id))).toEqual([]);
    const next = running(`${repository}@${second.digest}`);
    expect(await driver.differences(CONTAINER, 'web', next)).toEqual(['image.digest']);
    // The successor is pulled on the way, since no docker.image has done so.
    expect(await driver.change(CONTAINER, 'web', next)).toBe('replace');
    expect(await driver.differences(CONTAINER, 'web', next)).toEqual([]);
    expect(await driver.change(IMAGE, 'web', { repository, digest: second.digest })).toBe('replace');
    expect(await imageIds()).toEqual(expect.arrayContaining([first.id, second.id]));
    await driver.delete(CONTAINER, 'web');
    await driver.delete(IMAGE, 'web');
  });

  it('must say so when a registry does not have the digest', async () => {
    const repository = `${registry.host}/shop/none`;
    const failure = await failureOf(driver.create(IMAGE, 'none', { repository, digest: `sha256:${'2'.repeat(64)}` }));
    expect(failure.message).toContain(`${repository}@sha256:222`);
    expect(failure.code).toBe('NOT_FOUND');
  });

  it('D2: must compare a container by tag, digest, id and short name by meaning', async () => {
    const { id } = await buildImage(bench.engine.host, { name: 'tagged/app', tag: '1' });
    const tagged = bench.driver({ config: { allow_tags: true } });
    await tagged.create(CONTAINER, 'tagged', running('tagged/app:1'));
    for (const same of ['tagged/app:1', 'docker.io/tagged/app:1', id, `tagged/app@${id}`]) {
      expect(await tagged.differences(CONTAINER, 'tagged', running(same)), same).toEqual([]);
    }
    expect(await tagged.differences(CONTAINER, 'tagged', running('tagged/app:2'))).toEqual(['image.tag']);
    await buildImage(bench.engine.host, { name: 'short' });
    await tagged.create(CONTAINER, 'short', running('short'));
    for (const same of ['short:latest', 'library/short', 'docker.io/library/short:latest', 'index.docker.io/library/short']) {
      expect(await tagged.differences(CONTAINER, 'short', running(same)), same).toEqual([]);
    }
    await tagged.close();
  });
});
