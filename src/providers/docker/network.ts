import { z } from 'zod';
import { type Attributes, isAttributes, isList, Sensitive, type Value } from '../../core/value.ts';
import type { Problem, Rivalry, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { bareText, compact, lift, liftOptional, memberNames, plainText, sortedBy, textMap } from './lift.ts';
import { LABEL_PREFIX, ownLabels } from './marks.ts';
import { namedObjectEffects } from './named-object.ts';
import { defaultName } from './naming.ts';
import { canonicalIp, canonicalSubnet, isSubnet } from './spelling.ts';
import type { NetworkReply } from './wire.ts';

const text = z.union([z.string(), z.number(), z.boolean()]);
export const labelsSchema = z.union([z.record(z.string(), text), z.array(z.string())]);
export const objectName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{1,127}$/, 'a name of at least two letters, digits, _, . and -');
const subnet = z.string().refine(isSubnet, 'a subnet such as 10.20.0.0/24');

const schema = z.strictObject({
  name: attribute(objectName.optional(), 'Name on the engine; default `<environment>-<name>[-<key>]`.', {
    facet: 'identity',
    immutable: true,
  }),
  driver: attribute(z.string().min(1).optional(), 'Network driver; default `bridge`.', { immutable: true }),
  driver_opts: attribute(z.record(z.string(), text).optional(), 'Options of the driver.', { immutable: true }),
  internal: attribute(z.boolean().optional(), 'Whether it is cut off from the outside.', { immutable: true }),
  attachable: attribute(z.boolean().optional(), 'Whether single containers may join a Swarm network.', { immutable: true }),
  ipv6: attribute(z.boolean().optional(), 'Whether it carries IPv6.', { immutable: true }),
  ipam: attribute(
    z
      .strictObject({
        driver: attribute(z.string().min(1).optional(), 'Address management driver; default `default`.', { immutable: true }),
        config: attribute(
          z
            .array(
              z.strictObject({
                subnet: subnet.optional(),
                gateway: z.string().optional(),
                ip_range: subnet.optional(),
                aux_addresses: z.record(z.string(), z.string()).optional(),
              }),
            )
            .optional(),
          'Address pools; the engine chooses one when there is none.',
          { immutable: true, compare: { keyedBy: 'subnet' } },
        ),
      })
      .optional(),
    'Address management.',
    { immutable: true },
  ),
  labels: attribute(labelsSchema.optional(), 'Labels, as a map or a list of `NAME=VALUE`.', { immutable: true }),
});

/** `docker.network`: a network of the engine. The engine cannot change one, so every change of it is a replacement. */
export const networkType = defineType({
  type: 'docker.network',
  summary: 'A network of the engine.',
  schemaVersion: 1,
  schema,
  traits: {
    id: traitsOf('Id of the network.', { computed: true }),
    subnets: traitsOf('Its subnets, also those that the engine chose.', { computed: true }),
    _defaults: traitsOf('What the engine chose by itself.', { facet: 'annotation' }),
  },
  role: 'infrastructure',
  stage: 'migrate',
  marks: true,
  foreignCode: 'NETWORK_FOREIGN',
  example: `resources:
  docker.network:
    app:
      name: shop
      driver: bridge
      driver_opts: { com.docker.network.bridge.enable_icc: "true" }
      internal: true
      attachable: false
      ipv6: false
      ipam:
        driver: default
        config: [{ subnet: 10.20.0.0/24, gateway: 10.20.0.1, ip_range: 10.20.0.128/25, aux_addresses: { router: 10.20.0.2 } }]
      labels: { team: shop }
`,
  check: (attributes) => [...secretNames(attributes), ...reservedLabels(attributes['labels'])],
  normalize: (attributes, context) => normalizeNetwork(attributes, context),
  identity: (desired) => plainText(desired['name']),
  align: alignNetwork,
  rivalries: nameRivalries('networks'),
  effects: (change) => namedObjectEffects(change, { stage: 'migrate', direction: 'back', update: 'update', independent: false }),
});

/** Networks and volumes are told apart by their names alone, so that two of one name cannot be. */
export function nameRivalries(what: 'networks' | 'volumes'): (desired: Attributes, live: Attributes) => readonly Rivalry[] {
  return (desired, live) => {
    const name = plainText(desired['name']);
    if (name === undefined || name !== plainText(live['name'])) return [];
    return [{ path: 'name', message: `There cannot be two ${what} of the name ${name}.`, advice: 'Give the new one another name.' }];
  };
}

/** Refuses a name that is a secret: the name of an object is shown everywhere. */
export function secretNames(attributes: Attributes): readonly Problem[] {
  return ['name', 'repository', 'digest']
    .filter((name) => attributes[name] instanceof Sensitive)
    .map((name) => ({
      severity: 'error',
      code: 'NAME_IS_SECRET',
      summary: 'Secret as a name',
      detail: `A ${name} is shown in plans, in the state and by the engine, so it cannot come from a secret.`,
      path: [name],
    }));
}

/** Refuses labels that would look like our own. */
export function reservedLabels(labels: Value | undefined): readonly Problem[] {
  const map = textMap(labels);
  if (!isAttributes(map)) return [];
  return Object.keys(map)
    .filter((name) => name.startsWith(LABEL_PREFIX))
    .map((name) => ({
      severity: 'error',
      code: 'LABEL_RESERVED',
      summary: 'Reserved label',
      detail: `The label ${name} begins with ${LABEL_PREFIX}, which marks the objects that belong to an environment. Choose another name.`,
      path: isAttributes(labels) ? ['labels', name] : ['labels'],
    }));
}

function normalizeNetwork(attributes: Attributes, context: TypeContext): Attributes {
  return compact({
    name: attributes['name'] ?? defaultName(context),
    driver: attributes['driver'] ?? 'bridge',
    driver_opts: textMap(attributes['driver_opts']),
    internal: onlyTrue(attributes['internal']),
    attachable: onlyTrue(attributes['attachable']),
    ipv6: onlyTrue(attributes['ipv6']),
    ipam: liftOptional(attributes['ipam'], (ipam) =>
      isAttributes(ipam)
        ? compact({
            driver: ipam['driver'] === 'default' ? undefined : ipam['driver'],
            config: liftOptional(ipam['config'], (pools) => (isList(pools) ? sortedBy(pools.map(normalizePool), poolKey) : pools)),
          })
        : ipam,
    ),
    labels: textMap(attributes['labels']),
  });
}

function normalizePool(pool: Value): Value {
  return lift(pool, (inner) =>
    isAttributes(inner)
      ? compact({
          subnet: respell(inner['subnet'], canonicalSubnet),
          gateway: respell(inner['gateway'], canonicalIp),
          ip_range: respell(inner['ip_range'], canonicalSubnet),
          aux_addresses: liftOptional(inner['aux_addresses'], (map) =>
            isAttributes(map) ? Object.fromEntries(Object.entries(map).map(([name, ip]) => [name, respell(ip, canonicalIp) ?? ''])) : map,
          ),
        })
      : inner,
  );
}

function respell(value: Value | undefined, spell: (text: string) => string): Value | undefined {
  return liftOptional(value, (inner) => (typeof inner === 'string' ? spell(inner) : inner));
}

function poolKey(pool: Value): string | undefined {
  return isAttributes(pool) ? bareText(pool['subnet']) : undefined;
}

/** A switch whose default is off: absent in the normal form unless it is on or not known yet. */
export function onlyTrue(value: Value | undefined): Value | undefined {
  return value === false || value === null ? undefined : value;
}

/** The normal form of a network that is there. What the engine may have chosen by itself stands in `_defaults`. */
export function liveNetwork(network: NetworkReply): Attributes {
  const pools = (network.IPAM?.Config ?? []).map((pool) =>
    compact({
      subnet: pool.Subnet === '' ? undefined : canonicalSubnet(pool.Subnet),
      gateway: pool.Gateway === '' ? undefined : canonicalIp(pool.Gateway.split('/')[0] ?? ''),
      ip_range: pool.IPRange === '' ? undefined : canonicalSubnet(pool.IPRange),
      aux_addresses: Object.fromEntries(Object.entries(pool.AuxiliaryAddresses).map(([name, ip]) => [name, canonicalIp(ip)])),
    }),
  );
  const driver = network.IPAM?.Driver;
  const { 'com.docker.network.driver.overlay.vxlanid_list': _chosen, ...told } = network.Options;
  const [options, given] = [false, true].map((isGiven) => Object.entries(told).filter(([name]) => FAMILY_OPTIONS.has(name) === isGiven));
  return compact({
    name: network.Name,
    driver: network.Driver,
    driver_opts: Object.fromEntries(options ?? []),
    internal: network.Internal || undefined,
    attachable: network.Attachable || undefined,
    ipv6: network.EnableIPv6 || undefined,
    ipam: compact({ driver: driver === 'default' || driver === '' ? undefined : driver }),
    labels: ownLabels(network.Labels),
    _defaults: compact({ pools: sortedBy(pools, poolKey), driver_opts: Object.fromEntries(given ?? []) }),
  });
}

/** Options that an engine with default options notes beside the switches that they stand for. */
const FAMILY_OPTIONS: ReadonlySet<string> = new Set(['com.docker.network.enable_ipv4', 'com.docker.network.enable_ipv6']);

/** Takes from what the engine has chosen only the options and pools, and of the pools only the members, that the desired form names. */
function alignNetwork(desired: Attributes, live: Attributes): Attributes {
  const { _defaults: defaults, ...own } = live;
  const attributes = withOptions(desired, own, isAttributes(defaults) ? defaults['driver_opts'] : undefined);
  const wanted = isAttributes(desired['ipam']) ? desired['ipam']['config'] : undefined;
  const pools = isAttributes(defaults) ? defaults['pools'] : undefined;
  if (!isList(wanted) || !isList(pools)) return attributes;
  const asked = (pool: Value) => wanted.find((other) => poolKey(other) !== undefined && poolKey(other) === poolKey(pool));
  const isSixth = (pool: Value) => poolKey(pool)?.includes(':') === true;
  const config = pools.flatMap((pool): readonly Value[] => {
    const other = asked(pool);
    if (!isAttributes(pool)) return [pool];
    if (isAttributes(other)) return [other['gateway'] === undefined ? without(pool, 'gateway') : pool];
    // A pool of a family of which nobody asked for any is the engine's own choice: it gives IPv4 to every network.
    return wanted.some((one) => isSixth(one) === isSixth(pool)) ? [pool] : [];
  });
  const ipam = isAttributes(attributes['ipam']) ? attributes['ipam'] : {};
  return { ...attributes, ipam: { ...ipam, config } };
}

function withOptions(desired: Attributes, own: Attributes, given: Value | undefined): Attributes {
  if (!isAttributes(given)) return own;
  const asked = new Set(memberNames(desired['driver_opts']));
  const back = Object.fromEntries(Object.entries(given).filter(([name]) => asked.has(name)));
  const present = isAttributes(own['driver_opts']) ? own['driver_opts'] : {};
  const { driver_opts: _present, ...rest } = own;
  return { ...rest, ...compact({ driver_opts: { ...present, ...back } }) };
}

function without(attributes: Attributes, name: string): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([other]) => other !== name));
}

/** Labels and options as text, for the request that makes the object. */
export function plainTexts(value: unknown): { readonly [name: string]: string } {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, String(item)]));
}
