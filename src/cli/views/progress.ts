import type { AccedeEvent } from '../../apply/events.ts';
import { count, cut, duration, oneLine, pad, printable } from './layout.ts';
import type { Style } from './terminal.ts';

/** Lines of what a failed object said last. */
export const LOG_TAIL = 20;

/** One event as plain lines; none for events that only a live view needs. */
export function progressLines(event: AccedeEvent, style: Style): readonly string[] {
  const { color } = style;
  switch (event.type) {
    case 'operation.started':
      return [color.dim(`${event.operation ?? 'operation'}: ${count(event.steps, 'step')}, class ${oneLine(event.class)}`)];
    case 'lock.waiting':
      return [`Waiting for the lock: ${oneLine(event.holder)} holds it since ${event.since} for ${oneLine(event.purpose)}.`];
    case 'lock.acquired':
      return event.tookOver === null ? [] : [color.yellow(`Took over the lock of ${oneLine(event.tookOver)}, whose process is gone.`)];
    case 'guard.checked':
      return event.ok ? [] : [color.red(`Guard ${oneLine(event.name)} does not hold any more.`)];
    case 'step.done':
      return [`${color.green('✓')} ${stepName(event)}  ${color.dim([duration(event.seconds), ...figures(event.figures)].join(', '))}`];
    case 'step.failed':
      return [
        `${color.red('✗')} ${stepName(event)}  ${color.red(`failed after ${duration(event.seconds)}`)}`,
        `    ${cut(oneLine(event.diagnostic.detail), style.width - 4)}`,
        ...event.lines.slice(-LOG_TAIL).map((line) => `    ${color.dim('│')} ${printable(line)}`),
      ];
    case 'step.unknown':
      return [
        `${color.yellow('?')} ${stepName(event)}  ${color.yellow('outcome unknown')}`,
        `    ${cut(oneLine(event.diagnostic.detail), style.width - 4)}`,
      ];
    case 'step.skipped':
      return [`${color.dim('-')} ${stepName(event)}  ${color.dim(`skipped, since it follows ${oneLine(event.because)}`)}`];
    case 'compensation.started':
      return [color.yellow('Taking back what was done:')];
    case 'step.compensated':
      // A wait or a fetch that had nothing to take back would only hide what was.
      if (!event.changed) return [];
      return [`${color.yellow('↶')} ${stepName(event)}  ${color.dim(`taken back, ${duration(event.seconds)}`)}`];
    case 'run.started':
      return event.continues === null ? [] : [color.yellow(`${event.continues} broke off: its run is taken to its end.`)];
    case 'run.done':
    case 'run.failed':
    case 'step.intended':
    case 'step.progress':
    case 'stage.started':
    case 'stage.done':
    case 'operation.done':
    case 'operation.failed':
      return [];
  }
  return event satisfies never;
}

export function stepName(step: { readonly address: string; readonly effect: string }): string {
  return `${pad(oneLine(step.address), 40)} ${pad(oneLine(step.effect), 9)}`;
}

/** `1.5 MB`, `tries 3`. How long it took stands beside them already. */
export function figures(values: { readonly [name: string]: number }): readonly string[] {
  return Object.entries(values)
    .filter(([name]) => name !== 'milliseconds' && name !== 'seconds')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) =>
      /bytes$/i.test(name) ? `${bytes(value)}${name === 'bytes' ? '' : ` ${name.replace(/bytes$/i, '')}`}` : `${oneLine(name)} ${value}`,
    );
}

function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let amount = value;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
