import { type Attributes, isAttributes, isList, type Value } from '../../../core/value.ts';
import { asText, bareText, compact, lift, liftOptional, sortedBy } from '../lift.ts';

/** Reads `source[:target[:permissions]]`; `source:permissions` too, as the engine does. */
export function parseDeviceText(text: string): Attributes | undefined {
  const [source = '', second, third, ...rest] = text.split(':');
  if (!source.startsWith('/') || rest.length > 0) return undefined;
  const isPermissions = second !== undefined && third === undefined && /^[rwm]{1,3}$/.test(second);
  const target = second === undefined || isPermissions ? source : second;
  const permissions = (isPermissions ? second : third) ?? 'rwm';
  if (!target.startsWith('/') || !/^[rwm]{1,3}$/.test(permissions)) return undefined;
  return { source, target, permissions: sortPermissions(permissions) };
}

/** Permissions in the order `rwm`, so that two spellings are one. */
export function sortPermissions(permissions: string): string {
  return ['r', 'w', 'm'].filter((letter) => permissions.includes(letter)).join('');
}

/** Devices as a list of `{ source, target, permissions }`, sorted by target. */
export function normalizeDevices(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) =>
    isList(inner)
      ? sortedBy(
          inner.map((item) => lift(item, (text) => (typeof text === 'string' ? (parseDeviceText(text) ?? text) : text))),
          (item) => (isAttributes(item) ? bareText(item['target']) : undefined),
        )
      : inner,
  );
}

/** Limits of processes as a map from name to `{ soft, hard }`. */
export function normalizeUlimits(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) =>
    isAttributes(inner)
      ? Object.fromEntries(
          Object.entries(inner).map(([name, limit]) => [
            name,
            lift(limit, (one) => (typeof one === 'number' ? { soft: one, hard: one } : one)),
          ]),
        )
      : inner,
  );
}

/** The log driver and its options; options as text. */
export function normalizeLogging(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) =>
    isAttributes(inner)
      ? compact({
          driver: inner['driver'],
          options: liftOptional(inner['options'], (options) =>
            isAttributes(options) ? Object.fromEntries(Object.entries(options).map(([name, item]) => [name, asText(item)])) : options,
          ),
        })
      : inner,
  );
}
