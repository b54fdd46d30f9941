import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { dockerProvider } from '../../../src/providers/docker/provider.ts';
import { fakeProvider } from '../../../src/providers/fake/provider.ts';
import { fileWorld } from '../../../src/providers/fake/world-file.ts';
import { localProvider } from '../../../src/providers/local/provider.ts';
import { createRegistry } from '../../../src/providers/registry.ts';
import { accede, PROGRAM_WITH_FAKE, type Ran } from '../../support/binary.ts';
import type { Workspace } from '../../support/workspace.ts';
import { planInside } from './inside.ts';
import { inWords, otherTurn, type Scene, type Thing, type Turn } from './scene.ts';

/** A boundary as a run passed it. */
export interface Passage {
  readonly boundary: string;
  readonly moment: string;
  readonly about: string;
}

/** How a trial is ended. */
export type Ending = 'forward' | 'back';

export interface LaneOptions {
  readonly environment: string;
  readonly workspace: Workspace;
  readonly scene: Scene;
  /** What stands in the documents before the resources. */
  readonly head: string;
  readonly fakeWorld: string;
}

/** Where a trial was killed, and how it came out. */
export interface Trial {
  readonly killed: Passage;
  readonly again: Passage | undefined;
  readonly ended: 'desired' | 'preimage';
}

/** One environment that is changed to and fro, and killed in between. */
export class Lane {
  readonly trials: Trial[] = [];
  readonly #options: LaneOptions;
  readonly #trace: string;
  #turn: Turn = 0;
  #round = 1;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#trace = options.workspace.path('trace');
    mkdirSync(options.workspace.path('out'), { recursive: true });
  }

  /** Makes the first turn. */
  async begin(): Promise<void> {
    this.#write(0, this.#round);
    await this.#ok(['apply', '--auto-approve'], 0);
    expect(await this.#words()).toEqual(this.#options.scene.wanted(0, this.#round));
  }

  /** Applies the other turn undisturbed, and answers what it passed. */
  async passages(): Promise<readonly Passage[]> {
    this.#next();
    await this.#ok(['apply', '--auto-approve', '--parallelism', '1'], 0, `trace=${this.#trace}`);
    this.#turn = otherTurn(this.#turn);
    return this.#traced();
  }

  /**
   * Kills the change to the other turn at its `at`-th passage, then what is to end it at its `then`-th, and lets it end. Afterwards the world is
   * what was desired, or what was before, and nothing was done twice.
   */
  async kill(at: number, then: number, ending: Ending): Promise<void> {
    const { scene, environment } = this.#options;
    const before = await scene.look();
    this.#next();
    const first = await this.#run(['apply', '--auto-approve', '--parallelism', '1'], `any:${at}=kill,trace=${this.#trace}`);
    const label = `${environment}: passage ${at}, then ${then}, ${ending}`;
    expect(first.signal, `${label}\n${first.stdout}${first.stderr}`).toBe('SIGKILL');
    const killed = this.#traced().at(-1);
    if (killed === undefined) throw new Error(`${label}: nothing was passed`);
    const words = ending === 'forward' ? ['apply', '--auto-approve'] : ['recover', '--back', '--auto-approve'];
    const second = await this.#run([...words, '--parallelism', '1'], `any:${then}=kill,trace=${this.#trace}`);
    const where = `${label}: ${killed.boundary} ${killed.moment} ${killed.about}`;
    let last = second;
    if (second.signal === 'SIGKILL') last = await this.#run(words);
    // Past the point of no return there is the other way alone.
    if (last.code === 3 && ending === 'back') last = await this.#run(['apply', '--auto-approve']);
    expect(last.code, `${where}\n${last.stdout}${last.stderr}`).toBe(0);
    const plan = await this.#plan();
    expect([0, 2], `${where}\n${plan.stdout}${plan.stderr}`).toContain(plan.code);
    const isDone = plan.code === 0;
    if (ending === 'forward') expect(isDone, `${where}\n${plan.stdout}`).toBe(true);
    const doubled = await scene.doubled();
    const now = await scene.look();
    if (isDone) this.#expectDesired(where, before, now);
    else await this.#expectPreimage(where, before, now);
    expect(doubled, where).toEqual([]);
    const again = second.signal === 'SIGKILL' ? this.#lastTraced() : undefined;
    this.trials.push({ killed, again, ended: isDone ? 'desired' : 'preimage' });
  }

  /**
   * Applies the other turn while something outside of it breaks, and again until it is through. `measure` is asked when the first try has ended.
   * Afterwards the world is what was desired, and nothing was done twice.
   */
  async disturbed(where: string, measure: () => number): Promise<{ readonly code: number | null; readonly first: number }> {
    const { scene } = this.#options;
    const before = await scene.look();
    this.#next();
    const ran = await this.#run(['apply', '--auto-approve', '--parallelism', '1']);
    const first = measure();
    expect([0, 5, 6], `${where}\n${ran.stdout}${ran.stderr}`).toContain(ran.code);
    // What was taken back holds the same documents off.
    if (ran.code === 5) await this.#ok(['hold', '--lift', '--reason', 'the reply is not lost any more'], 0);
    if (ran.code !== 0) await this.#ok(['apply', '--auto-approve'], 0);
    const plan = await this.#plan();
    expect(plan.code, `${where}\n${plan.stdout}${plan.stderr}`).toBe(0);
    const doubled = await scene.doubled();
    this.#expectDesired(where, before, await scene.look());
    expect(doubled, where).toEqual([]);
    return { code: ran.code, first };
  }

  #expectDesired(where: string, before: readonly Thing[], now: readonly Thing[]): void {
    const { scene } = this.#options;
    this.#turn = otherTurn(this.#turn);
    expect(now.map(inWords).sort(), where).toEqual(scene.wanted(this.#turn, this.#round));
    expect(steadyOf(now, scene), where).toEqual(steadyOf(before, scene));
  }

  async #expectPreimage(where: string, before: readonly Thing[], now: readonly Thing[]): Promise<void> {
    const { scene } = this.#options;
    const rest = (things: readonly Thing[]) =>
      things.filter(({ name }) => name !== scene.job).map(({ name, id, shows, running }) => ({ name, id, shows, running }));
    expect(rest(now), where).toEqual(rest(before));
    expect(steadyOf(now, scene), where).toEqual(steadyOf(before, scene));
    // The work of a job stays; everything else is what the documents of before say.
    const job = now.find(({ name }) => name === scene.job);
    const ran = job?.running === false && job.since !== NEVER ? Number(/ROUND=(\d+)/.exec(job.shows)?.[1]) : this.#round - 1;
    this.#write(this.#turn, scene.job === undefined ? this.#round : ran);
    const plan = await this.#plan();
    expect(plan.code, `${where}: as before\n${plan.stdout}${plan.stderr}`).toBe(0);
  }

  #next(): void {
    this.#round += 1;
    this.#write(otherTurn(this.#turn), this.#round);
  }

  #write(turn: Turn, round: number): void {
    const { workspace, head, scene } = this.#options;
    workspace.write('environment.yaml', `${head}x-round: ${round}\nresources:\n${scene.resources(turn, round)}`);
  }

  async #words(): Promise<readonly string[]> {
    return (await this.#options.scene.look()).map(inWords).sort();
  }

  async #ok(argv: readonly string[], code: number, faults?: string): Promise<Ran> {
    const ran = await this.#run(argv, faults);
    expect(ran.code, `${argv.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(code);
    return ran;
  }

  #run(argv: readonly string[], faults?: string): Promise<Ran> {
    if (faults !== undefined) rmSync(this.#trace, { force: true });
    const { fakeWorld, workspace } = this.#options;
    const env = { ACCEDE_FAKE_WORLD: fakeWorld, ...(faults === undefined ? {} : { ACCEDE_FAILPOINT: faults }) };
    return accede([...argv, workspace.folder], { program: PROGRAM_WITH_FAKE, env });
  }

  /** In this process, since a plan changes nothing and a process of its own takes much longer. */
  async #plan(): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const { fakeWorld, workspace } = this.#options;
    const world = fileWorld(fakeWorld);
    return planInside(['plan', '--detailed-exitcode', workspace.folder], async () =>
      createRegistry([dockerProvider, fakeProvider(world), localProvider]),
    );
  }

  #traced(): readonly Passage[] {
    const lines = readFileSync(this.#trace, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => {
      const [, boundary = '', moment = '', about = ''] = line.split('\t');
      return { boundary, moment, about };
    });
  }

  #lastTraced(): Passage | undefined {
    return this.#traced().at(-1);
  }
}

const NEVER = '0001-01-01T00:00:00Z';

function steadyOf(things: readonly Thing[], { steady }: Scene): readonly string[] {
  return things.filter(({ name }) => steady.includes(name)).map(({ name, id, since }) => `${name} ${id} ${since}`);
}
