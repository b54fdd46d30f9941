import { render } from 'ink-testing-library';
import { describe, expect, it } from 'vitest';
import type { AccedeEvent, ApplyResult, EventBody } from '../../../src/apply/events.ts';
import { foldEvent, LIVE_START, LiveView } from '../../../src/cli/views/live.tsx';
import { progressLines } from '../../../src/cli/views/progress.ts';
import { renderResult } from '../../../src/cli/views/result.ts';
import { styleFor } from '../../../src/cli/views/terminal.ts';

const style = styleFor({ write: () => true }, {}, { color: false });
const step = { step: 'docker.container.api:create', address: 'docker.container.api', effect: 'create' };
const diagnostic = {
  severity: 'error' as const,
  code: 'NOT_READY',
  summary: 'The object did not get ready',
  detail: 'docker.container.api, ready: it exited with code 1.',
};

function event(body: EventBody): AccedeEvent {
  return { format: 'accede.event/v1', time: '2026-11-30T14:02:00.000Z', sequence: 1, operation: 'op-3', ...body };
}

const RUN: readonly EventBody[] = [
  { type: 'lock.waiting', holder: 'dana@ci', since: '2026-11-30T14:00:00.000Z', purpose: 'apply' },
  { type: 'lock.acquired', lock: 'abc', fence: 4, tookOver: 'emil@here' },
  { type: 'guard.checked', name: 'state', ok: true },
  { type: 'guard.checked', name: 'documents', ok: false },
  { type: 'operation.started', plan: 'sha256:1', class: 'composite', steps: 5, serial: 3 },
  { type: 'stage.started', stage: 'start', steps: 5 },
  { type: 'step.intended', ...step, stage: 'start' },
  { type: 'step.progress', step: step.step, address: step.address, message: 'pulling', figures: { bytes: 1_500_000 } },
  { type: 'step.done', ...step, seconds: 1.24, figures: { bytes: 1_500_000, tries: 3 } },
  { type: 'step.failed', ...step, effect: 'ready', seconds: 75, diagnostic, lines: ['last words', '\u001b[31mred'] },
  { type: 'step.unknown', ...step, effect: 'stop', diagnostic },
  { type: 'step.skipped', ...step, effect: 'retire', because: 'docker.container.api:ready' },
  { type: 'stage.done', stage: 'start', steps: 5 },
];

const RESULT: ApplyResult = {
  exitCode: 0,
  outcome: 'done',
  plan: 'sha256:1',
  class: 'composite',
  serial: 3,
  steps: { done: ['a:create', 'b:create'], notDone: [], unknown: [] },
  seconds: 12.3,
  outputs: { url: 'http://a/', password: { $accede: 'sensitive', fingerprint: 'hmac-sha256:1' } },
  diagnostics: [],
};

describe('plain progress', () => {
  it('must be one line per event that matters', () => {
    expect(RUN.flatMap((body) => progressLines(event(body), style)).join('\n')).toMatchInlineSnapshot(`
      "Waiting for the lock: dana@ci holds it since 2026-11-30T14:00:00.000Z for apply.
      Took over the lock of emil@here, whose process is gone.
      Guard documents does not hold any more.
      op-3: 5 steps, class composite
      ✓ docker.container.api                     create     1.2 s, 1.5 MB, tries 3
      ✗ docker.container.api                     ready      failed after 1 min 15 s
          docker.container.api, ready: it exited with code 1.
          │ last words
          │ \\u001b[31mred
      ? docker.container.api                     stop       outcome unknown
          docker.container.api, ready: it exited with code 1.
      - docker.container.api                     retire     skipped, since it follows docker.container.api:ready"
    `);
  });
});

describe('the way back in plain lines', () => {
  it('must list what was taken back, and not what had nothing to take back', () => {
    const events: readonly EventBody[] = [
      { type: 'compensation.started', steps: 3 },
      { type: 'step.compensated', ...step, effect: 'ready', changed: false, seconds: 0 },
      { type: 'step.compensated', ...step, changed: true, seconds: 1.2 },
      { type: 'step.compensated', ...step, effect: 'fetch', changed: false, seconds: 0 },
    ];
    expect(events.flatMap((body) => progressLines(event(body), style)).join('\n')).toMatchInlineSnapshot(`
      "Taking back what was done:
      ↶ docker.container.api                     create     taken back, 1.2 s"
    `);
  });
});

describe('the account of a run', () => {
  it('must tell what was done, and never show a sensitive output', () => {
    expect(renderResult(RESULT, style)).toMatchInlineSnapshot(`
      "Done: 2 steps in 12 s. State #3.

      Outputs
        password = (sensitive)
        url = http://a/
      "
    `);
  });

  it('must tell what was not done and what nobody knows, and how to go on', () => {
    const failed = {
      ...RESULT,
      exitCode: 6,
      outcome: 'failed' as const,
      outputs: {},
      steps: { done: ['a:create'], notDone: ['b:create'], unknown: ['c:stop'] },
    };
    expect(renderResult(failed, style, 'accede apply env')).toMatchInlineSnapshot(`
      "Failed after 12 s: 1 done, 1 not done, 1 unknown of 3 steps. State #3.
        not done  b:create
        unknown   c:stop

      Go on with:

          accede apply env
      "
    `);
  });

  it('must say of a run that failed before it changed anything that all is as before', () => {
    const failed = {
      ...RESULT,
      exitCode: 5,
      outcome: 'failed' as const,
      outputs: {},
      steps: { done: [], notDone: ['a:fetch', 'b:create'], unknown: [] },
    };
    expect(renderResult(failed, style, 'accede apply env')).toMatchInlineSnapshot(`
      "Failed after 12 s, before anything was changed: the environment is as before. State #3.
      Correct what the error says, then plan and apply again.
      "
    `);
  });

  it.each([
    ['stale', 4, 'stale'],
    ['refused', 3, 'Refused'],
    ['busy', 75, 'busy'],
    ['spent', 4, 'spent'],
    ['interrupted', 130, 'Interrupted'],
  ] as const)('must say %s', (outcome, exitCode, word) => {
    expect(renderResult({ ...RESULT, outcome, exitCode }, style)).toContain(word);
  });
});

describe('the live view', () => {
  it('must show what runs with its time and progress, and keep what has ended above', () => {
    const states = RUN.slice(4, 8).reduce((state, body) => foldEvent(state, event(body), 1_000, style), LIVE_START);
    const { lastFrame, unmount } = render(<LiveView state={states} now={4_000} width={100} />);
    expect(lastFrame()).toMatchInlineSnapshot(`
      "op-3: 5 steps, class composite
      › docker.container.api                     create     3.0 s  pulling, 1.5 MB
      start   0 of 5"
    `);
    unmount();
  });

  it('must hold every finished step once, and nothing that runs, when the run is over', () => {
    const state = RUN.reduce((folded, body) => foldEvent(folded, event(body), 0, style), LIVE_START);
    expect(state.running).toEqual([]);
    expect(state).toMatchObject({ done: 1, total: 5, stages: [{ stage: 'start', state: 'done' }] });
    expect(state.finished.flatMap((item) => item.lines)).toEqual(RUN.flatMap((body) => progressLines(event(body), style)));
  });
});
