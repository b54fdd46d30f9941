import { type Attributes, isAttributes, isList, type Plain, type Value } from '../../../core/value.ts';
import { compact, liftOptional } from '../lift.ts';

/** What the engine calls all of them. */
const ALL = -1;
const GPU = 'gpu';

/** A request for devices as the engine takes and tells it. */
export interface DeviceRequest {
  readonly Driver: string;
  readonly Count: number;
  readonly DeviceIDs: readonly string[];
  /** Alternatives, each a list of capabilities that a device has to have together. */
  readonly Capabilities: readonly (readonly string[])[];
}

/** GPUs as a list of `{ driver, count, device_ids, capabilities }`: `all` and a number are one request; what asks for no ids asks for all. */
export function normalizeGpus(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (inner === 'all' || typeof inner === 'number') return [request({ count: inner })];
    return isList(inner) ? inner.map((item) => (isAttributes(item) ? request(item) : item)) : inner;
  });
}

function request(asked: Attributes): Value {
  const { driver, count, device_ids: ids, capabilities } = asked;
  const texts = isList(capabilities) ? capabilities : [];
  return compact({
    driver,
    ...(ids === undefined ? { count: count === undefined || count === 'all' ? ALL : count } : { device_ids: sorted(ids) }),
    capabilities: sorted(texts.includes(GPU) ? texts : [...texts, GPU]),
  });
}

function sorted(list: Value): Value {
  return isList(list) && list.every((item) => typeof item === 'string') ? list.toSorted() : list;
}

/** The requests for the engine. Takes the normal form. */
export function gpuRequests(gpus: readonly { readonly [name: string]: Plain }[]): readonly DeviceRequest[] {
  return gpus.map((gpu) => {
    const ids = Array.isArray(gpu['device_ids']) ? gpu['device_ids'].map(String) : [];
    return {
      Driver: typeof gpu['driver'] === 'string' ? gpu['driver'] : '',
      Count: typeof gpu['count'] === 'number' ? gpu['count'] : 0,
      DeviceIDs: ids,
      Capabilities: [Array.isArray(gpu['capabilities']) ? gpu['capabilities'].map(String) : [GPU]],
    };
  });
}

/** What was asked for, as the engine tells it; requests for other devices than GPUs are not ours to say. */
export function liveGpus(requests: readonly DeviceRequest[]): Value {
  return requests
    .filter(({ Capabilities }) => Capabilities.some((group) => group.includes(GPU)))
    .map(({ Driver, Count, DeviceIDs, Capabilities }) =>
      request({
        ...(Driver === '' ? {} : { driver: Driver }),
        ...(DeviceIDs.length > 0 ? { device_ids: DeviceIDs } : { count: Count }),
        capabilities: Capabilities.flat(),
      }),
    );
}
