import { describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import type { Role } from '../../../src/core/facet.ts';
import { type Attributes, Unknown } from '../../../src/core/value.ts';
import { containerType } from '../../../src/providers/docker/container/type.ts';
import { networkType } from '../../../src/providers/docker/network.ts';
import { volumeType } from '../../../src/providers/docker/volume.ts';

const CONTEXT = { environment: 'shop', address: 'docker.container.web' as ResourceAddress, name: 'web', folder: '/srv', config: {} };
const IMAGE = `reg/x@sha256:${'a'.repeat(64)}`;

const normal = (attributes: Attributes) => containerType.normalize({ image: IMAGE, ...attributes }, CONTEXT);

/** The attributes because of which a container with `live` and one with `desired` cannot be at once. */
function rivals(desired: Attributes, live: Attributes = desired, role: Role = 'service'): readonly string[] {
  return (containerType.rivalries?.(normal(desired), normal(live), role) ?? []).map(({ path, message }) => `${path}: ${message}`);
}

describe('what two containers cannot have at once', () => {
  it.each([
    [['8080:80'], ['8080:80'], 1],
    [['127.0.0.1:8080:80'], ['8080:81'], 1],
    [['0.0.0.0:8080:80'], ['127.0.0.1:8080:80'], 1],
    [['[::1]:8080:80'], ['[::]:8080:80'], 1],
    [['8080-8082:80-82'], ['8081-8083:80-82'], 2],
    [['127.0.0.1:8080:80'], ['127.0.0.2:8080:80'], 0],
    [['[::]:8080:80'], ['0.0.0.0:8080:80'], 0],
    [['8080:80/udp'], ['8080:80'], 0],
    [['8081:80'], ['8080:80'], 0],
    [['127.0.0.1::80'], ['127.0.0.1::80'], 0],
    [[80], ['8080:80'], 0],
  ])('must be a published port: %j beside %j', (desired, live, count) => {
    expect(rivals({ ports: desired }, { ports: live })).toHaveLength(count);
  });

  it('must be named with what to write instead', () => {
    const ports = ['127.0.0.1:8080:80'];
    expect(containerType.rivalries?.(normal({ ports }), normal({ ports }), 'service')).toEqual([
      {
        path: 'ports',
        message: 'Two containers cannot publish port 8080/tcp of the host at once.',
        advice: 'Let the engine choose a free port, "127.0.0.1::80", and refer to published_ports.',
      },
    ]);
  });

  it('must be a fixed address in the same network', () => {
    const at = (network: string, address: string) => ({ networks: { [network]: { ipv4_address: address } } });
    expect(rivals(at('front', '10.1.0.5'))).toEqual([
      'networks: Two containers cannot have the address 10.1.0.5 in the network front at once.',
    ]);
    expect(rivals(at('front', '10.1.0.5'), at('front', '10.1.0.6'))).toEqual([]);
    expect(rivals(at('front', '10.1.0.5'), at('back', '10.1.0.5'))).toEqual([]);
    expect(
      rivals({ networks: [{ name: 'front', ipv6_address: 'fd00:0::5' }] }, { networks: { front: { ipv6_address: 'fd00::5' } } }),
    ).toHaveLength(1);
    expect(rivals({ networks: ['front'] })).toEqual([]);
  });

  it('must be the files of a store, and of nothing else', () => {
    const volumes = ['data:/var/lib/db'];
    expect(rivals({ volumes }, { volumes }, 'store')).toEqual(['volumes: Two stores would write to the files at /var/lib/db at once.']);
    expect(rivals({ volumes }, { volumes }, 'service')).toEqual([]);
    expect(rivals({ volumes: ['other:/var/lib/db'] }, { volumes }, 'store')).toEqual([]);
    expect(rivals({ volumes: ['conf:/etc/db:ro'] }, { volumes: ['conf:/etc/db:ro'] }, 'store')).toEqual([]);
    // A volume without a name is handed on to the successor, unless that mounts another one or is to have its own.
    expect(rivals({}, { volumes: ['/var/lib/db'] }, 'store')).toHaveLength(1);
    expect(rivals({ volumes }, { volumes: ['/var/lib/db'] }, 'store')).toEqual([]);
    expect(rivals({ renew_anon_volumes: true }, { volumes: ['/var/lib/db'] }, 'store')).toEqual([]);
  });

  it('must not be judged while it is not known', () => {
    expect(rivals({ ports: new Unknown('local.value.ports.output') }, { ports: ['8080:80'] })).toEqual([]);
    expect(rivals({ networks: new Unknown('docker.network.x.name') }, { networks: { x: { ipv4_address: '10.1.0.5' } } })).toEqual([]);
  });
});

describe('what two networks or volumes cannot have at once', () => {
  it.each([networkType, volumeType])('must be their name', (type) => {
    expect(type.rivalries?.({ name: 'app' }, { name: 'app' }, type.role)).toHaveLength(1);
    expect(type.rivalries?.({ name: 'app-2' }, { name: 'app' }, type.role)).toEqual([]);
  });
});
