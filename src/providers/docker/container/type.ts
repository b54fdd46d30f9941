import { type Attributes, isAttributes, isList, Unknown } from '../../../core/value.ts';
import type { TypeContext } from '../../contract.ts';
import { defineType, traitsOf } from '../../define.ts';
import { memberNames, plainText } from '../lift.ts';
import { alignContainer } from './align.ts';
import { checkContainer } from './check.ts';
import { containerEffects } from './effects.ts';
import { normalizeContainer } from './normal.ts';
import { portKey } from './ports.ts';
import { containerRivalries } from './rivalries.ts';
import { containerSchema } from './schema.ts';

/** `docker.container`: a container that runs until it is told to end. Restart policy, limits, networks and name change in place. */
export const containerType = defineType({
  type: 'docker.container',
  summary: 'A container that runs until it is told to end.',
  schemaVersion: 1,
  schema: containerSchema,
  traits: {
    'image.repository': traitsOf('Repository of the image.', { facet: 'identity', immutable: true, bound: true }),
    'image.digest': traitsOf('Digest of the image.', { facet: 'implementation', immutable: true, bound: true }),
    'image.id': traitsOf('Id of the image.', { facet: 'implementation', immutable: true, bound: true }),
    'image.tag': traitsOf('Tag of the image.', { facet: 'implementation', immutable: true, bound: true }),
    id: traitsOf('Id of the container.', { computed: true }),
    image_id: traitsOf('Id of the image that it runs.', { computed: true }),
    published_ports: traitsOf('Port on the host by port in the container, `80/tcp`, with what the engine chose filled in.', {
      computed: true,
    }),
    addresses: traitsOf('IP address by network.', { computed: true }),
    anonymous_volumes: traitsOf('Volume without a name of its own by path in the container.', { computed: true }),
    revision: traitsOf('Revision that the image declares in `org.opencontainers.image.revision`.', { computed: true }),
    _defaults: traitsOf('What image and engine give by themselves.', { facet: 'annotation' }),
  },
  durations: [
    'healthcheck.interval',
    'healthcheck.start_interval',
    'healthcheck.start_period',
    'healthcheck.timeout',
    'ready.interval',
    'ready.timeout',
    'stop_grace_period',
  ],
  role: 'service',
  roles: ['worker', 'store'],
  stage: 'start',
  marks: true,
  restarts: true,
  foreignCode: 'CONTAINER_FOREIGN',
  example: `resources:
  docker.container:
    api:
      image: registry.example/shop/api@sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      name: shop-api
      entrypoint: [/usr/bin/api]
      command: serve --port 8080
      environment: { LOG_LEVEL: info, WORKERS: 4 }
      env_file: api.env
      secrets: { /run/secrets/token: { value: "\${secrets.token}", mode: "0440", gid: 10001 } }
      configs: { /etc/api/api.json: { content: '{"cache": true}', mode: "0444" } }
      volumes:
        - data:/var/lib/api
        - { type: bind, source: ./assets, target: /srv/assets, read_only: true, bind: { propagation: rslave } }
      tmpfs: ["/tmp:size=64m"]
      ports: ["127.0.0.1:8080:8080", { target: 9090, host_ip: 127.0.0.1 }]
      expose: [9191]
      networks: [{ name: shop, aliases: [backend], ipv4_address: 10.20.0.5 }]
      hostname: api
      extra_hosts: ["upstream:10.0.0.7"]
      dns: [10.0.0.2]
      dns_search: [shop.internal]
      dns_opt: ["ndots:2"]
      user: "10001:10001"
      group_add: [audio]
      working_dir: /srv
      restart: unless-stopped
      init: true
      cap_drop: [ALL]
      cap_add: [NET_BIND_SERVICE]
      security_opt: [no-new-privileges]
      devices: ["/dev/null:/dev/blackhole:rw"]
      gpus: [{ driver: nvidia, device_ids: ["0"], capabilities: [gpu, utility] }]
      ulimits: { nofile: { soft: 4096, hard: 8192 }, nproc: 512 }
      sysctls: { net.core.somaxconn: 1024 }
      shm_size: 128m
      mem_limit: 512m
      mem_reservation: 256m
      memswap_limit: 1g
      cpus: 1.5
      cpu_shares: 512
      cpuset: "0-1"
      pids_limit: 200
      oom_score_adj: 100
      logging: { driver: json-file, options: { max-size: 10m, max-file: 3 } }
      labels: { team: shop }
      healthcheck: { test: [CMD, /usr/bin/api, health], interval: 10s, timeout: 2s, retries: 5, start_period: 20s }
      stop_signal: SIGINT
      stop_grace_period: 30s
      ipc: private
      platform: linux/amd64
      runtime: runc
      renew_anon_volumes: false
      ready: { http: "http://127.0.0.1:8080/readyz", timeout: 60s, interval: 2s }
    sidecar:
      image: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      network_mode: "container:shop-api"
      pid: "container:shop-api"
      read_only: true
      privileged: false
`,
  check: checkContainer,
  normalize: normalizeContainer,
  identity: (desired) => plainText(desired['name']),
  foresee: foreseeContainer,
  align: alignContainer,
  effects: containerEffects,
  offers: ['logs', 'exec'],
  rivalries: containerRivalries,
});

/** Which ports and networks it will have is known before the container is there; the ports that the engine chooses and the addresses are not. */
function foreseeContainer(desired: Attributes, context: TypeContext): Attributes {
  const at = (path: string) => new Unknown(`${context.address}.${path}`);
  const ports = desired['ports'] ?? [];
  const networks = desired['networks'];
  const published = isList(ports) ? ports.map((port) => [portKey(port), port] as const) : [];
  const isKnown = isList(ports) && published.every(([key]) => key !== undefined);
  return {
    published_ports: isKnown
      ? Object.fromEntries(
          published.map(([key, port]) => [key, (isAttributes(port) ? port['published'] : undefined) ?? at(`published_ports.${key}`)]),
        )
      : at('published_ports'),
    ...(isAttributes(networks)
      ? { addresses: Object.fromEntries(memberNames(networks).map((name) => [name, at(`addresses.${name}`)])) }
      : { addresses: at('addresses') }),
  };
}
