import { expect, it } from 'vitest';
import { Interrupts } from '../../../src/cli/interrupts.ts';
import { withDeadline } from '../../../src/core/deadline.ts';

it('must let many runs wait on the interrupt of one command without a warning of the runtime on the terminal', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.name);
  process.on('warning', note);
  try {
    const interrupts = new Interrupts({ say: () => undefined, leave: () => undefined });
    for (const outer of [interrupts.reads, interrupts.stop]) {
      let begun = 0;
      let open: () => void = () => undefined;
      const all = new Promise<void>((resolve) => {
        open = resolve;
      });
      const runs = Array.from({ length: 40 }, () =>
        withDeadline(outer, 60_000, async ({ signal }) => {
          // A run hands its own signal on to many as well.
          for (let i = 0; i < 40; i += 1) signal.addEventListener('abort', () => undefined);
          begun += 1;
          if (begun === 40) open();
          await all;
        }),
      );
      await Promise.all(runs);
    }
    // Node emits its warnings on the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', note);
  }
  expect(warnings).toEqual([]);
});
