import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import { formatAddress, type TypeName } from '../../src/core/address.ts';
import type { Attributes, Value } from '../../src/core/value.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import { dockerProvider } from '../../src/providers/docker/provider.ts';
import { accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';
import { FULL_IMAGE, INHERITED, SAID, type Spelled, spelled } from './docker-spellings.ts';

/** Attributes in several spellings on one resource; the resource is made with the first of each. */
interface Case {
  readonly type: 'docker.container' | 'docker.network' | 'docker.volume';
  readonly name: string;
  readonly rows: readonly Spelled[];
}

/** The id of the network `given`, known once it is there. */
const ID = 'f'.repeat(64);

const JOINED: readonly Spelled[] = [
  [
    'networks',
    [
      { given: { aliases: ['b', 'a'] }, other: null },
      { other: {}, given: { aliases: ['a', 'b'] } },
      ['other', { name: 'given', aliases: ['a', 'b', 'joined'] }],
      [{ name: 'given', aliases: ['b', 'a'] }, 'other'],
    ],
  ],
];

const BY_ID: readonly Spelled[] = [['networks', [['given', 'other'], [ID, 'other'], { other: null, [ID]: null }]]];

const NETWORK: readonly Spelled[] = [
  ['driver', ['bridge', undefined]],
  ['driver_opts', [{ 'com.docker.network.bridge.enable_icc': true }, { 'com.docker.network.bridge.enable_icc': 'true' }]],
  ['internal', [undefined, false]],
  ['attachable', [undefined, false]],
  ['ipv6', [true]],
  [
    'ipam',
    [
      { driver: 'default', config: [{ subnet: '2001:DB8:0:2::/64', gateway: '2001:db8:0:2:0::9' }] },
      { config: [{ subnet: '2001:db8:0:2::/64', gateway: '2001:DB8:0:2::9' }] },
      { config: [{ subnet: '2001:db8:0:2::/64', gateway: '2001:db8:0:2::9', aux_addresses: {} }] },
    ],
  ],
  ['labels', [{ team: 'a', size: 3 }, ['size=3', 'team=a'], { size: '3', team: 'a' }]],
];

const VOLUME: readonly Spelled[] = [
  ['driver', ['local', undefined]],
  ['driver_opts', [{ type: 'tmpfs', device: 'tmpfs', o: 'size=1m' }]],
  ['labels', [['team=a', 'on=true'], { on: true, team: 'a' }, { team: 'a', on: 'true' }]],
];

const CASES: readonly Case[] = [
  { type: 'docker.container', name: 'said', rows: SAID },
  { type: 'docker.container', name: 'inherited', rows: INHERITED },
  { type: 'docker.container', name: 'joined', rows: JOINED },
  { type: 'docker.container', name: 'by-id', rows: BY_ID },
  { type: 'docker.network', name: 'net', rows: NETWORK },
  { type: 'docker.volume', name: 'data', rows: VOLUME },
];

/** How many rounds show every spelling of every row: each round writes all documents with the next spelling of each. */
const ROUNDS = Math.max(...CASES.flatMap(({ rows }) => rows.map(([, spellings]) => spellings.length)));

let bench: Bench;
let image: string;
let port: number;
let network: string;
let workspace: Workspace;
const plans: PlanDocument[] = [];

beforeAll(async () => {
  // What the engine's own configuration says of logs is no difference either.
  bench = await Bench.start(['--log-opt', 'max-size=7m']);
  workspace = new Workspace();
  port = await freePort();
  image = (await buildImage(bench.engine.host, FULL_IMAGE)).id;
  await bench.hand('POST', '/volumes/create', { Name: 'given' });
  await bench.hand('POST', '/networks/create', { Name: 'other' });
  network = ((await bench.hand('POST', '/networks/create', { Name: 'given' })) as { readonly Id: string }).Id;
  write(0);
  await accedeOk(['apply', '--auto-approve', workspace.folder]);
  for (let round = 0; round < ROUNDS; round++) {
    write(round);
    plans.push(JSON.parse((await accedeOk(['plan', '--json', workspace.folder])).stdout) as PlanDocument);
  }
}, 600_000);

afterAll(async () => {
  workspace?.remove();
  await bench?.stop();
});

/** The spelling of a round; a row with fewer of them begins again. */
const at =
  (round: number) =>
  ([, spellings]: Spelled) =>
    spellings[round % spellings.length];

function attributesOf({ type, rows }: Case, pick: (row: Spelled) => Value | undefined): Attributes {
  const base = type === 'docker.container' ? { image, ready: { command: ['true'], interval: '100ms', timeout: '2m' } } : {};
  const text = JSON.stringify({ ...base, ...spelled(rows, port, pick) });
  return JSON.parse(text.replaceAll(ID, network)) as Attributes;
}

function write(round: number): void {
  const resources: Record<string, Record<string, Attributes>> = {};
  for (const one of CASES) resources[one.type] = { ...resources[one.type], [one.name]: attributesOf(one, at(round)) };
  const head = { apiVersion: 'accede/v1', kind: 'Environment', metadata: { name: 'spelling' } };
  workspace.write('environment.yaml', JSON.stringify({ ...head, providers: { docker: { host: bench.engine.host } }, resources }, null, 1));
}

/** The attributes of a resource that a plan says something of, and what it does there. */
function said(plan: PlanDocument | undefined, { type, name }: Case): { readonly action: string; readonly attributes: readonly string[] } {
  const change = plan?.changes.find(({ address }) => address === `${type}.${name}`);
  if (change === undefined) throw new Error(`the plan does not know ${type}.${name}`);
  return { action: change.action, attributes: change.paths.map(({ path }) => path.split(/[.[]/)[0] ?? '') };
}

const SPELLINGS = CASES.flatMap((one) =>
  one.rows.flatMap((row) =>
    row[1].map((spelling, round) => [`${one.name}: ${row[0]}: ${JSON.stringify(spelling)}`, one, row, round] as const),
  ),
);

/**
 * Whether a spelling names less or more than the first one does, of what image or engine give anyway: then the plan takes the record to
 * what the document says. Told by the normal forms; every other spelling has to be nothing at all.
 */
function namesOther({ type, name }: Case, [attribute, [first]]: Spelled, spelling: Value | undefined): boolean {
  const known = dockerProvider.types.find((one) => one.type === type);
  const context = { environment: 'spelling', address: formatAddress({ type: type as TypeName, name }), name, folder: '/', config: {} };
  const form = (value: Value | undefined) => known?.normalize(value === undefined ? {} : { [attribute]: value }, context)[attribute];
  return !isDeepStrictEqual(form(first), form(spelling));
}

describe('a document in another spelling', () => {
  it.each(SPELLINGS)('must change nothing: %s', (_, one, row, round) => {
    const { action, attributes } = said(plans[round], one);
    expect(['noop', 'adopt']).toContain(action);
    expect(attributes.includes(row[0])).toBe(namesOther(one, row, row[1][round]));
    expect(plans[round]?.drift).toEqual([]);
  });

  it('must touch no container when it is applied', async () => {
    const ids = async () =>
      ((await bench.hand('GET', '/containers/json?all=1')) as readonly { readonly Id: string; readonly State: string }[])
        .map(({ Id, State }) => `${Id} ${State}`)
        .toSorted();
    const before = await ids();
    write(1);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    expect(await ids()).toEqual(before);
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
  });
});
