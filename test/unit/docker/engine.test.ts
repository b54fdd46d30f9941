import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/providers/contract.ts';
import { isNotFound, isStillAttached, providerError } from '../../../src/providers/docker/errors.ts';
import { demultiplex } from '../../../src/providers/docker/logs.ts';
import { networkType } from '../../../src/providers/docker/network.ts';
import { agreedVersion, dockerProvider } from '../../../src/providers/docker/provider.ts';
import { volumeType } from '../../../src/providers/docker/volume.ts';

const CREATE = { doing: 'create the container x', mutates: true };
const READ = { doing: 'list the containers', mutates: false };

function refused(statusCode: number, message: string): Error {
  return Object.assign(new Error('(HTTP code)'), { statusCode, json: { message } });
}

describe('errors of the engine', () => {
  it.each([
    [refused(404, 'No such image: x'), CREATE, 'NOT_FOUND'],
    [refused(409, 'Conflict. The container name is in use'), CREATE, 'CONFLICT'],
    [refused(400, 'invalid reference'), CREATE, 'INVALID'],
    [refused(403, 'denied'), CREATE, 'FORBIDDEN'],
    [refused(500, 'driver failed: Bind for 127.0.0.1:8080 failed: port is already allocated'), CREATE, 'CONFLICT'],
    [refused(500, 'write /x: no space left on device'), CREATE, 'EXHAUSTED'],
    [refused(500, 'could not find an available, non-overlapping IPv4 address pool'), CREATE, 'EXHAUSTED'],
    [refused(500, 'something else'), CREATE, 'OTHER'],
    [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), CREATE, 'UNREACHABLE'],
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), CREATE, 'UNKNOWN_OUTCOME'],
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), READ, 'UNREACHABLE'],
  ] as const)('must be told apart: %s', (error, subject, code) => {
    const told = providerError(error, subject);
    expect(told.code).toBe(code);
    expect(told.message).toContain(subject.doing);
    expect(told.message).toMatch(/\.$/);
    expect(told.cause).toBe(error);
  });

  it('must name the port that is taken, and keep what was told already', () => {
    const taken = providerError(refused(500, 'Bind for 127.0.0.1:8080 failed: port is already allocated'), CREATE);
    expect(taken.next).toContain('127.0.0.1:8080');
    expect(providerError(taken, READ)).toBe(taken);
    expect(isNotFound(providerError(refused(404, 'x'), READ))).toBe(true);
    expect(isStillAttached(providerError(refused(403, 'network x has active endpoints'), CREATE))).toBe(true);
    expect(isNotFound(new ProviderError('NOT_FOUND', 'ours'))).toBe(false);
  });
});

describe('the version of the API', () => {
  it('must be the newest that both sides speak', () => {
    expect(agreedVersion('1.41', '1.12')).toBe('1.41');
    expect(agreedVersion('1.60', '1.44')).toBe('1.52');
    expect(agreedVersion('1.40', '1.12')).toBeUndefined();
    expect(agreedVersion('1.60', '1.53')).toBeUndefined();
  });
});

describe('the provider block', () => {
  const parse = (block: object) => dockerProvider.config.safeParse(block);

  it('must take what is available and refuse the rest with a sentence', () => {
    for (const block of [{}, { host: 'unix:///x.sock' }, { host: 'tcp://10.0.0.1:2375', address: 'a', allow_tags: true }])
      expect(parse(block).success).toBe(true);
    for (const block of [{ context: 'x' }, { host: 'x' }, { address: '' }]) expect(parse(block).success).toBe(false);
    for (const block of [
      { host: 'ssh://deploy@10.0.0.5' },
      { host: 'context://far' },
      { host: 'tcp://x', tls: {} },
      { tls: { ca: '~/ca.pem' } },
    ])
      expect(parse(block).success).toBe(true);
    for (const tls of [{ ca: 'ca.pem' }, { cert: '/c.pem' }, { key: '/k.pem' }, { other: '/x' }])
      expect(parse({ tls }).success).toBe(false);
    expect(parse({ host: 'npipe://x' }).error?.issues.map((issue) => issue.message)).toEqual([expect.stringContaining('context://NAME')]);
  });
});

describe('a log', () => {
  it('must come out of its frames, and stay as it is without them', () => {
    const frame = (stream: number, text: string) =>
      Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)]);
    expect(demultiplex(Buffer.concat([frame(1, 'out\n'), frame(2, 'err\n')])).toString()).toBe('out\nerr\n');
    expect(demultiplex(frame(1, 'cut off').subarray(0, 11)).toString()).toBe('cut');
    expect(demultiplex(Buffer.from('plain terminal text')).toString()).toBe('plain terminal text');
  });
});

describe('networks and volumes', () => {
  const context = { environment: 'e', address: 'x' as never, name: 'n', folder: '/', config: {} };

  it('must have one normal form, with only what differs from the default', () => {
    expect(networkType.normalize({ internal: false, ipam: { driver: 'default', config: [{ subnet: '2001:DB8::/64' }] } }, context)).toEqual(
      {
        name: 'e-n',
        driver: 'bridge',
        ipam: { config: [{ subnet: '2001:db8::/64' }] },
      },
    );
    expect(volumeType.normalize({ labels: ['a=1'] }, context)).toEqual({ name: 'e-n', driver: 'local', labels: { a: '1' } });
    expect([volumeType.protected, networkType.protected]).toEqual([true, false]);
  });

  it('must not count a gateway or another family that the engine chose', () => {
    const desired = networkType.normalize({ ipam: { config: [{ subnet: '10.1.0.0/24' }] } }, context);
    const live = { ...desired, ipam: {}, _defaults: { pools: [{ subnet: '10.1.0.0/24', gateway: '10.1.0.1' }, { subnet: 'fd00::/64' }] } };
    expect(networkType.align?.(desired, live)).toEqual(desired);
    const sixth = networkType.normalize({ ipam: { config: [{ subnet: 'fd00::/64' }] } }, context);
    expect(networkType.align?.(sixth, live)).toEqual(sixth);
    const other = networkType.normalize({ ipam: { config: [{ subnet: '10.2.0.0/24' }] } }, context);
    expect(networkType.align?.(other, live)).not.toEqual(other);
    expect(networkType.align?.(networkType.normalize({}, context), { ...live, ipam: undefined as never })).not.toHaveProperty('_defaults');
  });
});
