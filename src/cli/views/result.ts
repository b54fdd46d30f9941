import type { ApplyResult } from '../../apply/events.ts';
import type { Plain } from '../../core/value.ts';
import { EXIT } from '../exit.ts';
import { count, duration, oneLine } from './layout.ts';
import type { Style } from './terminal.ts';
import { renderValue } from './values.ts';

const MOST_STEPS = 40;

/**
 * The account of a run for people: how it ended, what was done, what was not, what nobody knows, and the outputs. `next` is the command that goes
 * on with what is left, `back` the one that takes it back, where there is one.
 */
export function renderResult(result: ApplyResult, style: Style, next?: string, back?: string): string {
  const { color } = style;
  const { done, notDone, unknown } = result.steps;
  const total = done.length + notDone.length + unknown.length;
  const state = result.serial === null ? '' : ` State #${result.serial}.`;
  const tally = `${done.length} done, ${notDone.length} not done, ${unknown.length} unknown of ${count(total, 'step')}`;
  const lines: string[] = [];
  switch (result.outcome) {
    case 'done':
      lines.push(color.green(`Done: ${count(done.length, 'step')} in ${duration(result.seconds)}.${state}`));
      break;
    case 'failed':
      lines.push(
        color.red(
          nothingBegun(result)
            ? `Failed after ${duration(result.seconds)}, before anything was changed: the environment is as before.${state}`
            : `Failed after ${duration(result.seconds)}: ${tally}.${state}`,
        ),
      );
      break;
    case 'compensated':
      lines.push(
        color.red(
          `Failed after ${duration(result.seconds)}, and everything that was done is taken back: the environment is as before.${state}`,
        ),
        ...(done.length === 0 ? [] : [`What these steps did stays: ${done.map(oneLine).join(', ')}`]),
      );
      break;
    case 'interrupted':
      lines.push(color.yellow(`Interrupted after ${duration(result.seconds)}: ${tally}.${state}`));
      break;
    case 'stale':
      lines.push(color.red('The plan is stale. Nothing was changed.'));
      break;
    case 'refused':
      lines.push(color.red('Refused. Nothing was changed.'));
      break;
    case 'busy':
      lines.push(color.yellow('The lock is busy. Nothing was changed.'));
      break;
    case 'spent': {
      const [recorded] = result.diagnostics;
      const said = recorded === undefined ? '' : ` ${oneLine(recorded.detail)}`;
      lines.push(
        result.exitCode === 0
          ? color.green(`This plan was applied before, and finished.${said}`)
          : color.red('This plan is spent. Nothing was changed.'),
      );
      break;
    }
    default:
      result.outcome satisfies never;
  }
  const isOpen = (result.outcome === 'failed' || result.outcome === 'interrupted') && !nothingBegun(result);
  if (isOpen) {
    lines.push(...stepLines('not done', notDone), ...stepLines('unknown', unknown));
  }
  if (next !== undefined && isOpen) {
    lines.push('', 'Go on with:', '', `    ${color.cyan(oneLine(next))}`);
    if (back !== undefined) lines.push('', 'Or take back what was done with:', '', `    ${color.cyan(oneLine(back))}`);
  }
  if (result.outcome === 'compensated' || (result.outcome === 'failed' && nothingBegun(result)))
    lines.push('Correct what the error says, then plan and apply again.');
  const outputs = Object.entries(result.outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  if (result.outcome === 'done' && outputs.length > 0) {
    lines.push('', color.bold('Outputs'));
    for (const [name, value] of outputs) lines.push(`  ${oneLine(name)} = ${renderValue(value as Plain)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** A run that failed without having done anything, and knows it. */
function nothingBegun({ outcome, exitCode, steps }: ApplyResult): boolean {
  return outcome === 'failed' && exitCode === EXIT.restored && steps.done.length === 0 && steps.unknown.length === 0;
}

function stepLines(word: string, steps: readonly string[]): readonly string[] {
  const lines = steps.slice(0, MOST_STEPS).map((step) => `  ${word.padEnd(9)} ${oneLine(step)}`);
  return steps.length > MOST_STEPS ? [...lines, `  … ${count(steps.length - MOST_STEPS, 'more step')} ${word}`] : lines;
}
