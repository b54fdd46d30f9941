import { z } from 'zod';
import type { Attributes } from '../../core/value.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { compact, plainText, textMap } from './lift.ts';
import { ownLabels } from './marks.ts';
import { namedObjectEffects } from './named-object.ts';
import { defaultName } from './naming.ts';
import { labelsSchema, nameRivalries, objectName, reservedLabels, secretNames } from './network.ts';
import type { VolumeReply } from './wire.ts';

const schema = z.strictObject({
  name: attribute(objectName.optional(), 'Name on the engine; default `<environment>-<name>[-<key>]`.', {
    facet: 'identity',
    immutable: true,
  }),
  driver: attribute(z.string().min(1).optional(), 'Volume driver; default `local`.', { facet: 'identity', immutable: true }),
  driver_opts: attribute(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(), 'Options of the driver.', {
    facet: 'identity',
    immutable: true,
  }),
  labels: attribute(labelsSchema.optional(), 'Labels, as a map or a list of `NAME=VALUE`.', { immutable: true }),
});

/** `docker.volume`: a named volume. It holds data: it starts protected, and every change of it is a replacement. */
export const volumeType = defineType({
  type: 'docker.volume',
  summary: 'A named volume of the engine. It holds data and starts protected.',
  schemaVersion: 1,
  schema,
  traits: { mountpoint: traitsOf('Folder of its data on the host of the engine.', { computed: true }) },
  role: 'infrastructure',
  stage: 'migrate',
  protected: true,
  marks: true,
  foreignCode: 'VOLUME_FOREIGN',
  example: `resources:
  docker.volume:
    data:
      name: shop-data
      driver: local
      driver_opts: { type: tmpfs, device: tmpfs, o: size=64m }
      labels: { backup: nightly }
`,
  check: (attributes) => [...secretNames(attributes), ...reservedLabels(attributes['labels'])],
  normalize: (attributes, context) =>
    compact({
      name: attributes['name'] ?? defaultName(context),
      driver: attributes['driver'] ?? 'local',
      driver_opts: textMap(attributes['driver_opts']),
      labels: textMap(attributes['labels']),
    }),
  identity: (desired) => plainText(desired['name']),
  rivalries: nameRivalries('volumes'),
  effects: (change) => namedObjectEffects(change, { stage: 'migrate', direction: 'back', update: 'update', independent: false }),
});

/** The normal form of a volume that is there. */
export function liveVolume(volume: VolumeReply): Attributes {
  return compact({ name: volume.Name, driver: volume.Driver, driver_opts: volume.Options, labels: ownLabels(volume.Labels) });
}
