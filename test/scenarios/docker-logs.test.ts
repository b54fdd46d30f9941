import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../../scripts/servers/certificates.ts';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import { type SshServer, startSsh } from '../../scripts/servers/ssh.ts';
import { accede, accedeOk, BINARY, type Ran, type RunOptions } from '../support/binary.ts';
import { EngineClient, eventually } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

const CANARY = 'canary-exec-5b2e';

let work: string;
let docker: DockerServer;
let ssh: SshServer;
let engine: EngineClient;
let workspace: Workspace;

/** One engine, reached in three ways. */
beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-log-');
  const certificates = makeCertificates(work);
  const tcp = `tcp://127.0.0.1:${await freePort()}`;
  const { ca, server, client } = certificates;
  docker = await startDocker(work, {
    args: ['--host', tcp, '--tlsverify', `--tlscacert=${ca}`, `--tlscert=${server.cert}`, `--tlskey=${server.key}`],
  });
  mkdirSync(join(work, 'ssh'));
  ssh = await startSsh(join(work, 'ssh'), { DOCKER_HOST: docker.host });
  engine = new EngineClient(docker.host);
  const image = (await buildImage(docker.host, { name: 'log/app', tag: '1' })).id;
  const lines = 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done';
  workspace = new Workspace();
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: logs }
secrets:
  token: { env: TOKEN }
providers:
  docker: { host: "${docker.host}" }
  "docker:tls": { host: "${tcp}", tls: { ca: ${ca}, cert: ${client.cert}, key: ${client.key} } }
  "docker:ssh": { host: "ssh://${ssh.user}@127.0.0.1:${ssh.port}" }
resources:
  docker.network:
    net: {}
  docker.container:
    api:
      image: "${image}"
      command: [sh, -c, '${lines}; exec tail -f /dev/null']
      environment: { TOKEN: "\${secrets.token}" }
      stop_signal: KILL
    quiet:
      image: "${image}"
      command: [sh, -c, 'until test -e /tmp/go; do sleep 0.1; done; echo came; until test -e /tmp/end; do sleep 0.1; done; echo last']
      stop_signal: KILL
    worker:
      for_each: [bulk, mail]
      image: "${image}"
      command: [sh, -c, 'echo "works on \${each.key}"; exec tail -f /dev/null']
      stop_signal: KILL
    tls: { provider: "docker:tls", image: "${image}", command: [sh, -c, 'echo over tls; exec tail -f /dev/null'], stop_signal: KILL }
    ssh: { provider: "docker:ssh", image: "${image}", command: [sh, -c, 'echo over ssh; exec tail -f /dev/null'], stop_signal: KILL }
  docker.job:
    report: { image: "${image}", command: [sh, -c, 'echo reported'] }
    never: { image: "${image}", run: on_demand }
`,
  );
  await accedeOk(['apply', '--auto-approve', workspace.folder], { env: { ...reach(), TOKEN: CANARY } });
}, 180_000);

afterAll(async () => {
  await ssh?.stop();
  await docker?.stop();
  workspace?.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

/** The way to the engine. The secret of the environment is not in it: looking needs none. */
function reach(): Readonly<Record<string, string>> {
  return { PATH: `${ssh.path}:${process.env['PATH'] ?? ''}` };
}

function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return accede(argv, { ...options, env: reach() });
}

function ok(argv: readonly string[], options: RunOptions & { readonly code?: number } = {}): Promise<Ran> {
  return accedeOk(argv, { ...options, env: reach() });
}

function logs(address: string, ...flags: readonly string[]): Promise<Ran> {
  return ok(['logs', address, ...flags, workspace.folder]);
}

function exec(address: string, flags: readonly string[], command: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return run(['exec', address, ...flags, workspace.folder, '--', ...command], options);
}

/** Runs `accede` inside of a terminal and answers what stood on its screen. */
function onTerminal(
  words: readonly string[],
  typed: readonly [string, string],
): Promise<{ readonly code: number | null; readonly screen: string }> {
  const line = [process.execPath, BINARY, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['-qefc', `stty cols 91 rows 37; ${line}`, '/dev/null'], {
      env: { ...reach(), HOME: '/nonexistent', TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let screen = '';
    const [first, second] = typed;
    const left = [
      { after: 'ready', type: first },
      { after: 'got', type: second },
    ];
    child.stdout.on('data', (chunk: Buffer) => {
      screen += chunk.toString();
      if (left[0] !== undefined && screen.includes(left[0].after)) child.stdin.write(left.shift()?.type ?? '');
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, screen }));
  });
}

describe('accede logs', () => {
  it('must print standard output and standard error apart, the last lines or all, without needing a secret', async () => {
    const all = await logs('docker.container.api');
    expect(all.stdout).toBe('out 1\nout 2\nout 3\nout 4\nout 5\n');
    expect(all.stderr).toBe('err 1\nerr 2\nerr 3\nerr 4\nerr 5\n');
    const tail = await logs('docker.container.api', '--tail', '3');
    expect(`${tail.stdout}${tail.stderr}`.trim().split('\n')).toHaveLength(3);
    expect((await logs('docker.container.api', '--tail', '0')).stdout).toBe('');
  });

  it('must print times, only what is new enough, and lines as JSON', async () => {
    expect((await logs('docker.container.api', '--timestamps')).stdout).toMatch(/\n\d{4}-\d\d-\d\dT\S+Z out 5\n$/);
    expect((await logs('docker.container.api', '--since', '1d')).stdout).toContain('out 1');
    expect((await logs('docker.container.api', '--since', '1ms')).stdout).toBe('');
    const json = (await logs('docker.container.api', '--json', '--timestamps')).stdout.trim().split('\n');
    expect(json.map((line) => JSON.parse(line) as unknown)).toContainEqual({
      format: 'accede.log/v1',
      address: 'docker.container.api',
      stream: 'stderr',
      time: expect.stringMatching(/Z$/),
      text: 'err 5',
    });
  });

  it('must name each instance of a for_each when all are meant, and one alone when one is', async () => {
    expect((await logs('docker.container.worker')).stdout).toBe('worker["bulk"] | works on bulk\nworker["mail"] | works on mail\n');
    expect((await logs('docker.container.worker["mail"]')).stdout).toBe('works on mail\n');
  });

  it('must go through the provider block of the resource, over TLS and SSH as well', async () => {
    expect((await logs('docker.container.tls')).stdout).toBe('over tls\n');
    expect((await logs('docker.container.ssh')).stdout).toBe('over ssh\n');
  });

  it('must print the last run of a job, and say that one which never ran has none', async () => {
    expect((await logs('docker.job.report')).stdout).toBe('reported\n');
    const never = await run(['logs', 'docker.job.never', workspace.folder]);
    expect([never.code, never.stderr]).toEqual([1, expect.stringContaining('OBJECT_MISSING')]);
  });

  it('must follow until the container ends, and end with 130 when it is interrupted', async () => {
    const follow = (started: NonNullable<RunOptions['started']>) =>
      run(['logs', 'docker.container.quiet', '-f', workspace.folder], { started });
    const seen = (child: ChildProcess, word: string) =>
      new Promise<void>((resolve) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          if (chunk.toString().includes(word)) resolve();
        });
      });
    let came: Promise<void> | undefined;
    const followed = follow((child) => {
      came = seen(child, 'came');
    });
    const interrupted = follow((child) => {
      void seen(child, 'came').then(() => child.kill('SIGINT'));
    });
    await ok(['exec', 'docker.container.quiet', workspace.folder, '--', 'touch', '/tmp/go']);
    expect(await interrupted).toMatchObject({ code: 130, stdout: 'came\n', stderr: '' });
    await came;
    await ok(['exec', 'docker.container.quiet', workspace.folder, '--', 'touch', '/tmp/end']);
    expect(await followed).toMatchObject({ code: 0, stdout: 'came\nlast\n' });
  });

  it.each([
    ['docker.container.apj', 'NOT_RECORDED', /Did you mean docker\.container\.api\?/],
    ['docker.network.net', 'LOGS_NOT_OFFERED', /docker\.network/],
    ['nonsense', 'BAD_ADDRESS', /address/],
  ])('must refuse %s', async (address, code, words) => {
    const ran = await run(['logs', address, '--json', workspace.folder]);
    expect(ran.code).toBe(1);
    const { error } = JSON.parse(ran.stdout) as { readonly error: { readonly code: string; readonly detail: string } };
    expect(error.code).toBe(code);
    expect(error.detail).toMatch(words);
  });
});

describe('accede exec', () => {
  it('must end with the code of the command, and keep its two outputs apart', async () => {
    const ran = await exec('docker.container.api', [], ['sh', '-c', 'echo one; echo two >&2; exit 7']);
    expect(ran).toMatchObject({ code: 7, stdout: 'one\n', stderr: 'two\n' });
    expect((await exec('docker.container.api', [], ['true'])).code).toBe(0);
    expect((await exec('docker.container.api', [], ['sh', '-c', 'exit 75'])).code).toBe(75);
  });

  it.each(['docker.container.api', 'docker.container.tls', 'docker.container.ssh'])(
    'must hand stdin over to its end, in %s',
    async (address) => {
      const input = `${'0123456789abcdef'.repeat(20_000)}\n`;
      const counted = await exec(address, ['-i'], ['wc', '-c'], { input });
      expect([counted.stdout.trim(), counted.stderr, counted.code]).toEqual([String(input.length), '', 0]);
      const echoed = await exec(address, ['-i'], ['cat'], { input });
      expect(echoed.stdout === input).toBe(true);
      // A command that does not read its input ends all the same.
      expect((await exec(address, ['-i'], ['sh', '-c', 'exit 3'], { input })).code).toBe(3);
    },
  );

  it('must hand nothing over without -i', async () => {
    expect((await exec('docker.container.api', [], ['wc', '-c'], { input: 'not for it' })).stdout.trim()).toBe('0');
  });

  it('must take words behind -- as they are, and ask for a command', async () => {
    expect((await exec('docker.container.api', [], ['echo', '--json', '-f', '--', 'a b', ''])).stdout).toBe('--json -f -- a b \n');
    const none = await run(['exec', 'docker.container.api', workspace.folder]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('OPERAND_MISSING')]);
  });

  it('must say that there is no such command as the engine does', async () => {
    const ran = await exec('docker.container.api', [], ['no-such-command']);
    expect([126, 127]).toContain(ran.code);
    expect(ran.stdout + ran.stderr).toMatch(/no-such-command.*(?:not found|no such file)/);
  });

  it('must refuse what does not run, and what nothing can be run in', async () => {
    await engine.stop('logs-worker-mail');
    const stopped = await exec('docker.container.worker["mail"]', [], ['true']);
    expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/NOT_RUNNING[^]*ended\s+with\s+code\s+137/)]);
    expect((await exec('docker.job.report', [], ['true'])).stderr).toContain('NOT_RUNNING');
    expect((await exec('docker.network.net', [], ['true'])).stderr).toContain('EXEC_NOT_OFFERED');
    expect((await exec('docker.container.worker', [], ['true'])).stderr).toMatch(/NOT_RECORDED[^]*instances/);
    expect((await exec('docker.container.api', ['-t'], ['true'])).stderr).toContain('NO_TERMINAL');
  });

  it('must end with 130 when it is interrupted', async () => {
    const ran = await exec('docker.container.api', [], ['sh', '-c', 'echo up; sleep 1000'], {
      started: (child) => {
        child.stdout?.on('data', () => child.kill('SIGINT'));
      },
    });
    expect(ran).toMatchObject({ code: 130, stdout: 'up\n', stderr: '' });
  });

  it.each(['docker.container.api', 'docker.container.ssh'])(
    'must give a terminal of the size of its own, with Ctrl-C for the command, in %s',
    async (address) => {
      const script =
        'tty; until [ "$(stty size)" = "37 91" ]; do sleep 0.1; done; trap "echo caught; exit 9" INT; echo ready; read line; echo "got $line"; while :; do sleep 0.1; done';
      const { code, screen } = await onTerminal(['exec', address, '-it', workspace.folder, '--', 'sh', '-c', script], ['hello\r', '\x03']);
      expect(screen).toMatch(/\/dev\/pts\/\d+/);
      expect(screen).toContain('got hello');
      expect(screen).toContain('caught');
      expect(code).toBe(9);
    },
  );

  it('must let no secret into a command line or an error', async () => {
    const seen: string[] = [];
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
    // What a program prints is its own, so that it is shown as it is; whatever Accede says of it is not to hold it.
    const shown = await exec('docker.container.api', [], ['sh', '-c', 'echo "$TOKEN"; no-such-command']);
    expect(shown.stdout).toBe(`${CANARY}\n`);
    seen.push(shown.stderr, (await logs('docker.container.api')).stdout);
    const failed = await exec('docker.container.tls', ['--json'], []);
    seen.push(failed.stdout, failed.stderr);
    isOver = true;
    await watch;
    expect(seen.filter((text) => text.includes(CANARY))).toEqual([]);
  });

  it('must leave nothing behind', async () => {
    await eventually('no SSH client is left', async () => {
      const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      return !names.some((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(work, 'ssh', 'user_key'));
        } catch (error) {
          if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
          return false;
        }
      });
    });
  });
});
