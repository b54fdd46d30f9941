import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { buildImage, imagesArchive } from '../../scripts/servers/image.ts';
import { compareText } from '../../src/core/address.ts';
import { localHost } from '../../src/host/local.ts';
import { dockerProvider } from '../../src/providers/docker/provider.ts';
import type { ConformanceCase } from '../conformance/case.ts';
import { providerConformance } from '../conformance/provider.ts';
import { Bench } from './docker-bench.ts';
import { EngineProxy } from './docker-proxy.ts';
import { remakeContainer, remakeNetwork, remakeVolume } from './docker-remake.ts';

const SECRET = 'quiet-as-a-mouse';
const REVISIONS = ['1', '2'].map((revision) => ({
  labels: { 'org.opencontainers.image.revision': revision, 'org.opencontainers.image.source': 'https://git.example/app' },
  entrypoint: ['/bin/env'],
}));

let bench: Bench;
let image: string;
let archived: { readonly ids: readonly string[]; readonly archive: Buffer };
let cases = 0;

beforeAll(async () => {
  bench = await Bench.start();
  image = (await buildImage(bench.engine.host, { name: 'shop/app', tag: '1' })).id;
  archived = await imagesArchive(REVISIONS);
  mkdirSync(join(bench.folder, 'documents'));
  writeFileSync(join(bench.folder, 'documents', 'app.tar'), archived.archive);
}, 60_000);

afterAll(() => bench.stop());

providerConformance(
  'docker',
  [
    { type: 'docker.container', live: true },
    { type: 'docker.image', live: false },
    { type: 'docker.job', live: false },
    { type: 'docker.network', live: true },
    { type: 'docker.volume', live: true },
  ],
  async () => {
    const proxy = new EngineProxy(join(bench.folder, `proxy-${cases++}.sock`), bench.engine.socket);
    await proxy.open();
    await bench.hand('POST', '/networks/create', { Name: 'given', Driver: 'bridge' });
    await bench.hand('POST', '/networks/create', { Name: 'other', Driver: 'bridge' });
    await bench.hand('POST', '/volumes/create', { Name: 'given' });
    const second = archived.ids[1] ?? '';
    return {
      provider: dockerProvider,
      config: { host: proxy.host, address: 'shop.example', allow_tags: false },
      host: localHost(),
      folder: join(bench.folder, 'documents'),
      types: [
        {
          type: 'docker.container',
          sample: {
            image,
            name: 'sample',
            command: 'sleep 1000',
            environment: { TOKEN: SECRET, LEVEL: 'info' },
            secrets: { '/run/secrets/token': { value: SECRET, mode: '0440', gid: 29 } },
            configs: { '/etc/app/app.json': '{"on": true}' },
            volumes: ['given:/data', { type: 'bind', source: '/srv', target: '/srv', read_only: true }],
            ports: ['127.0.0.1::8080'],
            networks: [{ name: 'given', aliases: ['backend'] }],
            user: '10001:10001',
            restart: 'on-failure:3',
            cap_drop: ['ALL'],
            mem_limit: '64m',
            pids_limit: 100,
            labels: { team: 'shop' },
            healthcheck: { test: ['CMD', 'true'], interval: '1s', timeout: '2s', retries: 5 },
            stop_signal: 'KILL',
            ready: { command: ['true'], interval: '100ms', timeout: '20s' },
          },
          changes: [
            { attribute: 'environment', to: { TOKEN: SECRET, LEVEL: 'debug' }, expect: 'replace' },
            { attribute: 'labels', to: undefined, expect: 'replace' },
            { attribute: 'name', to: 'renamed', expect: 'update' },
            { attribute: 'restart', to: 'always', expect: 'update' },
            { attribute: 'mem_limit', to: undefined, expect: 'update' },
            { attribute: 'pids_limit', to: undefined, expect: 'update' },
            { attribute: 'networks', to: ['other'], expect: 'update' },
            { attribute: 'networks', to: undefined, expect: 'update' },
          ],
          live: {
            drift: {
              'environment.LEVEL': async (ref) => {
                await remakeContainer(bench, ref, ({ Config }) => {
                  Config['Env'] = [`TOKEN=${SECRET}`, 'LEVEL=debug'];
                });
              },
              user: async (ref) => {
                await remakeContainer(bench, ref, ({ Config }) => {
                  Config['User'] = '10001:0';
                });
              },
              command: async (ref) => {
                await remakeContainer(bench, ref, ({ Config }) => {
                  Config['Cmd'] = ['sleep', '2000'];
                });
              },
              'healthcheck.retries': async (ref) => {
                await remakeContainer(bench, ref, ({ Config }) => {
                  Config['Healthcheck'] = { ...(Config['Healthcheck'] as object), Retries: 9 };
                });
              },
              'labels.team': async (ref) => {
                await remakeContainer(bench, ref, ({ Config }) => {
                  Config['Labels'] = { ...(Config['Labels'] as object), team: 'other' };
                });
              },
              volumes: async (ref) => {
                await remakeContainer(bench, ref, ({ HostConfig }) => {
                  HostConfig['Binds'] = ['/srv:/srv:rw'];
                });
              },
              ports: async (ref) => {
                await remakeContainer(bench, ref, ({ HostConfig }) => {
                  HostConfig['PortBindings'] = { '8080/tcp': [{ HostIp: '', HostPort: '' }] };
                });
              },
              restart: async (ref) => {
                await bench.hand('POST', `/containers/${ref}/update`, { RestartPolicy: { Name: 'always' } });
              },
              pids_limit: async (ref) => {
                await bench.hand('POST', `/containers/${ref}/update`, { PidsLimit: 50 });
              },
              name: async (ref) => {
                await bench.hand('POST', `/containers/${ref}/rename?name=somebody`);
              },
              'networks.other': async (ref) => {
                await bench.hand('POST', '/networks/other/connect', { Container: ref });
              },
              networks: async (ref) => {
                await bench.hand('POST', '/networks/other/connect', { Container: ref });
                await bench.hand('POST', '/networks/given/disconnect', { Container: ref });
                await bench.hand('POST', '/networks/other/disconnect', { Container: ref });
              },
            },
            remove: async (ref) => {
              await bench.hand('DELETE', `/containers/${ref}?force=1`);
            },
            async foreign() {
              const { Id } = (await bench.hand('POST', '/containers/create?name=sample', { Image: image })) as { readonly Id: string };
              return {
                owner: 'nobody',
                remove: async () => {
                  await bench.hand('DELETE', `/containers/${Id}`);
                },
              };
            },
            stop: async (ref) => {
              await bench.hand('POST', `/containers/${ref}/stop?t=0`);
            },
            importId: () => 'sample',
            unknownId: 'nothing-of-that-name',
          },
        },
        {
          type: 'docker.image',
          sample: {
            digest: archived.ids[0] ?? '',
            archive: 'app.tar',
            platform: 'linux/amd64',
            expect: { revision: '1', source: 'https://git.example/app', entrypoint: ['/bin/env'] },
          },
          others: [{ repository: 'docker.io/library/busybox', digest: second }],
          changes: [{ attribute: 'repository', to: 'shop/other', expect: 'replace' }],
        },
        {
          type: 'docker.job',
          sample: {
            image,
            name: 'sample',
            command: ['sh', '-c', 'echo \'{"epoch": 1}\''],
            environment: { TOKEN: SECRET, LEVEL: 'info' },
            secrets: { '/run/secrets/token': { value: SECRET, mode: '0440', gid: 29 } },
            volumes: ['given:/data'],
            networks: ['given'],
            user: '10001:10001',
            mem_limit: '64m',
            labels: { team: 'shop' },
            inputs: { round: 1 },
            run: 'once',
            stage: 'start',
            timeout: '30s',
            stdout: true,
            keep: 0,
          },
          others: [{ image, output: '/tmp/receipt.json' }],
          changes: [
            { attribute: 'environment', to: { TOKEN: SECRET, LEVEL: 'debug' }, expect: 'replace' },
            { attribute: 'mem_limit', to: '32m', expect: 'replace' },
            { attribute: 'command', to: ['echo', '7'], expect: 'replace' },
            { attribute: 'labels', to: { team: 'other' }, expect: 'update' },
            { attribute: 'name', to: 'renamed', expect: 'update' },
          ],
        },
        {
          type: 'docker.network',
          sample: {
            name: 'sample',
            driver_opts: { 'com.docker.network.bridge.enable_icc': 'true' },
            internal: true,
            ipam: { config: [{ subnet: `${bench.engine.prefix}.200.0/24`, gateway: `${bench.engine.prefix}.200.7` }] },
            labels: { team: 'shop' },
          },
          others: [{}, { ipv6: true, ipam: { config: [{ subnet: '2001:db8:0:1::/64' }] } }],
          changes: [
            { attribute: 'internal', to: false, expect: 'replace', orders: ['destroy-first'] },
            { attribute: 'labels', to: { team: 'other' }, expect: 'replace', orders: ['destroy-first'] },
            { attribute: 'name', to: 'renamed', expect: 'replace', orders: ['destroy-first'] },
          ],
          live: {
            drift: {
              internal: (ref) => remakeNetwork(bench, ref, { Internal: false }),
              'driver_opts["com.docker.network.bridge.enable_icc"]': (ref) =>
                remakeNetwork(bench, ref, { Options: { 'com.docker.network.bridge.enable_icc': 'false' } }),
            },
            remove: async (ref) => {
              await bench.hand('DELETE', `/networks/${ref}`);
            },
            async foreign() {
              await bench.hand('POST', '/networks/create', { Name: 'sample', Labels: { 'io.accede.lineage': 'f'.repeat(32) } });
              return {
                owner: 'other',
                remove: async () => {
                  await bench.hand('DELETE', '/networks/sample');
                },
              };
            },
            importId: () => 'sample',
            unknownId: 'nothing-of-that-name',
          },
        },
        {
          type: 'docker.volume',
          sample: { name: 'sample', driver_opts: { type: 'tmpfs', device: 'tmpfs', o: 'size=1m' }, labels: ['team=shop'] },
          others: [{}],
          changes: [
            { attribute: 'labels', to: { team: 'other' }, expect: 'replace', orders: ['destroy-first'] },
            { attribute: 'driver_opts', to: undefined, expect: 'replace', orders: ['destroy-first'] },
            { attribute: 'name', to: 'renamed', expect: 'replace' },
          ],
          live: {
            drift: {
              'driver_opts.o': (ref) => remakeVolume(bench, ref, { DriverOpts: { type: 'tmpfs', device: 'tmpfs', o: 'size=2m' } }),
            },
            remove: async (ref) => {
              await bench.hand('DELETE', `/volumes/${ref}`);
            },
            async foreign() {
              await bench.hand('POST', '/volumes/create', { Name: 'sample' });
              return {
                owner: 'nobody',
                remove: async () => {
                  await bench.hand('DELETE', '/volumes/sample');
                },
              };
            },
            importId: (ref) => ref,
            unknownId: 'nothing-of-that-name',
          },
        },
      ],
      secrets: [SECRET],
      snapshot: () => everything(),
      // Images are shared and stay for the way back; what a delete does to them has cases of its own.
      leftovers: async () => {
        const { containers, networks, volumes } = await everything();
        const names = [...containers.flatMap((one) => one.Names), ...networks.map((one) => one.Name), ...volumes.map((one) => one.Name)];
        return names.filter((name) => !['bridge', 'host', 'none', 'given', 'other'].includes(name));
      },
      async unreachable() {
        await proxy.cut();
        return () => proxy.open();
      },
      async close() {
        await proxy.cut();
        await bench.clear();
        for (const id of archived.ids) await bench.dropImage(id);
      },
    } satisfies ConformanceCase;
  },
);

function byId(a: { readonly Id: string }, b: { readonly Id: string }): number {
  return compareText(a.Id, b.Id);
}

async function everything() {
  const containers = (await bench.hand('GET', '/containers/json?all=1')) as {
    readonly Id: string;
    readonly Names: readonly string[];
    readonly State: string;
  }[];
  const networks = (await bench.hand('GET', '/networks')) as { readonly Id: string; readonly Name: string; readonly Created: string }[];
  const volumes = ((await bench.hand('GET', '/volumes')) as { readonly Volumes: { readonly Name: string }[] | null }).Volumes ?? [];
  const images = (await bench.hand('GET', '/images/json')) as { readonly Id: string }[];
  return {
    containers: containers.map(({ Id, Names, State }) => ({ Id, Names, State })).toSorted(byId),
    networks: networks.map(({ Id, Name }) => ({ Id, Name })).toSorted(byId),
    volumes: volumes.map(({ Name }) => ({ Name })).toSorted((a, b) => compareText(a.Name, b.Name)),
    images: images.map(({ Id }) => Id).toSorted(),
  };
}
