import { describe, expect, it } from 'vitest';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
import { HEAD, IMAGE, loaded } from './workbench.ts';

const DEFAULTS = 'defaults:\n  fake.box:\n    update: { batch: 2, pause: 5s }\n';

/** What comes of the box `web` with these lines, by instance key. */
async function updates(
  lines: readonly string[],
  more = '',
): Promise<Readonly<Record<string, { readonly update: ResourceInstance['update']; readonly first: boolean }>>> {
  const text = `${HEAD}${more}resources:\n  fake.box:\n    web:\n${lines.map((line) => `      ${line}\n`).join('')}      image: "${IMAGE}"\n`;
  const environment = await loaded({ 'environment.yaml': text });
  return Object.fromEntries(
    environment.resources.map(({ key = '', update, lifecycle }) => [key, { update, first: lifecycle.createBeforeDestroy }]),
  );
}

describe('update', () => {
  it('must be absent where nothing is said, and one at a time, stop-first, without waits where nothing more is said', async () => {
    expect(await updates([])).toEqual({ '': { update: undefined, first: false } });
    expect(await updates(['update: {}'])).toEqual({ '': { update: { batch: 1, pause: 0, drain: 0, order: 'stop-first' }, first: false } });
  });

  it('must mean the replace order create-first with order: start-first, and follow create_before_destroy where it says no order', async () => {
    expect(await updates(['update: { order: start-first, drain: 1m30s, pause: 500ms, batch: 3 }'])).toEqual({
      '': { update: { batch: 3, pause: 500, drain: 90_000, order: 'start-first' }, first: true },
    });
    expect(await updates(['update: { drain: 2s }', 'lifecycle: { create_before_destroy: true }'])).toEqual({
      '': { update: { batch: 1, pause: 0, drain: 2000, order: 'start-first' }, first: true },
    });
    const both = ['update: { order: start-first }', 'lifecycle: { create_before_destroy: true }'];
    expect((await updates(both))['']?.first).toBe(true);
  });

  it('must merge the defaults of the type under that of the resource', async () => {
    expect(await updates(['update: { batch: 4, order: start-first }'], DEFAULTS)).toEqual({
      '': { update: { batch: 4, pause: 5000, drain: 0, order: 'start-first' }, first: true },
    });
    expect(await updates([], DEFAULTS)).toEqual({ '': { update: { batch: 2, pause: 5000, drain: 0, order: 'stop-first' }, first: false } });
  });

  it('must take expressions over the instance', async () => {
    const lines = ['for_each: { a: 1, b: 9 }', "update: { batch: \"${each.value}\", pause: \"${each.key == 'a' ? '1m' : '0s'}\" }"];
    expect(await updates(lines)).toMatchObject({ a: { update: { batch: 1, pause: 60_000 } }, b: { update: { batch: 9, pause: 0 } } });
  });
});
