import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { accede, accedeOk, type Ran, type RunOptions } from '../support/binary.ts';
import { SetClock } from '../support/set-clock.ts';

const FILES = 60;

let folder: string;
let clock: SetClock;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'acc-clock-'));
  clock = new SetClock(path.join(folder, 'clock'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(version: number, state = ''): void {
  const files = Array.from({ length: FILES }, (_, index) => `    f${index}: { path: f${index}.txt, content: "text ${version}" }`);
  const text = `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: clock }\n${state}\nresources:\n  local.file:\n${files.join('\n')}\n`;
  writeFileSync(path.join(folder, 'environment.yaml'), text);
}

interface Told {
  readonly time: string;
  readonly type: string;
  readonly seconds?: number;
  readonly result?: { readonly seconds: number; readonly exitCode: number };
}

const eventsOf = ({ stdout }: Ran) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Told);

/** Applies, and stops the process at its first finished step while `meanwhile` happens. */
async function applyStoppedMidway(options: RunOptions, meanwhile: () => Promise<void>): Promise<Ran> {
  let done: Promise<void> | undefined;
  const ran = await accede(['apply', '--auto-approve', '--parallelism', '1', '--json', folder], {
    ...options,
    started: (child) => {
      let seen = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (done !== undefined || !seen.includes('"step.done"')) return;
        child.kill('SIGSTOP');
        done = meanwhile().finally(() => child.kill('SIGCONT'));
      });
    },
  });
  if (done === undefined) throw new Error(`no step was seen: ${ran.stdout}${ran.stderr}`);
  await done;
  return ran;
}

/** No record is earlier than the one before it, and nothing ended before it began. */
async function expectTimesInOrder(): Promise<void> {
  const { records } = JSON.parse((await accedeOk(['audit', 'list', '--json', folder])).stdout);
  // The newest comes first.
  const at = (records as readonly { readonly at: string }[]).map((record) => record.at).reverse();
  expect(at.length).toBeGreaterThan(2);
  expect(at).toEqual([...at].sort());
  await accedeOk(['audit', 'verify', folder]);
  const { operations } = JSON.parse((await accedeOk(['state', 'history', '--json', folder])).stdout);
  for (const { startedAt, endedAt } of operations) if (endedAt !== null) expect(endedAt >= startedAt).toBe(true);
}

async function expectSettled(version: number): Promise<void> {
  await accedeOk(['plan', '--detailed-exitcode', folder]);
  for (let index = 0; index < FILES; index++) expect(readFileSync(path.join(folder, `f${index}.txt`), 'utf8')).toBe(`text ${version}`);
}

describe('a clock that is set while an apply runs', () => {
  it.each(['+1h', '-1h'])('must not end it, nor its lock, nor give a duration that is none, when it is set by %s', async (offset) => {
    write(1);
    await accedeOk(['apply', '--auto-approve', folder]);
    write(2);
    const ran = await applyStoppedMidway({ env: clock.environment }, async () => {
      clock.set(offset);
      // Who comes meanwhile finds it held, by the one clock and by the other.
      for (const env of [{}, clock.environment]) {
        const other = await accede(['apply', '--auto-approve', folder], { env });
        expect(other.code, `${other.stdout}${other.stderr}`).toBe(75);
      }
    });
    expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(0);
    const events = eventsOf(ran);
    const times = events.map(({ time }) => time);
    expect(times).toEqual([...times].sort());
    const seconds = events.flatMap((event) => [event.seconds ?? 0, event.result?.seconds ?? 0]);
    for (const duration of seconds) expect(duration >= 0 && duration < 120).toBe(true);
    await expectSettled(2);
    await expectTimesInOrder();
    // On the machine's own clock things go on, whichever way it was off.
    write(3);
    await accedeOk(['apply', '--auto-approve', folder]);
    await expectSettled(3);
    await expectTimesInOrder();
  });

  it('must leave a plan what it is for an hour, and make it too old after a day', async () => {
    const plan = path.join(folder, 'plan.json');
    for (const [version, offset, code] of [
      [1, '+1h', 0],
      [2, '-1h', 0],
      [3, '+25h', 4],
    ] as const) {
      write(version);
      await accedeOk(['plan', '--out', plan, folder]);
      clock.set(offset);
      const ran = await accede(['apply', plan], { env: clock.environment });
      expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(code);
      if (code === 4) expect(`${ran.stdout}${ran.stderr}`).toContain('PLAN_EXPIRED');
    }
    await accedeOk(['apply', plan]);
    await expectSettled(3);
    await expectTimesInOrder();
  });
});

describe('the clock of a database server that is set while an apply runs', () => {
  let server: MariadbServer;
  let place: string;
  let serverClock: SetClock;
  beforeAll(async () => {
    place = mkdtempSync('/tmp/acc-dbc-');
    serverClock = new SetClock(`${place}-clock`);
    server = await startMariadb(place, [], serverClock.environment);
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(place, { recursive: true, force: true });
    rmSync(`${place}-clock`, { force: true });
  });
  const state = () => `state: { backend: mysql, host: 127.0.0.1, port: ${server.port}, user: root, database: clock }`;
  beforeEach(async () => {
    serverClock.set('+0');
    await server.execute('CREATE DATABASE clock');
    write(1, state());
    await accedeOk(['apply', '--auto-approve', folder]);
    write(2, state());
  });
  afterEach(() => server.execute('DROP DATABASE clock'));

  it('must not take the lock from its holder when it is set back', async () => {
    const ran = await applyStoppedMidway({}, async () => {
      serverClock.set('-1h');
      expect((await server.execute('SELECT NOW() < UTC_TIMESTAMP() + INTERVAL 1 SECOND')).trim()).toBe('1');
      const other = await accede(['apply', '--auto-approve', folder]);
      expect(other.code, `${other.stdout}${other.stderr}`).toBe(75);
    });
    expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(0);
    await expectSettled(2);
    await expectTimesInOrder();
  });

  it('must end the lease when it is set ahead: one of the two goes on, the other is told so, and nothing is done twice', async () => {
    const ran = await applyStoppedMidway({}, async () => {
      serverClock.set('+1h');
      await accedeOk(['apply', '--auto-approve', folder]);
    });
    expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(6);
    expect(`${ran.stdout}${ran.stderr}`).toContain('"FENCED"');
    await expectSettled(2);
    await expectTimesInOrder();
  });

  it('must be told as what it is to a holder whom nobody has taken the lock from, and the next run goes on', async () => {
    const ran = await applyStoppedMidway({}, async () => serverClock.set('+1h'));
    expect(ran.code, `${ran.stdout}${ran.stderr}`).toBe(6);
    expect(`${ran.stdout}${ran.stderr}`).toMatch(/a clock was set/);
    await accedeOk(['apply', '--auto-approve', folder]);
    await expectSettled(2);
    await expectTimesInOrder();
  });
});
