import { z } from 'zod';
import { type Attributes, isAttributes, isList, type Plain, Sensitive, Unknown, type Value } from '../../core/value.ts';
import type { Operation, Problem, Receipt, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { singleStepEffects } from './single-step.ts';

const RANGE = /^(\d{1,5})-(\d{1,5})$/;

const schema = z.strictObject({
  range: attribute(
    z
      .string()
      .refine(
        (text) => parseRange(text) !== undefined,
        'two ports from 1 to 65535 with a hyphen between, the lower one first: "20000-20099"',
      ),
    'The ports to give away, as "20000-20099". Nothing else should use them; those of two resources must not overlap.',
  ),
  names: attribute(
    z.array(z.string().min(1).max(200)).min(1).max(10_000),
    'Who gets a port. A name keeps its port for as long as it stands here.',
    { compare: 'set' },
  ),
});

/** Ports that are given to names once and kept in the state. */
export const portsType = defineType({
  type: 'local.ports',
  summary: 'Ports of a range, given to names once and kept in the state',
  schemaVersion: 1,
  schema,
  traits: {
    by_name: traitsOf('The port of each name: `by_name["x"]`. Known at plan.', { computed: true }),
  },
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'PORTS_FOREIGN',
  example: `resources:
  local.ports:
    backends:
      range: 20000-20099
      names: [api, worker]
  local.value:
    api:
      input: '\${local.ports.backends.by_name["api"]}'
`,
  check,
  normalize: ({ range, names }) => ({ ...(range === undefined ? {} : { range }), ...(names === undefined ? {} : { names }) }),
  identity: (_desired, context) => context.address,
  foresee: (desired, _context, recorded) => ({ by_name: allocate(desired, recorded?.['by_name']) ?? new Unknown('the names of ports') }),
  effects: (change) => singleStepEffects(change, { createFirst: false, undo: true }),
});

/** Keeps what was given away before and gives the other names the lowest ports that are free. */
export function performPorts(operation: Operation): Receipt {
  const { object } = operation.effect;
  if (object !== 'create' && object !== 'update') return {};
  const given = allocate(operation.desired, operation.computed?.['by_name']);
  if (given === undefined) throw new Error(`${operation.address} has no normal form`);
  return { ...(object === 'create' ? { ref: operation.address } : {}), computed: { by_name: given } };
}

function check({ range, names }: Attributes, context: TypeContext): readonly Problem[] {
  if (range instanceof Sensitive || names instanceof Sensitive) {
    const detail = `The ports of ${context.address} come from a secret. They are kept in the state and shown in every plan, so they cannot be one.`;
    return [
      {
        severity: 'error',
        code: 'PORTS_SENSITIVE',
        summary: 'Ports cannot be a secret',
        detail,
        path: [range instanceof Sensitive ? 'range' : 'names'],
      },
    ];
  }
  if (typeof range !== 'string') return [];
  const bounds = parseRange(range);
  const known = knownNames(names);
  if (bounds === undefined || known === undefined) return [];
  const double = known.find((name, index) => known.indexOf(name) !== index);
  if (double !== undefined) {
    const detail = `${JSON.stringify(double)} stands twice in the names of ${context.address}. One name has one port.`;
    return [{ severity: 'error', code: 'PORT_NAME_TWICE', summary: 'A name stands twice', detail, path: ['names'] }];
  }
  const size = bounds.last - bounds.first + 1;
  if (known.length <= size) return [];
  const detail = `${context.address} has ${known.length} names, and ${range} holds ${size} ports. Make the range larger; ports that are given away stay.`;
  return [
    {
      severity: 'error',
      code: 'PORTS_EXHAUSTED',
      summary: 'There are more names than ports',
      detail,
      path: ['range'],
      expected: `${known.length} ports or more`,
    },
  ];
}

/** Undefined while the names or the range are not known. Of names it makes no difference in which order they stand but for those that come together. */
function allocate(desired: Attributes, recorded: Value | Plain | undefined): { readonly [name: string]: number } | undefined {
  const names = knownNames(desired['names']);
  const bounds = typeof desired['range'] === 'string' ? parseRange(desired['range']) : undefined;
  if (names === undefined || bounds === undefined) return undefined;
  const given = new Map<string, number>();
  for (const name of names) {
    const port =
      isAttributes(recorded as Value | undefined) && Object.hasOwn(recorded as Attributes, name)
        ? (recorded as Attributes)[name]
        : undefined;
    if (typeof port === 'number' && port >= bounds.first && port <= bounds.last) given.set(name, port);
  }
  const taken = new Set(given.values());
  let next = bounds.first;
  for (const name of names) {
    if (given.has(name)) continue;
    while (taken.has(next)) next += 1;
    taken.add(next);
    given.set(name, next);
  }
  return Object.fromEntries([...given].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function knownNames(names: Value | undefined): readonly string[] | undefined {
  return isList(names) && names.every((name) => typeof name === 'string') ? names : undefined;
}

function parseRange(text: string): { readonly first: number; readonly last: number } | undefined {
  const match = RANGE.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  return match !== null && first >= 1 && last <= 65_535 && first <= last ? { first, last } : undefined;
}
