import { expect } from 'vitest';
import type { Lane, Passage } from './lane.ts';

/** Which passages of a lane are tried: each `step`-th, from the `offset`-th on. */
export interface Share {
  readonly step: number;
  readonly offset: number;
}

/** Kills a lane at every passage of its change, one after another, and then in its recovery, at a passage that follows from the first. */
export async function killEverywhere(lane: Lane, { step, offset }: Share, parity: 0 | 1): Promise<readonly Passage[]> {
  await lane.begin();
  const there = await lane.passages();
  const back = await lane.passages();
  // Both directions pass the same, so that one list of places does for both.
  expect(back.length).toBe(there.length);
  let trial = parity;
  for (let at = 1 + offset; at <= there.length; at += step) {
    await lane.kill(at, ((at * 7) % Math.ceil(there.length / 2)) + 1, trial++ % 2 === 0 ? 'forward' : 'back');
  }
  return there;
}

/** The table that is printed: what was killed, how often, and how it ended. */
export function table(rows: readonly (readonly [string, number, Lane])[]): string {
  const head = ['lane', 'points', 'killed', 'killed again', 'to desired', 'to preimage', 'survived'];
  const body = rows.map(([name, points, { trials }]) => {
    const count = (holds: (trial: Lane['trials'][number]) => boolean) => String(trials.filter(holds).length);
    return [
      name,
      String(points),
      String(trials.length),
      count(({ again }) => again !== undefined),
      count(({ ended }) => ended === 'desired'),
      count(({ ended }) => ended === 'preimage'),
      String(trials.length),
    ];
  });
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((cells) => cells[column]?.length ?? 0)));
  return [head, ...body].map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}
