import { describe, expect, it } from 'vitest';
import type { Plain, Value } from '../../../src/core/value.ts';
import { gpuRequests, liveGpus, normalizeGpus } from '../../../src/providers/docker/container/gpus.ts';

const all = { count: -1, capabilities: ['gpu'] };

describe('gpus', () => {
  it.each<[string, Value, Value]>([
    ['all', 'all', [all]],
    ['a number', 2, [{ count: 2, capabilities: ['gpu'] }]],
    ['a request that names nothing', [{}], [all]],
    ['all in a request', [{ count: 'all' }], [all]],
    ['ids, in any order', [{ device_ids: ['1', '0'] }], [{ device_ids: ['0', '1'], capabilities: ['gpu'] }]],
    [
      'a driver and more capabilities',
      [{ driver: 'nvidia', capabilities: ['utility'], count: 1 }],
      [{ driver: 'nvidia', count: 1, capabilities: ['gpu', 'utility'] }],
    ],
  ])('must come back from the engine as they were asked for: %s', (_, written, normal) => {
    expect(normalizeGpus(written)).toEqual(normal);
    const requests = gpuRequests(normal as readonly { readonly [name: string]: Plain }[]);
    expect(liveGpus(requests)).toEqual(normal);
  });

  it('must leave requests for other devices alone', () => {
    expect(liveGpus([{ Driver: 'cdi', Count: 0, DeviceIDs: ['vendor.com/net=1'], Capabilities: [] }])).toEqual([]);
  });
});
