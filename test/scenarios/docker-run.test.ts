import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { accede, accedeOk, type Ran } from '../support/binary.ts';
import { eventually } from '../support/engine-client.ts';
import { ADDRESS, CANARY, events, resultOf, runBench } from './docker-run-bench.ts';

const bench = runBench();
const { write, at, runs, env, run, ok, apply, expectNoChange, containers } = bench;

describe('a job that is run on demand', () => {
  it('must be recorded by an apply without a run, and by a change of its definition too', async () => {
    write('true');
    await apply();
    expect(runs()).toBe(0);
    expect(await containers()).toEqual([]);
    await expectNoChange();
    write('echo changed', 'schedule: "@daily"');
    const plan = await ok('plan');
    expect(plan.stdout).toContain('0 0 * * *');
    expect(plan.stdout).toMatch(/~ +docker\.job\.backup +update/);
    await apply();
    await expectNoChange();
    expect(runs()).toBe(0);
    await ok('destroy', '--auto-approve');
    expect((await ok('state', 'list')).stdout.trim()).toBe('');
  });

  it('must run each time that it is asked, with a receipt each, and leave the container of the last run alone', async () => {
    write('date +%s%N > /shared/now; printf \'{"at": %s}\' $(wc -l < /shared/runs)', 'stdout: true');
    await apply();
    for (const round of [1, 2]) {
      const ran = await ok('run', ADDRESS);
      expect(JSON.parse(ran.stdout)).toEqual({ at: round });
      expect(ran.stderr).toMatch(/Done: docker\.job\.backup ran in/);
      expect(runs()).toBe(round);
      expect(await containers()).toEqual(['shop-backup exited']);
      await expectNoChange();
    }
    const history = (await ok('state', 'history')).stdout;
    expect(history.match(/\brun\b/g)).toHaveLength(2);
    expect((await ok('state', 'show', ADDRESS)).stdout).toMatch(/finished_at/);
  });

  it('must keep the containers of earlier runs when it is told to, and remove all of them with the job', async () => {
    write('true', 'keep: 1');
    await apply();
    for (const _round of [1, 2, 3]) await ok('run', ADDRESS);
    expect(await containers()).toEqual(['shop-backup exited', expect.stringMatching(/^shop-backup-aside-[0-9a-f]{12} exited$/)]);
    await ok('destroy', '--auto-approve');
    expect(await containers()).toEqual([]);
  });

  it('must print one event per line, the result last', async () => {
    write('echo 7', 'stdout: true');
    await apply();
    const ran = await ok('run', ADDRESS, '--json');
    const lines = events(ran.stdout);
    expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(['lock.acquired', 'run.started', 'step.done']));
    expect(lines.filter(({ type }) => type === 'step.done').map(({ step }) => step?.split(':')[1])).toEqual([
      'fetch',
      'clear',
      'create',
      'start',
      'wait',
      'collect',
    ]);
    expect(lines.at(-1)).toMatchObject({
      type: 'run.done',
      result: { exitCode: 0, outcome: 'done', address: ADDRESS, run: 'new', programCode: 0, answer: 7 },
    });
  });

  it("must end with the job's own code and show its last lines, keep that container, and remove it with the next success", async () => {
    write('for i in $(seq 1 50); do echo line $i; done; test -e /shared/fixed || exit 75');
    await apply();
    const failed = await run('run', ADDRESS);
    expect(failed.code).toBe(75);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toContain('line 50');
    expect(failed.stderr).not.toContain('line 30');
    expect(failed.stderr).toContain('ended with code 75');
    expect(await containers()).toEqual([expect.stringMatching(/^shop-backup-failed-[0-9a-f]{12} exited$/)]);
    const told = await run('run', ADDRESS, '--json');
    expect(told.code).toBe(75);
    expect(resultOf(told)).toMatchObject({ outcome: 'failed', exitCode: 75, programCode: 75, diagnostics: [{ code: 'RUN_FAILED' }] });
    expect(await containers()).toHaveLength(2);
    await expectNoChange();
    writeFileSync(at('fixed'), '');
    await ok('run', ADDRESS);
    expect(await containers()).toEqual(['shop-backup exited']);
    expect(runs()).toBe(3);
  });

  it('must end with 124 when its time is over, and with 1 when its receipt is wrong', async () => {
    write('sleep 1000', 'timeout: 1s');
    await apply();
    expect((await run('run', ADDRESS)).code).toBe(124);
    expect(await containers()).toEqual([expect.stringMatching(/-failed-[0-9a-f]{12} exited$/)]);
    write('echo none', 'stdout: true');
    await apply();
    const wrong = await run('run', ADDRESS);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/is not JSON/);
  });

  it('must end with 5 when it cannot be begun, and run when that is put right', async () => {
    write('true');
    await apply();
    await bench.engine().run('shop-backup', bench.image(), ['true']);
    const plan = await run('plan', '--detailed-exitcode');
    expect(plan.code).toBe(0);
    const ran = await run('run', ADDRESS, '--json');
    expect(ran.code, ran.stdout).toBe(5);
    expect(resultOf(ran)).toMatchObject({ run: 'none', programCode: null, diagnostics: [{ code: 'FOREIGN' }] });
    expect(runs()).toBe(0);
    await bench.engine().remove('shop-backup');
    await ok('run', ADDRESS);
    expect(runs()).toBe(1);
  });

  it.each([
    ['another mode', 'docker.job.migrate', 'RUN_NOT_ON_DEMAND', /docker\.job\.backup/],
    ['another type', 'docker.network.net', 'RUN_NOT_ON_DEMAND', /docker\.job\.backup/],
    ['an unknown address', 'docker.job.backap', 'NOT_RECORDED', /Did you mean docker\.job\.backup\?/],
  ])('must refuse %s with exit 3', async (_what, address, code, words) => {
    write('true', '', `    migrate: { image: "${bench.image()}", command: [sh, -c, "true"] }\n  docker.network:\n    net: {}\n`);
    await apply();
    const ran = await run('run', address, '--json');
    expect(ran.code).toBe(3);
    expect(resultOf(ran)).toMatchObject({ outcome: 'refused', diagnostics: [{ code, detail: expect.stringMatching(words) }] });
    expect(runs()).toBe(0);
    await bench.engine().call('POST', '/networks/prune');
  });

  it('must refuse documents that differ from what was applied, a request that it does not take, and a document that was never applied', async () => {
    write('true');
    expect((await run('run', ADDRESS)).code).toBe(3);
    await apply();
    write('false');
    const ran = await run('run', ADDRESS);
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/runs as it was applied/);
    write('true');
    const other = await accede(['run', ADDRESS, bench.workspace().folder], { env: { TOKEN: 'another' } });
    expect(other.code).toBe(3);
    bench.workspace().write('request.json', '{}');
    const unwanted = await run('run', ADDRESS, '--request', bench.workspace().path('request.json'));
    expect(unwanted.code).toBe(3);
    expect(unwanted.stderr).toContain('RUN_REQUEST_UNWANTED');
    expect(runs()).toBe(0);
    write('true', '', '    later: { image: "sha256:' + 'a'.repeat(64) + '", run: on_demand }\n');
    expect((await run('run', 'docker.job.later')).stderr).toMatch(/never applied/);
    await ok('run', ADDRESS);
    expect(runs()).toBe(1);
  });

  it('must answer 75 while somebody else works on the environment', async () => {
    write('until test -e /shared/go; do sleep 0.1; done');
    await apply();
    const first = run('run', ADDRESS);
    await eventually('the job runs', async () => runs() === 1);
    const second = await run('run', ADDRESS);
    expect(second.code).toBe(75);
    expect(second.stderr).toContain('LOCK_BUSY');
    writeFileSync(at('go'), '');
    expect((await first).code).toBe(0);
    expect(runs()).toBe(1);
  });

  it('must become a job that runs with an apply, and one that runs on demand again', async () => {
    write('true');
    await apply();
    await ok('run', ADDRESS);
    const text = bench.workspace().read('environment.yaml');
    bench.workspace().write('environment.yaml', text.replace('run: on_demand', 'run: on_change'));
    await apply();
    expect(runs()).toBe(2);
    await expectNoChange();
    bench.workspace().write('environment.yaml', text);
    await apply();
    expect(runs()).toBe(2);
    await expectNoChange();
    await ok('run', ADDRESS);
    expect(runs()).toBe(3);
    expect(await containers()).toEqual(['shop-backup exited']);
  });
});

describe('a job that is run by reference', () => {
  const reference = 'run: by_reference\n      user: "10001:10001"\n      stdout: true';

  it('must find its request, and answer the same request without another run', async () => {
    write('cat /accede/request.json', reference);
    bench.workspace().write('environment.yaml', bench.workspace().read('environment.yaml').replace('      run: on_demand\n', ''));
    chmodSync(bench.shared(), 0o777);
    await apply();
    bench.workspace().write('one.json', '{ "grant": "a", "list": [1, 2] }');
    const missing = await run('run', ADDRESS);
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining('RUN_REQUEST_MISSING')]);
    const first = await ok('run', ADDRESS, '--request', bench.workspace().path('one.json'));
    expect(JSON.parse(first.stdout)).toEqual({ grant: 'a', list: [1, 2] });
    const again = await ok('run', ADDRESS, '--json', '--request', bench.workspace().path('one.json'));
    expect(resultOf(again)).toMatchObject({ run: 'earlier', answer: { grant: 'a', list: [1, 2] }, serial: null });
    expect(runs()).toBe(1);
    const forced = await ok('run', ADDRESS, '--again', '--request', bench.workspace().path('one.json'));
    expect(JSON.parse(forced.stdout)).toEqual({ grant: 'a', list: [1, 2] });
    const piped = await accedeOk(['run', ADDRESS, '--request', '-', bench.workspace().folder], { env, input: '{"grant": "c"}' });
    expect(JSON.parse(piped.stdout)).toEqual({ grant: 'c' });
    expect(runs()).toBe(3);
    bench.workspace().write('bad.json', '{ "grant": ');
    expect((await run('run', ADDRESS, '--request', bench.workspace().path('bad.json'))).stderr).toContain('RUN_REQUEST_INVALID');
    await expectNoChange();
  });
});

describe('a secret that a job is given', () => {
  it('must stand in no output, state or command line, also when the job prints it', async () => {
    const seen: string[] = [];
    const watched = async (work: Promise<Ran>) => {
      let isOver = false;
      const watch = (async () => {
        while (!isOver) {
          for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
            try {
              seen.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
            } catch (error) {
              if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
            }
          }
          await new Promise((resolve) => setTimeout(resolve, 25));
        }
      })();
      const ran = await work;
      isOver = true;
      await watch;
      seen.push(ran.stdout, ran.stderr);
      return ran;
    };
    write(
      'printf \'{"token": "%s"}\' "$TOKEN"; echo "$TOKEN" >&2; test -e /shared/fixed || exit 3',
      'stdout: true',
      `    told: { image: "${bench.image()}", command: [sh, -c, 'printf "[\\"%s\\"]" "$TOKEN"'], stdout: true, environment: { TOKEN: "\${secrets.token}" } }\n`,
    );
    await watched(run('apply', '--auto-approve', '--json'));
    expect((await watched(run('run', ADDRESS))).code).toBe(3);
    expect((await watched(run('run', ADDRESS, '--json'))).code).toBe(3);
    writeFileSync(at('fixed'), '');
    const done = await watched(ok('run', ADDRESS));
    expect(done.stdout).toContain('sensitive');
    await watched(ok('run', ADDRESS, '--json'));
    await watched(ok('show', ADDRESS));
    await watched(ok('state', 'pull'));
    for (const [name, bytes] of bench.workspace().files()) seen.push(`${name} ${bytes.toString('latin1')}`);
    expect(seen.filter((text) => text.includes(CANARY))).toEqual([]);
  });
});
