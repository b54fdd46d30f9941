import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { LockInfo } from '../../../src/state/model.ts';
import { systemProcessIdentity } from '../../../src/state/process.ts';

const me = systemProcessIdentity();
const fields = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};
const holder = (changes: Partial<LockInfo> = {}): LockInfo => ({
  lockId: 'l',
  fence: 1,
  who: 'w',
  purpose: 'p',
  since: 's',
  host: me.host,
  bootId: me.bootId,
  pid: me.pid,
  processStart: me.processStart,
  ...changes,
});

describe('the identity of a process', () => {
  it('must find this process alive', () => {
    expect(me.processStart).toMatch(/^\d+$/);
    expect(me.bootId).toMatch(/^[0-9a-f-]{36}$/);
    expect(me.isAlive(holder())).toBe(true);
  });

  it('must find dead what ran before a boot, and what only shares the pid', () => {
    expect(me.isAlive(holder({ bootId: '00000000-0000-0000-0000-000000000000' }))).toBe(false);
    expect(me.isAlive(holder({ processStart: '1' }))).toBe(false);
  });

  it('must not judge another host', () => {
    expect(me.isAlive(holder({ host: 'elsewhere', pid: 999_999_999 }))).toBeUndefined();
    expect(me.isAlive(holder({ host: 'elsewhere', bootId: 'x' }))).toBeUndefined();
  });

  it('must find a process with an awkward name alive, and dead when it was killed', async () => {
    const child = spawn(process.execPath, ['-e', 'process.title = "a) Z (b"; console.log("up"); setInterval(() => {}, 1000)']);
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const info = holder({ pid, processStart: fields(pid)[19] ?? '' });
    expect(me.isAlive(info)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(me.isAlive(info)).toBe(false);
  });

  it('must find a zombie dead', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60']);
    const [text] = (await once(parent.stdout.setEncoding('utf8'), 'data')) as [string];
    const pid = Number(text.trim());
    while (fields(pid)[0] !== 'Z') await systemClock.sleep(5);
    expect(me.isAlive(holder({ pid, processStart: fields(pid)[19] ?? '' }))).toBe(false);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
});
