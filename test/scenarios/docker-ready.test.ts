import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';

const CONTAINER = 'docker.container';

let bench: Bench;
let image: string;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  image = (await buildImage(bench.engine.host, { files: { '/www/index.html': 'all is well\n' } })).id;
}, 60_000);

afterAll(() => bench.stop());

beforeEach(() => {
  driver = bench.driver();
});

afterEach(async () => {
  await driver.close();
  await bench.clear();
});

function shell(script: string, more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', command: ['sh', '-c', script], ...more };
}

/** Milliseconds that a create took. */
async function timed(create: Promise<void>): Promise<number> {
  const began = performance.now();
  await create;
  return performance.now() - began;
}

describe('waiting until a container is ready', () => {
  it('D13: must fail at once with the exit code and the last log lines when it exits, and be kept for reading', async () => {
    const script = 'for n in $(seq 1 30); do echo line $n; done; sleep 0.3; echo last words >&2; sleep 0.3; exit 7';
    const began = performance.now();
    const failure = await failureOf(driver.create(CONTAINER, 'exits', shell(script)));
    expect(failure.code).toBe('NOT_READY');
    expect(failure.message).toMatch(/bench-exits exited with code 7 instead of getting ready\.$/);
    expect(failure.lines).toHaveLength(20);
    expect(failure.lines).toEqual(expect.arrayContaining(['line 30', 'last words']));
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await driver.read(CONTAINER, 'exits')).toMatchObject({ kind: 'found', dormant: { reason: 'exited with code 7' } });
  });

  it('must fail at once when the engine starts it again, and bound what it shows of the log', async () => {
    const script = 'i=0; while [ $i -lt 40 ]; do head -c 1000 /dev/zero | tr "\\0" x; echo; i=$((i+1)); done; sleep 0.3; exit 3';
    const failure = await failureOf(driver.create(CONTAINER, 'loops', shell(script, { restart: 'always' })));
    expect(failure).toMatchObject({ code: 'NOT_READY', message: expect.stringMatching(/exited with code 3 and was started again/) });
    expect(failure.lines.join('\n').length).toBeLessThanOrEqual(8 * 1024);
    expect(failure.lines.length).toBeGreaterThan(3);
  });

  it('must take five seconds without a restart for ready where nothing else is said', async () => {
    const took = await timed(driver.create(CONTAINER, 'settles', shell('sleep 1000')));
    expect(took).toBeGreaterThan(5000);
    expect(took).toBeLessThan(20_000);
  });

  it('must wait for the healthcheck where there is one, and say what it says when the time is over', async () => {
    const healthcheck = { test: 'test -e /tmp/well || { echo not well yet; exit 1; }', interval: '300ms', retries: 1 };
    await driver.create(CONTAINER, 'heals', shell('sleep 1; touch /tmp/well; sleep 1000', { healthcheck, ready: { interval: '100ms' } }));
    const ready = { docker: true, interval: '100ms', timeout: '2s' };
    const failure = await failureOf(driver.create(CONTAINER, 'sick', shell('sleep 1000', { healthcheck, ready })));
    expect(failure).toMatchObject({
      code: 'NOT_READY',
      message: expect.stringMatching(/not ready after 2 s: the engine calls it (?:starting|unhealthy).*not well yet/),
    });
    const without = await failureOf(driver.create(CONTAINER, 'unchecked', shell('sleep 1000', { ready: { docker: true } })));
    expect(without).toMatchObject({ code: 'INVALID', message: expect.stringContaining('no healthcheck') });
  });

  it('must ask a URL from here or from inside, and look at status and body', async () => {
    const port = await freePort();
    const serve = (more: Attributes) => shell('sleep 0.5; exec httpd -f -p 80 -h /www', { ports: [`127.0.0.1:${port}:80`], ...more });
    const url = `http://127.0.0.1:${port}/index.html`;
    const quickly = { interval: '100ms', timeout: '10s' };
    await driver.create(CONTAINER, 'here', serve({ ready: { http: { url, status: 200, body: 'all is well' }, ...quickly } }));
    await driver.delete(CONTAINER, 'here');
    const inside = { url: 'http://127.0.0.1/index.html', in: 'container', body: 'all is well' };
    await driver.create(CONTAINER, 'inside', serve({ ready: { http: inside, ...quickly } }));
    await driver.delete(CONTAINER, 'inside');
    const short = { interval: '100ms', timeout: '2s' };
    const missing = await failureOf(
      driver.create(CONTAINER, 'missing', serve({ ready: { http: `http://127.0.0.1:${port}/nothing`, ...short } })),
    );
    expect(missing.message).toMatch(/nothing answers with status 404/);
    await driver.delete(CONTAINER, 'missing');
    const other = await failureOf(driver.create(CONTAINER, 'other', serve({ ready: { http: { url, body: 'all is lost' }, ...short } })));
    expect(other.message).toMatch(/without the expected text/);
    await driver.delete(CONTAINER, 'other');
    const nobody = await failureOf(driver.create(CONTAINER, 'nobody', shell('sleep 1000', { ready: { http: url, ...short } })));
    expect(nobody.message).toMatch(/does not answer \(ECONNREFUSED\)/);
  });

  it('must connect to a TCP address and run a command in the container', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await driver.create(CONTAINER, 'tcp', shell('sleep 1000', { ready: { tcp: `127.0.0.1:${port}` } }));
    await new Promise((resolve) => server.close(resolve));
    await driver.create(
      CONTAINER,
      'command',
      shell('sleep 1; touch /tmp/done; sleep 1000', { ready: { command: ['test', '-e', '/tmp/done'], interval: '100ms' } }),
    );
    const ready = { command: ['sh', '-c', 'echo still busy; exit 4'], interval: '100ms', timeout: '1s' };
    const failure = await failureOf(driver.create(CONTAINER, 'busy', shell('sleep 1000', { ready })));
    expect(failure.message).toMatch(/the command ended with code 4: still busy/);
  });

  it('must count a start by hand after an exit as no restart', async () => {
    const marker = shell('test -e /tmp/again || { touch /tmp/again; sleep 6; exit 1; }; sleep 1000', {
      restart: 'no',
      ready: { command: ['true'] },
    });
    await driver.create(CONTAINER, 'again', marker);
    await bench.hand('POST', '/containers/bench-again/kill?signal=KILL');
    await expect.poll(async () => (await driver.read(CONTAINER, 'again')) as object).toHaveProperty('dormant');
    await driver.start(CONTAINER, 'again');
    expect(await driver.read(CONTAINER, 'again')).not.toHaveProperty('dormant');
  });
});
