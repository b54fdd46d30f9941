import { type Attributes, isAttributes, type Value } from '../../../core/value.ts';
import { bareText, compact, memberNames } from '../lift.ts';

/**
 * Tells the log options and the IPC mode that a container was asked to have from those that the engine's own configuration gave it: the engine
 * shows both alike. `made` is what the container was made with, undefined when nobody knows; then what the engine would give is
 * taken as given. What was asked for stands among the attributes, so that it is missed when nobody asks for it any more; the rest stands in `_defaults`.
 */
export function tellUnnamed(live: Attributes, made: Attributes | undefined): Attributes {
  if (made === undefined) return live;
  const { logging, ipc, _defaults: raw, ...rest } = live;
  const { logging: givenLogging, ipc: givenIpc, ...defaults } = isAttributes(raw) ? raw : {};
  const [ownLogging, otherLogging] = splitLogging(logging, givenLogging, made['logging']);
  const ipcIsAsked = ipc === undefined && bareText(made['ipc']) === 'shareable';
  return {
    ...rest,
    ...compact({ logging: ownLogging, ipc: ipcIsAsked ? givenIpc : ipc }),
    _defaults: { ...defaults, ...compact({ logging: otherLogging, ipc: ipcIsAsked ? undefined : givenIpc }) },
  };
}

/** What was asked for, and what was not. A driver other than the engine's that nobody asked for was the engine's when the container was made. */
function splitLogging(
  own: Value | undefined,
  given: Value | undefined,
  made: Value | undefined,
): readonly [asked: Value | undefined, other: Value | undefined] {
  const all = own ?? given;
  if (!isAttributes(all)) return [own, given];
  const named = new Set(memberNames(made));
  const options = Object.entries(isAttributes(all['options']) ? all['options'] : {});
  const names = new Set(isAttributes(made) ? memberNames(made['options']) : []);
  const pick = (isAsked: boolean) => ({
    driver: (own !== undefined && named.has('driver')) === isAsked ? all['driver'] : undefined,
    options: Object.fromEntries(options.filter(([name]) => names.has(name) === isAsked)),
  });
  return [compact(pick(true)), compact(pick(false))];
}
