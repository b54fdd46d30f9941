import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accede, accedeOk, type Ran, type RunOptions } from '../support/binary.ts';
import { SmallDisk } from '../support/small-disk.ts';

/** An environment with files, a folder, a secret that is made, and a pair of keys: everything that writes. `where` is the folder that it writes to. */
function documents(version: number, where = 'out'): string {
  return `apiVersion: accede/v1
kind: Environment
metadata: { name: full }
state: { backend: sqlite, encryption: { key_file: state.key } }
resources:
  local.directory:
    d: { path: ${where}/tree }
  local.file:
    a: { path: ${where}/a.txt, content: "text ${version}" }
    big: { path: ${where}/big.txt, content: "${String(version).repeat(9000)}" }
    deep: { path: "\${local.directory.d.path}/deep.txt", content: "${String(version).repeat(5000)}" }
    env: { path: ${where}/env, content: "KEY=\${local.secret.s.value}", mode: "0600" }
  local.secret:
    s: { generation: ${version} }
  local.keypair:
    k: { generation: ${version} }
`;
}

/** One file alone: the fewest writes of a state that hold every kind of them. */
const one = (version: number) =>
  `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: one }\nresources:\n  local.file:\n    a: { path: out/a.txt, content: "text ${version}" }\n`;

/** Each so-many-th write is struck; ACCEDE_DISK_STRIDE=1 strikes every one. Headers and pages of a log take turns, so that 2 would miss one kind. */
const STRIDE = Number(process.env['ACCEDE_DISK_STRIDE'] ?? 3);

let base: string;
let disk: SmallDisk | undefined;

beforeAll(() => {
  base = mkdtempSync(path.join(tmpdir(), 'acc-disk-'));
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => {
  disk = undefined;
});
afterEach(async () => {
  await disk?.close();
});

/** Makes an environment that is applied at version 1, and whose documents are at version 2. `at` is the folder as accede knows it, `seen` as we do. */
async function applied(at: string, seen = at, options: RunOptions = {}, text: (version: number) => string = documents): Promise<string> {
  mkdirSync(path.join(seen, 'out'), { recursive: true });
  writeFileSync(path.join(seen, 'state.key'), randomBytes(32).toString('hex'), { mode: 0o600 });
  writeFileSync(path.join(seen, 'environment.yaml'), text(1));
  await accedeOk(['apply', '--auto-approve', at], options);
  writeFileSync(path.join(seen, 'environment.yaml'), text(2));
  return at;
}

/** A small disk with such an environment on it. */
async function appliedOnDisk(size: string): Promise<SmallDisk> {
  const small = await SmallDisk.over(mkdtempSync(path.join(base, 'mount-')), size);
  await applied(path.join(small.folder, 'disk'), small.inside('disk'), { under: small.under });
  return small;
}

/** Makes an environment at version 1 that writes to `out` on the disk, with its documents and its state elsewhere. */
async function appliedOnto(
  small: SmallDisk,
  name: string,
): Promise<{ readonly folder: string; readonly out: string; readonly seen: string }> {
  const folder = path.join(base, name);
  const [out, seen] = [path.join(small.folder, 'disk', 'out'), small.inside('disk', 'out')];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  small.makeRoom();
  rmSync(small.inside('disk'), { recursive: true, force: true });
  mkdirSync(seen, { recursive: true });
  writeFileSync(path.join(folder, 'state.key'), randomBytes(32).toString('hex'), { mode: 0o600 });
  writeFileSync(path.join(folder, 'environment.yaml'), documents(1, out));
  await accedeOk(['apply', '--auto-approve', folder], { under: small.under });
  writeFileSync(path.join(folder, 'environment.yaml'), documents(2, out));
  return { folder, out, seen };
}

/** What stands in a folder: every file with its text. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const of = (entry: (typeof files)[number]) => path.join(entry.parentPath, entry.name);
  const sorted = files.map(of).toSorted((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map((file) => [path.relative(folder, file), readFileSync(file, 'latin1')]));
}

/** The error that a run reports for people: one of these codes, no stack, nothing that blames Accede. */
function expectClearError(ran: Ran, codes: readonly string[], what: string): void {
  const said = `${what}: ${ran.stdout}${ran.stderr}`;
  expect(said).toMatch(new RegExp(`\\[(${codes.join('|')})\\]`));
  expect(said).not.toMatch(/a bug in Accede|INTERNAL|\n\s+at .*\(.*:\d+:\d+\)/);
}

const EVERYTHING = ['a.txt', 'big.txt', 'env', 'tree/.accede-directory', 'tree/deep.txt'];

/** The next run must work, and leave nothing behind. */
async function expectNextRunWorks(folder: string, options: RunOptions, out: string, what: string, names = EVERYTHING): Promise<void> {
  const next = await accede(['apply', '--auto-approve', folder], options);
  expect(next.code, `${what}: ${next.stdout}${next.stderr}`).toBe(0);
  const files = contents(out);
  expect(Object.keys(files), what).toEqual(names);
  expect(files['a.txt'], what).toBe('text 2');
}

/** Then nothing is left to do, and the audit chain is whole. */
async function expectSettled(folder: string, options: RunOptions): Promise<void> {
  await accedeOk(['plan', '--detailed-exitcode', folder], options);
  await accedeOk(['audit', 'verify', folder], options);
}

const STATE_CODES = ['STATE_FULL', 'STATE_UNREACHABLE', 'STATE_FILE_UNSAFE'];
const WRITE_CODES = [...STATE_CODES, 'EXHAUSTED', 'OTHER', 'UNKNOWN_OUTCOME', 'NOT_TAKEN_BACK'];

describe('a disk that is full', () => {
  it('must fail an apply with a clear error at every write, change nothing by halves, and let the next run work', async () => {
    disk = await appliedOnDisk('4m');
    const before = contents(disk.inside('disk', 'out'));
    const pristine = mkdtempSync(path.join(base, 'pristine-'));
    cpSync(disk.inside('disk'), pristine, { recursive: true });
    const inner = path.join(disk.folder, 'disk');
    const options = { under: disk.under };
    const seen: Record<string, number> = {};
    let isEnough = false;
    for (let pages = 0; !isEnough; pages += STRIDE) {
      const what = `with ${pages} pages free`;
      disk.fillFrom(pristine);
      disk.leaveFree(pages);
      const ran = await accede(['apply', '--auto-approve', inner], options);
      seen[String(ran.code)] = (seen[String(ran.code)] ?? 0) + 1;
      isEnough = ran.code === 0;
      if (!isEnough) {
        expect([1, 5, 6], `${what}: ${ran.stdout}${ran.stderr}`).toContain(ran.code);
        expectClearError(ran, WRITE_CODES, what);
        if (ran.code !== 6) expect(contents(disk.inside('disk', 'out')), what).toEqual(before);
      }
      disk.makeRoom();
      await expectNextRunWorks(inner, options, disk.inside('disk', 'out'), what);
      if (ran.code === 6) await expectSettled(inner, options);
    }
    await expectSettled(inner, options);
    process.stdout.write(`disk full at every page of a whole environment: exits ${JSON.stringify(seen)}\n`);
    expect(seen['1']).toBeGreaterThan(0);
  });

  it('must be told of each thing that is written while the state has room, be taken back as far as there is room, and let the next run work', async () => {
    disk = await SmallDisk.over(mkdtempSync(path.join(base, 'mount-')), '1m');
    const seen: Record<string, number> = {};
    const options = { under: disk.under };
    let isEnough = false;
    for (let pages = 0; !isEnough; pages += STRIDE) {
      const what = `with ${pages} pages free`;
      const { folder, seen: out } = await appliedOnto(disk, 'outside');
      const before = contents(out);
      disk.leaveFree(pages);
      const ran = await accede(['apply', '--auto-approve', folder], options);
      seen[String(ran.code)] = (seen[String(ran.code)] ?? 0) + 1;
      isEnough = ran.code === 0;
      if (!isEnough) {
        expect([5, 6], `${what}: ${ran.stdout}${ran.stderr}`).toContain(ran.code);
        expectClearError(ran, ['EXHAUSTED', 'NOT_TAKEN_BACK'], what);
        if (ran.code === 5) expect(contents(out), what).toEqual(before);
      }
      disk.makeRoom();
      await expectNextRunWorks(folder, options, out, what);
      if (ran.code === 6 || isEnough) await expectSettled(folder, options);
    }
    process.stdout.write(`disk full at every page of what is written: exits ${JSON.stringify(seen)}\n`);
    expect((seen['5'] ?? 0) + (seen['6'] ?? 0)).toBeGreaterThan(0);
  });

  it('must leave no plan file, and the one of before, when there is no room for one', async () => {
    const folder = await applied(path.join(base, 'planfile'));
    disk = await SmallDisk.over(mkdtempSync(path.join(base, 'mount-')), '1m');
    disk.fillFrom(path.join(folder, 'out'));
    const file = path.join(disk.folder, 'disk', 'plan.json');
    const options = { under: disk.under };
    await accedeOk(['plan', '--out', file, folder], options);
    const size = Math.ceil(statSync(disk.inside('disk', 'plan.json')).size / 4096);
    const first = readFileSync(disk.inside('disk', 'plan.json'), 'utf8');
    for (let pages = 0; pages < size; pages += STRIDE) {
      disk.leaveFree(pages);
      const ran = await accede(['plan', '--out', file, folder], options);
      expect(ran.code, `with ${pages} pages free`).toBe(1);
      expectClearError(ran, ['[A-Z_]+'], `with ${pages} pages free`);
      expect(ran.stderr).toMatch(/There is no room left/);
      expect(readFileSync(disk.inside('disk', 'plan.json'), 'utf8')).toBe(first);
      expect(readdirSync(disk.inside('disk')).filter((name) => name.startsWith('.'))).toEqual([]);
    }
    disk.makeRoom();
    await accedeOk(['plan', '--out', file, folder], options);
    await accedeOk(['apply', file], options);
  });
});

describe('a disk that fails', () => {
  it.each([
    ['EIO', 'pwrite64'],
    ['EIO', 'fsync'],
    ['ENOSPC', 'pwrite64'],
    ['EIO', 'ftruncate'],
  ] as const)('must end the run with a clear error at every %s of a %s of the state, and let the next run work', async (error, call) => {
    const place = path.join(base, `${error}-${call}`);
    const inner = await applied(place, place, {}, one);
    const before = contents(path.join(inner, 'out'));
    const pristine = mkdtempSync(path.join(base, 'pristine-'));
    cpSync(inner, pristine, { recursive: true });
    const seen: Record<string, number> = {};
    for (let at = 1; ; at += STRIDE) {
      const what = `${error} at ${call} ${at}`;
      rmSync(inner, { recursive: true, force: true });
      cpSync(pristine, inner, { recursive: true });
      const trace = path.join(base, 'trace');
      const state = path.join(inner, '.accede', 'state.db');
      const paths = ['', '-wal', '-shm'].flatMap((suffix) => ['-P', `${state}${suffix}`]);
      const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${at}`];
      const ran = await accede(['apply', '--auto-approve', inner], { under: ['strace', '-f', '-qq', '-o', trace, ...paths, ...inject] });
      if (!readFileSync(trace, 'utf8').includes('(INJECTED)')) break;
      seen[String(ran.code)] = (seen[String(ran.code)] ?? 0) + 1;
      // What fails once nothing depends on it any more (the log that is folded in at the end) is nobody's concern.
      if (ran.code !== 0) {
        expect([1, 5, 6], `${what}: ${ran.stdout}${ran.stderr}`).toContain(ran.code);
        expectClearError(ran, WRITE_CODES, what);
      }
      if (ran.code === 1 || ran.code === 5) expect(contents(path.join(inner, 'out')), what).toEqual(before);
      await expectNextRunWorks(inner, {}, path.join(inner, 'out'), what, ['a.txt']);
      if (ran.code === 6) await expectSettled(inner, {});
    }
    process.stdout.write(`${error} at every ${call} of the state: exits ${JSON.stringify(seen)}\n`);
    expect(Object.keys(seen).length).toBeGreaterThan(0);
  });
});

describe('a folder that can not be written', () => {
  it('must refuse an apply, still answer what only reads, and say that it can not be written', async () => {
    disk = await appliedOnDisk('8m');
    const before = contents(disk.inside('disk'));
    const inner = path.join(disk.folder, 'disk');
    const options = { under: disk.under };
    disk.remount('ro');
    const ran = await accede(['apply', '--auto-approve', inner], options);
    expect(ran.code).toBe(1);
    expectClearError(ran, ['STATE_UNREACHABLE'], 'read-only');
    expect((await accede(['plan', '--detailed-exitcode', inner], options)).code).toBe(2);
    const status = JSON.parse((await accedeOk(['status', '--json', inner], options)).stdout);
    expect(status.readiness).toMatchObject({ backend: 'sqlite', writable: false, hindrance: { code: 'STATE_UNREACHABLE' } });
    expect((await accedeOk(['status', inner], options)).stdout).toMatch(/ready +read in \d+ ms, can not be written/);
    const out = await accede(['plan', '--out', path.join(inner, 'plan.json'), inner], options);
    expect(out.code).toBe(1);
    expect(contents(disk.inside('disk'))).toEqual(before);
    disk.remount('rw');
    expect(JSON.parse((await accedeOk(['status', '--json', inner], options)).stdout).readiness).toMatchObject({ writable: true });
    await expectNextRunWorks(inner, options, disk.inside('disk', 'out'), 'written again');
    await expectSettled(inner, options);
    disk.leaveFree(100);
    const scarce = JSON.parse((await accedeOk(['status', '--json', inner], options)).stdout);
    expect(scarce.readiness).toMatchObject({ writable: false, hindrance: { code: 'STATE_FULL' } });
  });

  it('must take an apply back when it is what is written to, and not the state', async () => {
    disk = await SmallDisk.over(mkdtempSync(path.join(base, 'mount-')), '1m');
    const options = { under: disk.under };
    const { folder, seen: out } = await appliedOnto(disk, 'target');
    const before = contents(out);
    disk.remount('ro');
    const ran = await accede(['apply', '--auto-approve', folder], options);
    expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(5);
    expectClearError(ran, ['FORBIDDEN'], 'read-only');
    expect(contents(out)).toEqual(before);
    disk.remount('rw');
    await expectNextRunWorks(folder, options, out, 'written again');
    await expectSettled(folder, options);
  });
});
