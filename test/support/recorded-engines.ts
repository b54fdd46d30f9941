import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attributes } from '../../src/core/value.ts';
import type { ReadClient } from '../../src/providers/docker/client.ts';
import { providerError } from '../../src/providers/docker/errors.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'docker');

/** What an engine of one version replies about the objects of this file, as it came. */
export interface RecordedEngine {
  /** `20.10.24` */
  readonly engine: string;
  /** The version of the API in which it replied. */
  readonly api: string;
  readonly info: object;
  readonly image: object;
  /** By the names of `RECORDED_CONTAINERS`; not every engine has all of them. */
  readonly containers: Readonly<Record<string, object>>;
  readonly network?: object;
  readonly volume?: object;
}

/** The documents whose containers were asked for, without their image. */
export const RECORDED_CONTAINERS: Readonly<Record<string, Attributes>> = {
  plain: {},
  rich: {
    command: 'sleep 2000000',
    environment: { LEVEL: 'debug', MODE: 'a=b' },
    volumes: ['recorded-data:/data', '/srv:/srv:ro', '/scratch-volume'],
    tmpfs: ['/scratch:size=1m,mode=0700'],
    ports: ['127.0.0.1:18080:80', '18081:81/udp', '127.0.0.1::82'],
    expose: [9000],
    networks: { 'recorded-net': { aliases: ['web'] } },
    hostname: 'rich',
    extra_hosts: ['up:10.0.0.7', 'six:[2001:db8:0:0::1]'],
    dns: ['10.0.0.2'],
    dns_search: ['shop.internal'],
    dns_opt: ['ndots:2'],
    user: '10001:29',
    group_add: ['audio'],
    working_dir: '/etc/',
    restart: 'on-failure:3',
    init: true,
    cap_add: ['NET_ADMIN', 'CAP_SYS_TIME'],
    cap_drop: ['mknod'],
    security_opt: ['no-new-privileges:true'],
    devices: ['/dev/null:/dev/hole:r', '/dev/zero'],
    ulimits: { nofile: 1024 },
    sysctls: { 'net.core.somaxconn': 1024 },
    shm_size: '128m',
    mem_limit: '1g',
    cpus: 0.5,
    pids_limit: 100,
    oom_score_adj: 100,
    logging: { driver: 'json-file', options: { 'max-size': '1m' } },
    labels: { team: 'a' },
    healthcheck: { test: 'true', interval: '30s', retries: 5 },
    stop_grace_period: '3s',
  },
  alone: { network_mode: 'none', healthcheck: { disable: true } },
};

export const RECORDED_NETWORK: Attributes = { name: 'recorded-net', labels: { team: 'a' } };
export const RECORDED_VOLUME: Attributes = { name: 'recorded-data', labels: { team: 'a' } };

/** Every recording, the oldest engine first. */
export function recordedEngines(): readonly RecordedEngine[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as RecordedEngine)
    .sort((a, b) => a.engine.localeCompare(b.engine, 'en', { numeric: true }));
}

type Reply = { readonly [name: string]: unknown };

/** The reading half of a connection to that engine: it answers what was recorded, and that the rest is not there. */
export function recordedReader(engine: RecordedEngine): ReadClient {
  const containers = Object.values(engine.containers) as readonly Reply[];
  const image = engine.image as Reply;
  const answers = new Map<string, unknown>([
    ['/info', engine.info],
    ['/containers/json', containers.map(entryOf)],
    ['/networks', engine.network === undefined ? [] : [engine.network]],
    ['/volumes', { Volumes: engine.volume === undefined ? null : [engine.volume], Warnings: null }],
    ...containers.map((one) => [`/containers/${String(one['Id'])}/json`, one] as const),
    [`/images/${encodeURIComponent(String(image['Id']))}/json`, image],
  ]);
  const get: ReadClient['get'] = async (path, { doing }) => {
    if (answers.has(path)) return answers.get(path);
    throw providerError(Object.assign(new Error('not recorded'), { statusCode: 404 }), { doing, mutates: false });
  };
  const none = () => Promise.reject(new Error('nothing of that kind was recorded'));
  return { get, bytes: none, follow: none };
}

/** An entry of the list of containers, as the engine makes it of a container. */
function entryOf(container: Reply): Reply {
  const { Id, Name, Image, Config, State } = container;
  return { Id, Names: [Name], ImageID: Image, Labels: (Config as Reply)['Labels'], State: (State as Reply)['Status'], Created: 1 };
}
