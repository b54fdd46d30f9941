import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { type Attributes, isAttributes, isList, type Value } from '../../src/core/value.ts';
import type { Drift, PlanDocument, PlannedChange } from '../../src/plan/model.ts';
import { containerSchema } from '../../src/providers/docker/container/schema.ts';
import { accedeConfirmed, accedeOk } from '../support/binary.ts';
import { eventually } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';
import {
  attributesOf,
  CONTAINER_ROWS,
  givenObjects,
  type Images,
  imageFor,
  NAME_ROW,
  NETWORK_ROWS,
  nameOf,
  placed,
  RECORDED_ROWS,
  type Row,
  type Taken,
  VOLUME_ROWS,
} from './docker-attributes.ts';
import { Bench } from './docker-bench.ts';
import { inspectContainer, marksOf, putBackAnew, putBackInPlace, type Then, unmarked } from './docker-by-hand.ts';
import { remakeNetwork, remakeVolume } from './docker-remake.ts';
import { FULL_IMAGE } from './docker-spellings.ts';

/** One row of the matrix as a resource of the environment. */
interface Case {
  readonly type: 'docker.container' | 'docker.network' | 'docker.volume';
  readonly name: string;
  readonly address: string;
  readonly row: Row;
  /** Whether somebody can change it by hand. */
  readonly drifts: boolean;
}

const casesOf = (type: Case['type'], rows: readonly Row[], drifts: (row: Row) => boolean): readonly Case[] =>
  rows.map((row, index) => ({ type, name: nameOf(row, index), address: `${type}.${nameOf(row, index)}`, row, drifts: drifts(row) }));

/** Networks and volumes are found by their names: what somebody calls otherwise is another one. */
const isNoName = ({ attribute }: Row) => attribute !== 'name';

const isTold = ({ byHand }: Row) => byHand?.length !== 0;

const CASES: readonly Case[] = [
  ...casesOf('docker.container', [...CONTAINER_ROWS, NAME_ROW], isTold),
  ...casesOf('docker.container', RECORDED_ROWS, () => false).map((one) => ({
    ...one,
    name: `recorded-${one.name}`,
    address: `docker.container.recorded-${one.name}`,
  })),
  ...casesOf('docker.network', NETWORK_ROWS, isNoName),
  ...casesOf('docker.volume', VOLUME_ROWS, isNoName),
];
const DRIFTING = CASES.filter(({ drifts }) => drifts);

let bench: Bench;
let images: Images;
let workspace: Workspace;

/** Addresses of the rows that went through each of the stages. */
const passed = new Map<string, number>(CASES.map(({ address }) => [address, 0]));

beforeAll(async () => {
  bench = await Bench.start();
  workspace = new Workspace();
  const plain = (await buildImage(bench.engine.host, { name: 'test/plain' })).id;
  images = { plain, full: (await buildImage(bench.engine.host, FULL_IMAGE)).id };
  await givenObjects(bench, plain);
}, 60_000);

afterAll(async () => {
  const attributes = new Set(CASES.map(({ type, row }) => `${type} ${row.attribute}`)).size;
  const through = CASES.filter(({ address, drifts }) => passed.get(address) === (drifts ? 9 : 7)).length;
  process.stdout.write(`the binary: ${attributes} attributes in ${CASES.length} rows, ${through} passed\n`);
  workspace?.remove();
  await bench?.stop();
});

function baseOf({ type, row }: Case): Attributes {
  if (type === 'docker.network') return {};
  if (type === 'docker.volume') return { lifecycle: { prevent_destroy: false } };
  const ready = { command: ['true'], interval: '100ms', timeout: '2m' };
  return { image: imageFor(row, images), stop_signal: 'KILL', restart: 'unless-stopped', ready };
}

/** Files that a document names stand beside it. */
function written(value: Value | undefined): Value | undefined {
  if (!isList(value)) return value;
  return value.map((item) => {
    if (!isAttributes(item) || typeof item['text'] !== 'string') return item;
    workspace.write(String(item['path']), item['text']);
    return item['path'] ?? null;
  });
}

/** Writes the documents in which each row has the value that is picked. */
function write(pick: (row: Row) => Value | undefined): void {
  const resources: Record<string, Record<string, Attributes>> = {};
  for (const one of CASES) {
    const attributes = attributesOf(one.row, written(pick(one.row)), baseOf(one), bench);
    resources[one.type] = { ...resources[one.type], [one.name]: attributes };
  }
  const head = { apiVersion: 'accede/v1', kind: 'Environment', metadata: { name: 'matrix' } };
  workspace.write('environment.yaml', JSON.stringify({ ...head, providers: { docker: { host: bench.engine.host } }, resources }, null, 1));
}

const apply = () => accedeConfirmed(['apply', '--auto-approve', workspace.folder]);

/** A plan, whose exit code says whether something is to change. */
async function plan(code: 0 | 2): Promise<PlanDocument> {
  const { stdout } = await accedeOk(['plan', '--json', '--detailed-exitcode', workspace.folder], { code });
  return JSON.parse(stdout) as PlanDocument;
}

function changeIn(document: PlanDocument, { address }: Case): PlannedChange {
  const change = document.changes.find((one) => one.address === address);
  if (change === undefined) throw new Error(`the plan does not know ${address}`);
  return change;
}

/** What a plan says of one row, in terms of the matrix. */
function said(document: PlanDocument, one: Case): { readonly action: string; readonly paths: readonly string[] } {
  const { action, paths } = changeIn(document, one);
  return { action, paths: paths.map(({ path }) => path) };
}

const pathsOf = ({ row }: Case) => placed(row.paths, bench);

const drifted = (one: Case) => one.row.byHand ?? pathsOf(one);
const driftIn = (document: PlanDocument, { address }: Case): Drift | undefined => document.drift.find((one) => one.address === address);

function pass({ address }: Case): void {
  passed.set(address, (passed.get(address) ?? 0) + 1);
}

const NOTHING = { action: 'noop', paths: [] };
const title = (cases: readonly Case[]) => cases.map((one) => [one.address, one] as const);

/** How a plan shows that an attribute was taken away. */
function taken({ row }: Case, { by, paths }: Taken): { readonly action: string; readonly paths: readonly string[] } {
  const action = { change: row.change, record: 'adopt', nothing: 'noop' } as const;
  return { action: action[by], paths };
}

/** Checks that a plan has no change for any row. */
function mustBeNothing(of: () => PlanDocument): void {
  it.each(title(CASES))('must be no change: %s', (_, one) => {
    expect(said(of(), one)).toEqual(NOTHING);
    expect(driftIn(of(), one)).toBeUndefined();
    pass(one);
  });
}

it('must have every attribute of docker.container in a row, or a reason', () => {
  // A privileged container cannot be started everywhere, a GPU and a second platform are nowhere here: their tests go as far as the engine lets.
  const elsewhere = ['gpus', 'image', 'platform', 'privileged'];
  const names = new Set([...CONTAINER_ROWS, NAME_ROW, ...RECORDED_ROWS].map(({ attribute }) => attribute));
  expect(Object.keys(containerSchema.shape).filter((name) => !names.has(name) && !elsewhere.includes(name))).toEqual([]);
});

/** The containers as they were with the first values. */
const first = new Map<string, Then>();
let objects: ReadonlyMap<string, { readonly [name: string]: unknown }>;

const nameOnEngine = ({ name, row }: Case, value: Value | undefined) =>
  row.attribute === 'name' && value !== undefined ? String(value) : `matrix-${name}`;

/** Networks and volumes as the engine tells them, by address. */
async function infrastructure(): Promise<ReadonlyMap<string, { readonly [name: string]: unknown }>> {
  const found = CASES.filter(({ type }) => type !== 'docker.container').map(async (one) => {
    const path = `/${one.type === 'docker.network' ? 'networks' : 'volumes'}/${nameOnEngine(one, one.row.value)}`;
    return [one.address, (await bench.hand('GET', path)) as { readonly [name: string]: unknown }] as const;
  });
  return new Map(await Promise.all(found));
}

describe('set', () => {
  let document: PlanDocument;
  let again: PlanDocument;
  let without: PlanDocument;

  beforeAll(async () => {
    write(({ value }) => value);
    await apply();
    document = await plan(0);
    for (const one of CASES.filter(({ type }) => type === 'docker.container')) {
      first.set(one.address, await inspectContainer(bench, nameOnEngine(one, one.row.value)));
    }
    objects = await infrastructure();
    await bench.engine.restart();
    await eventually('every container runs again', async () => {
      const list = (await bench.hand('GET', '/containers/json?all=1')) as readonly {
        readonly State: string;
        readonly Names: readonly string[];
      }[];
      return list.every(({ State }) => State === 'running');
    });
    again = await plan(0);
    write(() => undefined);
    without = await plan(2);
  }, 900_000);

  mustBeNothing(() => document);
  describe('and the engine restarted', () => mustBeNothing(() => again));
  it.each(title(CASES))('must be missed as soon as it is taken away: %s', (_, one) => {
    expect(said(without, one)).toEqual(taken(one, one.row.goneFirst));
    pass(one);
  });
});

describe('changed', () => {
  let document: PlanDocument;
  let after: PlanDocument;

  beforeAll(async () => {
    write(({ other }) => other);
    document = await plan(2);
    await apply();
    after = await plan(0);
  }, 900_000);

  it.each(title(CASES))('must be planned as it is, and nothing else: %s', (_, one) => {
    expect(said(document, one)).toEqual({ action: one.row.change, paths: pathsOf(one) });
    expect(changeIn(document, one).paths.every(({ cause }) => cause === 'change')).toBe(true);
    expect(driftIn(document, one)).toBeUndefined();
    pass(one);
  });
  mustBeNothing(() => after);
});

describe('changed by hand', () => {
  let document: PlanDocument;
  let after: PlanDocument;

  async function byHand(one: Case): Promise<void> {
    const name = nameOnEngine(one, one.row.other);
    if (one.type === 'docker.container') {
      const then = first.get(one.address);
      if (then === undefined) throw new Error(`${one.address} was not there`);
      await (one.row.change === 'update' ? putBackInPlace : putBackAnew)(bench, name, then);
      return;
    }
    const { Labels, Options, Internal, Attachable, EnableIPv6, IPAM } = objects.get(one.address) ?? {};
    const now = (await bench.hand('GET', `/${one.type === 'docker.network' ? 'networks' : 'volumes'}/${name}`)) as {
      readonly Labels: object;
    };
    const labels = { ...unmarked(Labels), ...marksOf(now.Labels) };
    if (one.type === 'docker.volume') {
      await remakeVolume(bench, name, { DriverOpts: Options ?? {}, Labels: labels });
      return;
    }
    // The pool that the engine chose then may be another network's by now.
    const pools = one.row.attribute === 'ipam' ? { IPAM } : {};
    await remakeNetwork(bench, name, { Options, Internal, Attachable, EnableIPv6, ...pools, Labels: labels });
  }

  beforeAll(async () => {
    await Promise.all(DRIFTING.map(byHand));
    document = await plan(2);
    await apply();
    after = await plan(0);
  }, 900_000);

  it.each(title(DRIFTING))('must be seen as drift with its path, and put back: %s', (_, one) => {
    expect(said(document, one)).toEqual({ action: one.row.change, paths: drifted(one) });
    expect(changeIn(document, one).paths.every(({ cause }) => cause === 'drift')).toBe(true);
    expect(driftIn(document, one)).toMatchObject({ kind: 'changed' });
    expect(driftIn(document, one)?.paths.map(({ path }) => path)).toEqual(drifted(one));
    pass(one);
  });
  it.each(title(CASES))('must be no change afterwards: %s', (_, one) => {
    expect(said(after, one)).toEqual(NOTHING);
    if (one.drifts) pass(one);
  });
});

describe('taken away', () => {
  let document: PlanDocument;
  let after: PlanDocument;

  beforeAll(async () => {
    write(() => undefined);
    document = await plan(2);
    await apply();
    after = await plan(0);
  }, 900_000);

  it.each(title(CASES))('must be planned as it is, and nothing else: %s', (_, one) => {
    expect(said(document, one)).toEqual(taken(one, one.row.gone));
    pass(one);
  });
  mustBeNothing(() => after);
});
