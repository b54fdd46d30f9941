import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directoryType } from '../../../src/providers/local/directory-type.ts';
import type { Mutation } from '../../../src/state/contract.ts';
import { type Desired, desired } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const MARKER = '.accede-directory';
const place = () => path.join(bench.folder, 'data');
const directory = (more: Desired = {}) => desired('local.directory.data', { path: place(), ...more });
const other = () => desired('local.value.other', { input: 1 });
const afterEffect = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.status === 'done';

async function refusals(resources: readonly ReturnType<typeof desired>[], options = {}) {
  return (await bench.prepare(resources, options)).document.succession.refusals.map(({ code }) => code);
}

describe('a directory', () => {
  it('must be made with its mode and its marker, which names the state and nothing secret', async () => {
    await bench.converge([directory({ mode: '750' })]);
    expect(statSync(place()).mode & 0o7777).toBe(0o750);
    const marker = JSON.parse(readFileSync(path.join(place(), MARKER), 'utf8')) as { readonly lineage: string };
    const { identity } = (await (await bench.store()).read()) ?? {};
    expect(marker).toEqual({
      format: 'accede.directory/v1',
      environment: 'test',
      lineage: identity?.lineage,
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(outline((await bench.prepare([directory({ mode: '0750' })])).document)).toBe('no-op');
    expect(readdirSync(bench.folder).filter((name) => name.includes('accede-'))).toEqual([]);
  });

  it('must be refused without its marker, as where a disk is not mounted, and never be written into', async () => {
    mkdirSync(place());
    expect(await refusals([directory()])).toEqual(['DIRECTORY_FOREIGN']);
    renameSync(place(), `${place()}-theirs`);
    await bench.converge([directory()]);
    renameSync(place(), `${place()}-mounted`);
    mkdirSync(place());
    expect(await refusals([directory()])).toEqual(['DIRECTORY_FOREIGN']);
    expect(readdirSync(place())).toEqual([]);
  });

  it('must be refused when it bears the marker of another state', async () => {
    await bench.converge([directory()]);
    const marker = path.join(place(), MARKER);
    writeFileSync(marker, readFileSync(marker, 'utf8').replace('"environment":"test"', '"environment":"production"'));
    expect(await refusals([directory()])).toEqual(['DIRECTORY_FOREIGN']);
  });

  it('must never be removed with content, and the plan must say so', async () => {
    await bench.converge([directory(), other()]);
    writeFileSync(path.join(place(), 'theirs'), 'x');
    expect(await refusals([other()])).toEqual(['DIRECTORY_NOT_EMPTY']);
    expect(await refusals([directory({ path: path.join(bench.folder, 'moved') }), other()])).toEqual(['DIRECTORY_NOT_EMPTY']);
    expect(await refusals([directory(), other()], { destroy: true })).toEqual(['DIRECTORY_NOT_EMPTY']);
    expect(await refusals([directory({ mode: '0755' }), other()])).toEqual([]);
    unlinkSync(path.join(place(), 'theirs'));
    await bench.converge([other()]);
    expect(existsSync(place())).toBe(false);
  });

  it('must go together with what Accede itself put into it, and move with it', async () => {
    const at = (folder: string) => [
      other(),
      directory({ path: folder }),
      desired('local.file.in', { path: path.join(folder, 'in.txt'), content: 'x' }, { dependsOn: ['local.directory.data'] }),
      desired('local.directory.sub', { path: path.join(folder, 'sub') }, { dependsOn: ['local.directory.data'] }),
    ];
    await bench.converge(at(place()));
    await bench.converge(at(path.join(bench.folder, 'moved')));
    expect(existsSync(place())).toBe(false);
    expect(readdirSync(path.join(bench.folder, 'moved')).sort()).toEqual([MARKER, 'in.txt', 'sub']);
    writeFileSync(path.join(bench.folder, 'moved', 'theirs'), 'x');
    const { document } = await bench.prepare([other()]);
    expect(document.succession.refusals.map(({ code, message }) => `${code} ${/In the way: (.*)\.$/.exec(message)?.[1]}`)).toEqual([
      `DIRECTORY_NOT_EMPTY ${path.join(bench.folder, 'moved', 'theirs')}`,
    ]);
    unlinkSync(path.join(bench.folder, 'moved', 'theirs'));
    await bench.converge([other()]);
    expect(existsSync(path.join(bench.folder, 'moved'))).toBe(false);
  });

  it('must keep its content and marker when something comes into it after the plan', async () => {
    await bench.converge([directory(), other()]);
    const { document } = await bench.prepare([other()]);
    writeFileSync(path.join(place(), 'late'), 'x');
    const result = await bench.apply(document, [other()]);
    expect(result.exitCode).not.toBe(0);
    expect(readdirSync(place()).sort()).toEqual([MARKER, 'late']);
  });

  it('must be known as ours when its run was lost before it could say so, and leave nothing beside it', async () => {
    const { document } = await bench.prepare([directory()]);
    await bench.applyUntil(document, [directory()], afterEffect);
    await bench.converge([directory()]);
    expect(outline((await bench.prepare([directory()])).document)).toBe('no-op');
    expect(readdirSync(bench.folder).sort()).toEqual(['.accede', 'data']);
  });

  it('must have what a killed run left beside it removed', async () => {
    await bench.converge([other()]);
    const { document } = await bench.prepare([directory(), other()]);
    await bench.applyUntil(document, [directory(), other()], afterEffect);
    // As when the run had died before its rename.
    const left = readdirSync(bench.folder).find((name) => name === 'data');
    expect(left).toBe('data');
    const { stage } = await stageOf();
    renameSync(place(), stage);
    await bench.converge([directory(), other()]);
    expect(readdirSync(bench.folder).sort()).toEqual(['.accede', 'data']);
  });

  it('must be as before when what was done to it is taken back', async () => {
    const failing = (more: Desired) => [directory(more), desired('fake.thing.new', {}, { dependsOn: ['local.directory.data'] })];
    const fail = async (more: Desired) => {
      bench.world.failOn('fake.thing.new:create', 'CONFLICT');
      expect(await bench.apply((await bench.prepare(failing(more))).document, failing(more))).toMatchObject({ exitCode: 5 });
    };
    await fail({});
    expect(existsSync(place())).toBe(false);
    await bench.converge([directory()]);
    await fail({ mode: '0755', marker: false });
    expect(readdirSync(place())).toEqual([MARKER]);
    expect(statSync(place()).mode & 0o7777).toBe(0o700);
    await fail({ path: path.join(bench.folder, 'moved') });
    expect(existsSync(path.join(bench.folder, 'moved'))).toBe(false);
    expect(outline((await bench.prepare([directory()])).document)).toBe('no-op');
  });

  it('must put drift of its mode right and nothing else', async () => {
    await bench.converge([directory()]);
    writeFileSync(path.join(place(), 'theirs'), 'x');
    chmodSync(place(), 0o777);
    await bench.converge([directory()]);
    expect(statSync(place()).mode & 0o7777).toBe(0o700);
    expect(readdirSync(place()).sort()).toEqual([MARKER, 'theirs']);
  });

  it('must have one spelling, and not be the root', () => {
    const context = { environment: 'e', address: directory().address, name: 'data', folder: '/srv/env', config: {} };
    for (const written of ['data', './data/', 'x/../data'])
      expect(directoryType.normalize({ path: written }, context)['path']).toBe('data');
    for (const root of ['/', '//', '/x/..']) expect(directoryType.schema.safeParse({ path: root }).success, root).toBe(false);
  });
});

/** Where the directory is made before it is renamed. */
async function stageOf(): Promise<{ readonly stage: string }> {
  const { digestBytes } = await import('../../../src/core/canonical.ts');
  const { identity } = (await (await bench.store()).read()) ?? {};
  const digest = digestBytes(`${identity?.lineage} local.directory.data`).slice('sha256:'.length, 'sha256:'.length + 16);
  return { stage: path.join(bench.folder, `.data.accede-${digest}`) };
}
