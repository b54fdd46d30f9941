import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { accede, accedeOk } from '../support/binary.ts';

/** How many in all; `ACCEDE_KILLS` asks for more. */
const KILLS = Number(process.env['ACCEDE_KILLS'] ?? '200');
const LANES = 2;
const FILES = 200;
const VALUES = 100;

/** A small generator with a seed, so that a failing sequence can be run again. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What the documents of one round want: content by file name, and input by value name. */
interface Wanted {
  readonly files: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
}

function nextWanted(random: () => number, round: number): Wanted {
  const pick = (prefix: string, count: number) =>
    new Map(
      Array.from({ length: count }, (_, index) => `${prefix}${index}`)
        .filter(() => random() < 0.9)
        .map((name) => [name, random() < 0.5 ? 'steady' : `round ${round}`]),
    );
  return { files: pick('f', FILES), values: pick('v', VALUES) };
}

function writeDocuments(folder: string, wanted: Wanted): void {
  const map = (entries: ReadonlyMap<string, string>) => JSON.stringify(Object.fromEntries(entries));
  writeFileSync(
    path.join(folder, 'environment.yaml'),
    `apiVersion: accede/v1
kind: Environment
metadata: { name: kill }
locals:
  files: ${map(wanted.files)}
  values: ${map(wanted.values)}
resources:
  local.value:
    v:
      for_each: \${locals.values}
      input: \${each.value}
  local.file:
    f:
      for_each: \${locals.files}
      path: out/\${each.key}
      content: \${each.value}
`,
  );
}

function world(folder: string): Record<string, string> {
  const out = path.join(folder, 'out');
  return Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(path.join(out, name), 'utf8')]));
}

function wantedAddresses(wanted: Wanted): readonly string[] {
  return [
    ...[...wanted.files.keys()].map((key) => `local.file.f["${key}"]`),
    ...[...wanted.values.keys()].map((key) => `local.value.v["${key}"]`),
  ].sort();
}

async function recordedAddresses(folder: string): Promise<readonly string[]> {
  const { stdout } = await accedeOk(['state', 'list', '--json', folder]);
  const { resources } = JSON.parse(stdout) as { readonly resources: readonly { readonly address: string }[] };
  return resources.map(({ address }) => address).sort();
}

async function expectSettled(folder: string, wanted: Wanted): Promise<void> {
  expect(world(folder)).toEqual(Object.fromEntries(wanted.files));
  expect(await recordedAddresses(folder)).toEqual(wantedAddresses(wanted));
}

/** Applies of ever new documents, killed at a random moment each; every fourth is let through to its end. */
async function lane(seed: number, kills: number): Promise<{ readonly killed: number; readonly settled: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'accede-kill-'));
  mkdirSync(path.join(folder, 'out'));
  const random = randomness(seed);
  let killed = 0;
  let settled = 0;
  let duration = 1500;
  for (let round = 1; killed < kills; round++) {
    const wanted = nextWanted(random, round);
    writeDocuments(folder, wanted);
    const delay = random() * duration;
    const begun = performance.now();
    const ran = await accede(['apply', '--auto-approve', folder], {
      started: (child) => {
        setTimeout(() => child.kill('SIGKILL'), delay);
      },
    });
    if (ran.signal === 'SIGKILL') killed += 1;
    else {
      // It was quicker than the kill: the next one comes sooner.
      expect(ran.code, ran.stderr).toBe(0);
      duration = performance.now() - begun;
    }
    const plan = await accede(['plan', '--detailed-exitcode', folder]);
    expect([0, 2], plan.stdout + plan.stderr).toContain(plan.code);
    // No false "No changes.": what the plan calls settled is settled.
    if (plan.code === 0) await expectSettled(folder, wanted);
    if (round % 4 === 0) {
      await accedeOk(['apply', '--auto-approve', folder]);
      await expectSettled(folder, wanted);
      await accedeOk(['plan', '--detailed-exitcode', folder]);
      settled += 1;
    }
  }
  await accedeOk(['destroy', '--auto-approve', folder]);
  expect(world(folder)).toEqual({});
  expect(await recordedAddresses(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  return { killed, settled };
}

/** For a longer run than the everyday one. */
const LIMIT = Math.max(900_000, KILLS * 10_000);

describe('kill -9 at any moment of an apply of 300 resources', () => {
  it('must lose nothing, double nothing, claim nothing false, and be ended by the next apply', { timeout: LIMIT }, async () => {
    const results = await Promise.all(Array.from({ length: LANES }, (_, index) => lane(4711 + index, KILLS / LANES)));
    process.stdout.write(
      `\nkilled ${results.reduce((sum, lane) => sum + lane.killed, 0)}, settled ${results.reduce((sum, lane) => sum + lane.settled, 0)}; 0 lost, 0 doubled, 0 false 'no changes'\n`,
    );
    expect(results.reduce((sum, { killed }) => sum + killed, 0)).toBeGreaterThanOrEqual(KILLS);
  });
});
