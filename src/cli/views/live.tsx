/** @jsxRuntime automatic */
import { Box, render, Static, Text } from 'ink';
import { useEffect, useState } from 'react';
import type { AccedeEvent } from '../../apply/events.ts';
import { duration, oneLine } from './layout.ts';
import { figures, progressLines, stepName } from './progress.ts';
import type { Style } from './terminal.ts';

/** What the live view draws, folded from the events so far. */
export interface LiveState {
  readonly stages: readonly { readonly stage: string; readonly state: 'running' | 'done' }[];
  readonly running: readonly {
    readonly step: string;
    readonly address: string;
    readonly effect: string;
    readonly since: number;
    readonly progress: string;
  }[];
  readonly finished: readonly { readonly key: number; readonly lines: readonly string[] }[];
  readonly done: number;
  readonly total: number;
}

export const LIVE_START: LiveState = { stages: [], running: [], finished: [], done: 0, total: 0 };

const MOST_RUNNING = 10;

/** Takes one event in. Pure, so that a test can fold a whole run. */
export function foldEvent(state: LiveState, event: AccedeEvent, at: number, style: Style): LiveState {
  const lines = progressLines(event, style);
  const next = lines.length === 0 ? state : { ...state, finished: [...state.finished, { key: state.finished.length, lines }] };
  switch (event.type) {
    case 'operation.started':
      return { ...next, total: event.steps };
    case 'stage.started':
      return { ...next, stages: [...next.stages.filter((entry) => entry.stage !== event.stage), { stage: event.stage, state: 'running' }] };
    case 'stage.done':
      return { ...next, stages: next.stages.map((entry) => (entry.stage === event.stage ? { ...entry, state: 'done' as const } : entry)) };
    case 'step.intended':
      return {
        ...next,
        running: [...next.running, { step: event.step, address: event.address, effect: event.effect, since: at, progress: '' }],
      };
    case 'step.progress': {
      const progress = [oneLine(event.message), ...figures(event.figures)].filter((part) => part !== '').join(', ');
      return { ...next, running: next.running.map((entry) => (entry.step === event.step ? { ...entry, progress } : entry)) };
    }
    case 'step.done':
    case 'step.failed':
    case 'step.unknown':
      return {
        ...next,
        done: next.done + (event.type === 'step.done' ? 1 : 0),
        running: next.running.filter((entry) => entry.step !== event.step),
      };
    case 'step.compensated':
      return { ...next, running: next.running.filter((entry) => entry.step !== event.step) };
    case 'compensation.started':
    case 'step.skipped':
    case 'lock.acquired':
    case 'lock.waiting':
    case 'guard.checked':
    case 'operation.done':
    case 'operation.failed':
    case 'run.started':
    case 'run.done':
    case 'run.failed':
      return next;
  }
  return event satisfies never;
}

/** The picture of a moment. */
export function LiveView(props: { readonly state: LiveState; readonly now: number; readonly width: number }) {
  const { state, now, width } = props;
  const shown = state.running.slice(0, MOST_RUNNING);
  return (
    <Box flexDirection="column" width={width}>
      <Static items={[...state.finished]}>{(item) => <Text key={item.key}>{item.lines.join('\n')}</Text>}</Static>
      {shown.map((entry) => (
        <Text key={entry.step} wrap="truncate">
          <Text color="cyan">{'› '}</Text>
          {stepName(entry)}
          <Text
            dimColor
          >{`  ${duration(Math.max(0, now - entry.since) / 1000)}${entry.progress === '' ? '' : `  ${entry.progress}`}`}</Text>
        </Text>
      ))}
      {state.running.length > shown.length ? <Text dimColor>{`  … ${state.running.length - shown.length} more running`}</Text> : null}
      <Text wrap="truncate">
        {state.stages.map((entry, index) => (
          <Text key={entry.stage} dimColor={entry.state === 'done'} bold={entry.state === 'running'}>
            {`${index === 0 ? '' : ' → '}${entry.stage}`}
          </Text>
        ))}
        {state.total === 0 ? '' : `   ${state.done} of ${state.total}`}
      </Text>
    </Box>
  );
}

/** Draws on a terminal until `end`. Events go in, nothing comes out. */
export function startLiveView(options: {
  readonly stream: NodeJS.WriteStream;
  readonly style: Style;
  readonly clock: { monotonic(): number };
}): { readonly receive: (event: AccedeEvent) => void; readonly end: () => Promise<void> } {
  let state = LIVE_START;
  let changed: (() => void) | undefined;
  const App = () => {
    const [, redraw] = useState(0);
    useEffect(() => {
      changed = () => redraw((turn) => turn + 1);
      const timer = setInterval(changed, 200);
      return () => clearInterval(timer);
    }, []);
    return <LiveView state={state} now={options.clock.monotonic()} width={options.style.width} />;
  };
  const instance = render(<App />, { stdout: options.stream, exitOnCtrlC: false, patchConsole: false });
  return {
    receive: (event) => {
      state = foldEvent(state, event, options.clock.monotonic(), options.style);
      changed?.();
    },
    end: async () => {
      state = { ...state, running: [] };
      instance.rerender(<App />);
      instance.unmount();
      await instance.waitUntilExit();
    },
  };
}
