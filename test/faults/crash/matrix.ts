import { expect } from 'vitest';
import type { Lane, Passage } from './lane.ts';

/** Which passages of a lane are tried: all, or every second one, from the first or from the second on. */
export type Share = 'all' | 'odd' | 'even';

/** Kills a lane at every passage of its change, one after another, and then in its recovery, at a passage that follows from the first. */
export async function killEverywhere(lane: Lane, share: Share, parity: 0 | 1): Promise<readonly Passage[]> {
  await lane.begin();
  const there = await lane.passages();
  const back = await lane.passages();
  // Both directions pass the same, so that one list of places does for both.
  expect(back.length).toBe(there.length);
  for (let at = 1; at <= there.length; at++) {
    if (share !== 'all' && at % 2 !== (share === 'odd' ? 1 : 0)) continue;
    const turn = share === 'all' ? at : Math.ceil(at / 2);
    await lane.kill(at, ((at * 7) % Math.ceil(there.length / 2)) + 1, turn % 2 === parity ? 'forward' : 'back');
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
