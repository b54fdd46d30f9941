import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, accedeOk, type Ran } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

/** The job of all documents. */
export const ADDRESS = 'docker.job.backup';
/** The secret that it is given. */
export const CANARY = 'canary-run-8d1f';

/** One event, as far as a test looks at it. */
export interface Line {
  readonly type: string;
  readonly step?: string;
  readonly result?: { readonly [name: string]: unknown };
}

/** The events of a JSON output. */
export function events(text: string): readonly Line[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** The result that stands last in it. */
export function resultOf(ran: Ran): { readonly [name: string]: unknown } {
  return events(ran.stdout).at(-1)?.result ?? {};
}

/** A private engine for the cases of one file, each with documents and a shared folder of its own. */
export function runBench() {
  let work: string;
  let shared: string;
  let docker: DockerServer;
  let engine: EngineClient;
  let image: string;
  let workspace: Workspace;
  let cases = 0;

  beforeAll(async () => {
    work = mkdtempSync('/tmp/acc-run-');
    docker = await startDocker(work);
    engine = new EngineClient(docker.host);
    image = (await buildImage(docker.host, { name: 'run/job', tag: '1' })).id;
  });

  afterAll(async () => {
    await docker?.stop();
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  });

  beforeEach(() => {
    shared = join(work, `shared-${cases++}`);
    mkdirSync(shared);
    workspace = new Workspace();
    return async () => {
      for (const { name } of await engine.containers()) await engine.remove(name);
      workspace.remove();
    };
  });

  /** Documents with one job that notes each of its runs and then does what the script says. */
  function write(script: string, more = '', others = ''): void {
    workspace.write(
      'environment.yaml',
      `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
secrets:
  token: { env: TOKEN }
providers:
  docker: { host: "${docker.host}" }
resources:
  docker.job:
    backup:
      image: "${image}"
      command: [sh, -c, ${JSON.stringify(`echo run >> /shared/runs; ${script}`)}]
      environment: { TOKEN: "\${secrets.token}" }
      volumes: ["${shared}:/shared"]
      stop_signal: KILL
      run: on_demand
${more === '' ? '' : `      ${more}\n`}${others}`,
    );
  }

  function at(name: string): string {
    return join(shared, name);
  }

  function runs(): number {
    try {
      return readFileSync(at('runs'), 'utf8').trim().split('\n').length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
  }

  const env = { TOKEN: CANARY };

  function run(...argv: readonly string[]): Promise<Ran> {
    return accede([...argv, workspace.folder], { env });
  }

  function ok(...argv: readonly string[]): Promise<Ran> {
    return accedeOk([...argv, workspace.folder], { env });
  }

  async function apply(): Promise<void> {
    await ok('apply', '--auto-approve');
  }

  async function expectNoChange(): Promise<void> {
    const plan = await run('plan', '--detailed-exitcode');
    expect(plan.code, plan.stdout + plan.stderr).toBe(0);
  }

  async function containers(): Promise<readonly string[]> {
    return (await engine.containers()).map(({ name, state }) => `${name} ${state}`);
  }

  /** Runs the job and sends the process a signal as soon as it tells this event of a step. */
  function runUntil(type: string, effect: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<Ran> {
    return accede(['run', ADDRESS, '--json', workspace.folder], {
      env,
      started: (child) => {
        let text = '';
        let isSent = false;
        child.stdout?.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          const end = text.lastIndexOf('\n');
          if (isSent || end === -1) return;
          if (!events(text.slice(0, end)).some((event) => event.type === type && event.step === `${ADDRESS}:${effect}`)) return;
          isSent = true;
          child.kill(signal);
        });
      },
    });
  }

  return {
    write,
    at,
    runs,
    env,
    run,
    ok,
    apply,
    expectNoChange,
    containers,
    runUntil,
    engine: () => engine,
    workspace: () => workspace,
    image: () => image,
    shared: () => shared,
  };
}
