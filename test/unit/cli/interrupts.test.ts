import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/cli/commands/failing.ts';
import { EXIT, EXIT_CODES, toExitCode } from '../../../src/cli/exit.ts';
import { Interrupted, Interrupts } from '../../../src/cli/interrupts.ts';

function interrupts() {
  const said: string[] = [];
  let left = 0;
  const target = new EventEmitter();
  const made = new Interrupts({ say: (text) => said.push(text), leave: () => (left += 1) });
  const stop = made.listen(target as unknown as NodeJS.Process);
  return { made, said, left: () => left, target, stop };
}

describe('an interruption', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('must end reads at the first %s and leave at the second', (signal) => {
    const { made, target, left } = interrupts();
    target.emit(signal);
    expect(made.reads.reason).toBeInstanceOf(Interrupted);
    expect(left()).toBe(0);
    target.emit(signal);
    expect(left()).toBe(1);
  });

  it('must only ask to stop once effects may be under way, however often it comes', () => {
    const { made, said, target, left } = interrupts();
    made.beginApply();
    target.emit('SIGTERM');
    target.emit('SIGINT');
    target.emit('SIGINT');
    expect(made.stop.aborted).toBe(true);
    expect(made.reads.aborted).toBe(false);
    expect(left()).toBe(0);
    expect(said[0]).toContain('finished and recorded');
    expect(said[1]).toContain('Still finishing');
  });

  it('must not say that nothing new begins while what was done is taken back, nor break that off', () => {
    const { made, said, target, left } = interrupts();
    made.beginApply();
    made.beginWayBack();
    target.emit('SIGINT');
    target.emit('SIGINT');
    expect(left()).toBe(0);
    expect(made.reads.aborted).toBe(false);
    expect(said).toHaveLength(2);
    for (const text of said) {
      expect(text).toContain('taking back goes on to its end');
      expect(text).not.toContain('nothing new begins');
    }
  });

  it('must not be listened to any more when the run is over', () => {
    const { target, stop } = interrupts();
    stop();
    expect(target.listenerCount('SIGINT')).toBe(0);
  });
});

describe('exit codes', () => {
  it('must be those of the command contract', () => {
    expect(EXIT).toEqual({ done: 0, error: 1, changes: 2, refused: 3, stale: 4, restored: 5, open: 6, busy: 75, interrupted: 130 });
    expect(EXIT_CODES.map((entry) => entry.code)).toEqual(Object.values(EXIT));
  });

  it('must come from what is wrong', () => {
    const of = (code: string) => exitCodeOf([{ severity: 'error', code, summary: '', detail: '' }]);
    expect(of('UNKNOWN_KEY')).toBe(1);
    expect(of('LOCK_BUSY')).toBe(75);
    expect(of('STATE_MOVED')).toBe(4);
    expect(() => toExitCode(99)).toThrow();
  });
});
