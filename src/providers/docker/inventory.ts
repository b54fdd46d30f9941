import { z } from 'zod';
import { compareText } from '../../core/address.ts';
import { isAttributes, isList } from '../../core/value.ts';
import type { Found, ObjectQuery, Observed } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { isOfJob } from './job/traces.ts';
import { asList, asText, bareText, compact, liftOptional, textSet } from './lift.ts';
import { isMarked } from './marks.ts';
import { isAsideName } from './naming.ts';
import type { ContainerEntry } from './wire.ts';
import type { World } from './world.ts';

const label = z.string().regex(/^[^=\s][^=]*(?:=.*)?$/, 'a label such as team=shop, or its name alone for any value');

const schema = z.strictObject({
  selector: attribute(
    z.strictObject({
      label: attribute(
        z.union([label, z.array(label).min(1)]),
        'Label that a container has to carry, `NAME=VALUE` or `NAME`; all of several.',
      ),
    }),
    'Which containers are meant, running or not.',
  ),
  guard: attribute(
    z.enum(['none', 'subset', 'equal']).optional(),
    'What has to hold, or the plan is refused: `subset`, each of them is one of this environment; `equal`, and each container of this environment is one of them. Default `none`.',
    { facet: 'governance' },
  ),
});

/** `docker.inventory`: which containers carry a label. Only read. */
export const inventoryType = defineType({
  type: 'docker.inventory',
  summary: 'The containers that carry a label, whoever made them.',
  schemaVersion: 1,
  schema,
  traits: {
    names: traitsOf('Their names, sorted.', { computed: true }),
    ids: traitsOf('Their ids, in the order of the names.', { computed: true }),
    images: traitsOf('Ids of their images, in the order of the names.', { computed: true }),
    states: traitsOf('Their states, such as `running`, in the order of the names.', { computed: true }),
  },
  role: 'infrastructure',
  stage: 'verify',
  data: true,
  foreignCode: 'INVENTORY_FOREIGN',
  example: `resources:
  docker.inventory:
    shop:
      selector: { label: [com.example.slot=blue, com.example.team] }
      guard: subset
`,
  normalize: (attributes) =>
    compact({
      selector: liftOptional(attributes['selector'], (selector) =>
        isAttributes(selector)
          ? compact({
              label: liftOptional(asList(selector['label'], asText), (labels) => (isList(labels) ? textSet(labels) : labels)),
            })
          : selector,
      ),
      guard: liftOptional(attributes['guard'], (guard) => (guard === 'none' ? undefined : guard)),
    }),
  identity: () => 'inventory',
  effects: () => [],
});

/** Reads which containers carry the labels of the query, and judges its guard. */
export async function readInventory(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const desired = query.desired ?? {};
  const selector = desired['selector'];
  const labels = isAttributes(selector) ? selector['label'] : undefined;
  const wanted = (isList(labels) ? labels : []).map((item) => bareText(item) ?? '');
  // What stepped aside for a successor is no longer what serves, whatever it carries.
  const present = (await world.containers(signal)).filter((entry) => !(isMarked(entry.Labels, query.mark) && isAside(entry)));
  const all = present.toSorted((a, b) => compareText(nameOf(a), nameOf(b)));
  const found = all.filter((entry) => wanted.every((text) => carries(entry, text)));
  const problem = judge(desired['guard'], found, all, query);
  return {
    kind: 'found',
    owner: 'ours',
    ref: wanted.join(','),
    attributes: desired,
    computed: {
      names: found.map(nameOf),
      ids: found.map(({ Id }) => Id),
      images: found.map(({ ImageID }) => ImageID),
      states: found.map(({ State }) => State),
    },
    ...(problem === undefined ? {} : { problem }),
  };
}

/** What was found as opposed to what is ours. What a job left behind is no part of what serves, and counts on neither side as ours to be. */
function judge(
  guard: unknown,
  found: readonly ContainerEntry[],
  all: readonly ContainerEntry[],
  query: ObjectQuery,
): Found['problem'] | undefined {
  if (guard !== 'subset' && guard !== 'equal') return undefined;
  const isOurs = (entry: ContainerEntry) => isMarked(entry.Labels, query.mark);
  const foreign = found.filter((entry) => !isOurs(entry)).map(nameOf);
  if (foreign.length > 0) {
    return {
      code: 'INVENTORY_FOREIGN',
      message: `Containers that carry the label are not of this environment: ${foreign.join(', ')}. Remove them or their label by hand, or take them over.`,
    };
  }
  const missing = all.filter((entry) => isOurs(entry) && !isOfJob(entry.Labels) && !found.includes(entry)).map(nameOf);
  if (guard === 'subset' || missing.length === 0) return undefined;
  return {
    code: 'INVENTORY_INCOMPLETE',
    message: `Containers of this environment do not carry the label: ${missing.join(', ')}. Give it to them, or ask for guard: subset.`,
  };
}

function isAside(entry: ContainerEntry): boolean {
  return !isOfJob(entry.Labels) && entry.Names.some((name) => isAsideName(name, entry.Id));
}

function carries(entry: ContainerEntry, text: string): boolean {
  const at = text.indexOf('=');
  if (at === -1) return Object.hasOwn(entry.Labels, text);
  return entry.Labels[text.slice(0, at)] === text.slice(at + 1);
}

function nameOf(entry: ContainerEntry): string {
  return entry.Names[0]?.slice(1) ?? entry.Id;
}
