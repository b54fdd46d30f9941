import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileWorld } from '../../../src/providers/fake/world-file.ts';
import type { EngineClient } from '../../support/engine-client.ts';

/** One thing of the world, as a crash must leave it. */
export interface Thing {
  readonly name: string;
  /** Another one has another id, even where everything else is equal. */
  readonly id: string;
  readonly shows: string;
  readonly running: boolean;
  /** Since when it runs; empty where nothing runs. */
  readonly since: string;
}

/** Documents that go to and fro between two turns, so that each change is a change back of the one before. */
export interface Scene {
  /** The resources of a turn; `round` is what a job is run for. */
  resources(turn: Turn, round: number): string;
  /** Name, content and whether it runs, of all that a turn wants. */
  wanted(turn: Turn, round: number): readonly string[];
  look(): Promise<readonly Thing[]>;
  /** What happened twice since `look` was called the last time, in words. */
  doubled(): Promise<readonly string[]>;
  /** Names of what keeps its id, and its time of start, whatever happens. */
  readonly steady: readonly string[];
  /** Things of a job, whose work stays although the change goes back. */
  readonly job: string | undefined;
}

export type Turn = 0 | 1;

export const otherTurn = (turn: Turn): Turn => (turn === 0 ? 1 : 0);

export interface EnginePlace {
  readonly engine: EngineClient;
  readonly image: string;
  /** A folder of this machine that jobs write into. */
  readonly shared: string;
  readonly environment: string;
  readonly fakeWorld: string;
  readonly bystander: string;
}

/** Create, update, replace, delete, a job and a two-phase change: five on an engine, the last one played by the provider `fake`. */
export function engineScene(place: EnginePlace): Scene {
  const { engine, image, shared, environment, fakeWorld, bystander } = place;
  const world = fileWorld(fakeWorld);
  let calls = 0;
  let begun = 0;
  const prefix = `${environment}-`;
  const come = (turn: Turn) => (turn === 0 ? 'go' : 'come');
  return {
    job: `${prefix}job`,
    steady: [`${prefix}steady`, `${prefix}update`, bystander],
    resources: (turn, round) => `  docker.container:
    steady: { <<: *app, environment: { TURN: "0" } }
    update: { <<: *app, environment: { TURN: "0" }, cpu_shares: ${512 + turn} }
    replace: { <<: *app, environment: { TURN: "${turn}", SIZE: "\${fake.generation.gen.size}" } }
    ${come(turn)}: { <<: *app, environment: { TURN: "0" } }
  docker.job:
    job:
      image: "${image}"
      command: [sh, -c, 'echo "$ROUND" >> /shared/${environment}']
      stop_signal: SIGKILL
      environment: { ROUND: "${round}" }
      volumes: ["${shared}:/shared"]
      inputs: { round: ${round} }
  fake.generation: { gen: { size: ${turn + 1} } }
`,
    wanted: (turn, round) =>
      [
        `${prefix}steady TURN=0 cpu=0 running`,
        `${prefix}update TURN=0 cpu=${512 + turn} running`,
        `${prefix}replace TURN=${turn} cpu=0 running`,
        `${prefix}${come(turn)} TURN=0 cpu=0 running`,
        `${prefix}job ROUND=${round} cpu=0 ended`,
        `${prefix}gen size=${turn + 1} running`,
        `${bystander}  cpu=0 running`,
      ].sort(),
    look: async () => {
      calls = world.calls().length;
      begun = Math.floor(Date.now() / 1000);
      const listed = (await engine.containers()).filter(({ name }) => name.startsWith(prefix) || name === bystander);
      const containers = await Promise.all(listed.map(async ({ id }) => inspected(await engine.call('GET', `/containers/${id}/json`))));
      return [...containers, ...fakeThings(world)].sort(byName);
    },
    doubled: async () => [
      ...doubledCalls(world.calls().slice(calls)),
      ...(await doubledEvents(engine, begun, prefix)),
      ...repeated(linesOf(join(shared, environment))).map((round) => `the job ran twice for round ${round}`),
    ],
  };
}

/** What stands before the resources of such a scene. `host` is where the engine is reached. */
export function engineHead(about: {
  readonly environment: string;
  readonly host: string;
  readonly image: string;
  readonly state?: string;
}): string {
  const { environment, host, image, state = '' } = about;
  return `apiVersion: accede/v1
kind: Environment
metadata: { name: ${environment} }
${state}providers: { docker: { host: "${host}" }, fake: {} }
x-app: &app { image: "${image}", command: [sleep, "100000"], stop_signal: SIGKILL, stop_grace_period: 1s, ready: { command: ["true"] } }
`;
}

/** The same without an engine: objects of the provider `fake` and files of this machine. */
export function hostScene(place: { readonly folder: string; readonly environment: string; readonly fakeWorld: string }): Scene {
  const { folder, environment, fakeWorld } = place;
  const world = fileWorld(fakeWorld);
  let calls = 0;
  const come = (turn: Turn) => (turn === 0 ? 'go' : 'come');
  const prefix = `${environment}-`;
  const out = join(folder, 'out');
  return {
    job: undefined,
    steady: [`${prefix}steady`, `${prefix}update`, 'steady.txt'],
    resources: (turn) => `  fake.service:
    steady: { size: 1 }
    update: { size: ${turn + 1} }
    replace: { image: "base:${turn}", needs: "\${fake.generation.gen.id}" }
    ${come(turn)}: { size: 1 }
  fake.generation: { gen: { size: ${turn + 1} } }
  local.file:
    steady: { path: out/steady.txt, content: steady }
    update: { path: out/update.txt, content: "turn ${turn}" }
    ${come(turn)}: { path: out/${come(turn)}.txt, content: here }
`,
    wanted: (turn) =>
      [
        `${prefix}steady image=base size=1 running`,
        `${prefix}update image=base size=${turn + 1} running`,
        `${prefix}replace image=base:${turn} size=1 running`,
        `${prefix}${come(turn)} image=base size=1 running`,
        `${prefix}gen size=${turn + 1} running`,
        'steady.txt steady',
        `update.txt turn ${turn}`,
        `${come(turn)}.txt here`,
      ].sort(),
    look: async () => {
      calls = world.calls().length;
      const files = existsSync(out) ? readdirSync(out) : [];
      const things = files.map((name) => ({ name, id: '', shows: readFileSync(join(out, name), 'utf8'), running: false, since: '' }));
      return [...things, ...fakeThings(world)].sort(byName);
    },
    doubled: async () => doubledCalls(world.calls().slice(calls)),
  };
}

/** A thing in the words of `wanted`. */
export function inWords({ name, shows, running, since, id }: Thing): string {
  const state = running ? ' running' : since !== '' || id.length === 64 ? ' ended' : '';
  return `${name} ${shows}${state}`;
}

type FakeWorld = ReturnType<typeof fileWorld>;

function fakeThings(world: FakeWorld): readonly Thing[] {
  return world.objects().map(({ name, ref, type, attributes, running }) => {
    const size = `size=${String(attributes['size'])}`;
    return { name, id: ref, shows: type === 'fake.generation' ? size : `image=${String(attributes['image'])} ${size}`, running, since: '' };
  });
}

/** An effect that was taken back may be done once more under its key. */
function doubledCalls(calls: ReturnType<FakeWorld['calls']>): readonly string[] {
  const done = new Map<string, number>();
  for (const { key, effect, address, result } of calls) {
    if (result !== 'done' && result !== 'lost') continue;
    const isBack = effect.startsWith('undo-');
    const name = `${address} ${effect.replace(/^undo-/, '')} ${key}`;
    done.set(name, (done.get(name) ?? 0) + (isBack ? -1 : 1));
  }
  return [...done].filter(([, count]) => count > 1).map(([name]) => `${name} was done twice`);
}

/** A container that was made in a trial is made once under its id of ours, and started once. */
async function doubledEvents(engine: EngineClient, since: number, prefix: string): Promise<readonly string[]> {
  const events = await engine.events(since);
  const own = events.filter(({ name }) => name.startsWith(prefix));
  const made = own.filter(({ action }) => action === 'create');
  const ids = new Set(made.map(({ id }) => id));
  const starts = own.filter(({ action, id }) => action === 'start' && ids.has(id)).map(({ id, name }) => `${name} ${id}`);
  return [
    ...repeated(made.map(({ mark }) => mark)).map((mark) => `the object ${mark} was made twice`),
    ...repeated(starts).map((container) => `${container} was started twice`),
  ];
}

interface Inspected {
  readonly Id: string;
  readonly Name: string;
  readonly State: { readonly Running: boolean; readonly StartedAt: string };
  readonly Config: { readonly Env: readonly string[] | null };
  readonly HostConfig: { readonly CpuShares: number };
}

function inspected(reply: unknown): Thing {
  const { Id, Name, State, Config, HostConfig } = reply as Inspected;
  const said = (Config.Env ?? []).filter((line) => line.startsWith('TURN=') || line.startsWith('ROUND='));
  return {
    name: Name.slice(1),
    id: Id,
    shows: `${said.join(' ')} cpu=${HostConfig.CpuShares}`,
    running: State.Running,
    since: State.StartedAt,
  };
}

function repeated(list: readonly string[]): readonly string[] {
  return [...new Set(list.filter((item, index) => list.indexOf(item) !== index))];
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

function byName(a: Thing, b: Thing): number {
  return a.name < b.name ? -1 : 1;
}
