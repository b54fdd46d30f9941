import type { RunResult } from '../../apply/events.ts';
import { duration, oneLine } from './layout.ts';
import type { Style } from './terminal.ts';

/** How a run came out, in a sentence or two. What it answered is not in it. */
export function renderRun(result: RunResult, style: Style): string {
  const { color } = style;
  const address = oneLine(result.address);
  const state = result.serial === null ? '' : ` State #${result.serial}.`;
  const again = `accede run '${address}'`;
  switch (result.outcome) {
    case 'done':
      return color.green(doneLine(result, address, state));
    case 'failed':
      if (result.programCode !== null) return color.red(`${address} ended with code ${result.programCode}.${state}`);
      if (result.run === 'none') return color.red(`${address} was not run.${state}`);
      return result.exitCode === 1
        ? color.red(`${address} ran, and what it left is wrong.${state}`)
        : color.yellow(`It is not known how ${address} ended. The next run or apply looks: ${again}`);
    case 'interrupted':
      return result.run === 'none'
        ? color.yellow(`Interrupted: ${address} was not run.`)
        : color.yellow(`Interrupted: ${address} itself goes on. To wait for it again: ${again}`);
    case 'refused':
      return color.red(`Refused: ${address} was not run.`);
    case 'busy':
      return color.yellow('The lock is busy. Nothing was run.');
    default:
      return result.outcome satisfies never;
  }
}

function doneLine(result: RunResult, address: string, state: string): string {
  const took = duration(result.seconds);
  switch (result.run) {
    case 'new':
      return `Done: ${address} ran in ${took}.${state}`;
    case 'continued':
      return `Done: the run of ${address} that broke off has completed.${state}`;
    case 'earlier':
      return `Done: a completed run of ${address} stands for this one; its answer is given again. --again runs it once more.${state}`;
    case 'none':
      return `Done.${state}`;
    default:
      return result.run satisfies never;
  }
}
