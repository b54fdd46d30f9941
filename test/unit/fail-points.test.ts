import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failingSession } from '../../src/apply/failing-session.ts';
import { parseFailPoints } from '../../src/cli/fail-points.ts';
import { BOUNDARIES, type FailPoint } from '../../src/core/fail-point.ts';
import { failingHost } from '../../src/host/failing-host.ts';
import { localHost } from '../../src/host/local.ts';
import { readOnlyHost } from '../../src/host/readonly.ts';
import { connect } from '../../src/providers/docker/client.ts';
import { failingClient } from '../../src/providers/docker/failing-client.ts';

const ROOT = join(import.meta.dirname, '../..');
const TABLE = 'src/core/fail-point.ts';

const sources = new Map(
  readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(ROOT, path), readFileSync(path, 'utf8')] as const),
);

/** Refuses to go on at the first boundary, and keeps its name. */
function barrier(): { readonly faults: FailPoint; readonly passed: string[] } {
  const passed: string[] = [];
  const pass: FailPoint['pass'] = async (boundary, moment) => {
    passed.push(`${boundary} ${moment}`);
    throw new Error('stopped here');
  };
  return { faults: { pass }, passed };
}

/** Calls a method with nothing in it, as far as its boundary. */
async function stopped(target: object, name: string, parameters: readonly unknown[]): Promise<void> {
  const method = (target as { readonly [name: string]: (...parameters: readonly unknown[]) => Promise<unknown> })[name];
  await expect(method?.(...parameters)).rejects.toThrow('stopped here');
}

describe('the table of boundaries', () => {
  it('must hold nothing that no run can pass', () => {
    const used = (boundary: string) => [...sources].some(([path, text]) => path !== TABLE && text.includes(`'${boundary}'`));
    expect(Object.keys(BOUNDARIES).filter((boundary) => !used(boundary))).toEqual([]);
  });

  it('must stand for everything that changes the host', async () => {
    const host = localHost();
    const { faults, passed } = barrier();
    const names = Object.keys(host).filter((name) => !(name in readOnlyHost(host)));
    for (const name of names) await stopped(failingHost(host, faults), name, [['/bin/true'], '/nowhere', {}]);
    expect(passed).toEqual(names.map(() => 'host.change before'));
    expect(names.length).toBeGreaterThan(8);
  });

  it('must stand for every request that may change an engine', async () => {
    const { reader, writer, close } = await connect({ kind: 'unix', path: '/nowhere' });
    const { faults, passed } = barrier();
    const names = Object.keys(writer).filter((name) => !(name in reader));
    for (const name of names) await stopped(failingClient(writer, faults), name, ['/x', {}]);
    close();
    expect(passed).toEqual(names.map(() => 'target.call before'));
    expect(names.length).toBeGreaterThan(4);
  });

  it('must stand for everything by which a provider changes something', async () => {
    const nothing = async () => undefined;
    const reading = { versions: {}, read: nothing, resolve: nothing, close: nothing };
    const changing = { perform: nothing, undo: nothing, reconcile: nothing, exec: nothing };
    const { faults, passed } = barrier();
    const session = failingSession({ ...reading, ...changing } as unknown as Parameters<typeof failingSession>[0], faults);
    for (const name of Object.keys(changing)) await stopped(session, name, [name === 'reconcile' ? [] : { effect: {} }]);
    expect(passed).toEqual(Object.keys(changing).map((name) => `effect.${name} before`));
  });
});

describe('the variable that turns fail points on', () => {
  it('must be read at one place, so that documents, state and arguments cannot', () => {
    const readers = [...sources].filter(([, text]) => text.includes('ACCEDE_FAILPOINT')).map(([path]) => path);
    expect(readers.sort()).toEqual(['src/cli/fail-points.ts', 'src/cli/process.ts']);
    expect(sources.get('src/cli/fail-points.ts')).not.toContain('process.env');
  });

  it.each(['', 'state.write', 'state.nowhere=kill', 'state.write=explode', 'state.write@sometimes=kill', 'state.write:x=kill'])(
    'must be refused where it names what there is not: %j',
    (text) => {
      expect(() => parseFailPoints(text)).toThrow('ACCEDE_FAILPOINT');
    },
  );

  it('must count the times that a boundary is passed, and throw the fault that is asked for at one of them', async () => {
    const faults = parseFailPoints('state.write@before:2=enospc,any:4=lost-reply');
    await faults.pass('state.write', 'before', '');
    await faults.pass('state.write', 'after', '');
    await expect(faults.pass('state.write', 'before', '')).rejects.toMatchObject({ kind: 'enospc' });
    await expect(faults.pass('host.change', 'before', '')).rejects.toMatchObject({ kind: 'lost-reply' });
    await faults.pass('state.write', 'before', '');
  });
});
