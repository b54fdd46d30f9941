import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StateChild } from '../../support/state-children.ts';
import { StateFolder } from '../../support/state-folder.ts';

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
});
afterEach(() => folder.remove());

/** Runs a child that has a small disk of its own, in a mount namespace of its own, with a part of it taken by a file. */
async function onSmallDisk(size: string): Promise<{ readonly [name: string]: unknown }> {
  const ballast = `${folder.root}/ballast`;
  const script = `mount -t tmpfs -o size=${size},mode=700 none "${folder.root}" && head -c 65536 /dev/zero > "${ballast}" && exec "$@"`;
  const namespace = process.geteuid?.() === 0 ? ['unshare', '--mount'] : ['unshare', '--mount', '--map-root-user'];
  const order = { location: { backend: 'sqlite', path: folder.path }, environment: 'crm', command: 'fill', ballast } as const;
  const child = new StateChild(order, [...namespace, 'sh', '-c', script, 'sh']);
  const answer = await child.answer(0);
  await child.exit();
  return answer;
}

describe('a full disk', () => {
  it('must fail the write alone, keep what was acknowledged, and take the next one when there is room', { timeout: 60_000 }, async () => {
    const answer = await onSmallDisk('1m');
    expect(answer['failure']).toMatchObject({ code: 'STATE_FULL', message: expect.stringContaining('no space left') });
    expect(answer['count']).toBeGreaterThan(10);
    expect(answer['kept']).toBe(answer['count']);
    expect(answer['again']).toBeNull();
    expect(answer['after']).toBe(true);
  });

  it.each(['72k', '100k', '128k', '160k'])('must leave no half-made state on a disk of %s', { timeout: 60_000 }, async (size) => {
    expect(await onSmallDisk(size)).toMatchObject({ code: 'STATE_FULL', read: null });
  });
});
