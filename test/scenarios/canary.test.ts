import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { accede, type Ran } from '../support/binary.ts';
import { EngineClient } from '../support/engine-client.ts';
import { Workspace } from '../support/workspace.ts';

// Each canary holds what JSON escapes, so that every spelling of it is told from every other.
const canaries = {
  env: 'canary-"env"-\\71f3',
  file: 'canary-"file"-\\82a4',
  exec: 'canary-"exec"-\\93b5',
  nested: 'canary-"nested"-\\a4c6',
  shown: 'canary-"shown"-\\b5d7',
  passphrase: 'canary-"passphrase"-\\c6e8',
};

/** All spellings in which a secret may leak. */
function spellings(secret: string): readonly Buffer[] {
  const bytes = Buffer.from(secret);
  const escaped = JSON.stringify(secret).slice(1, -1);
  // In base64 the text may begin at any of three places; the middle of each is the same wherever it stands.
  const shifted = [0, 1, 2].map((pad) =>
    Buffer.concat([Buffer.alloc(pad), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, escaped, JSON.stringify(escaped).slice(1, -1), bytes.toString('hex'), encodeURIComponent(secret), ...shifted].map(
    (text) => Buffer.from(text),
  );
}

let work: string;
let docker: DockerServer;
let workspace: Workspace;
let image: string;
const seen: { readonly what: string; readonly text: Buffer }[] = [];

const documents = (command: string, round: 'one' | 'two' | 'three') => `apiVersion: accede/v1
kind: Environment
metadata: { name: canary }
secrets:
  from_env: { env: CANARY_ENV }
  passphrase: { env: CANARY_PASSPHRASE }
  from_file: { file: secret.txt }
  from_exec: { exec: [cat, exec.txt] }
  bundle: { exec: [cat, bundle.json], format: json }
locals:
  connection: { user: app, password: "\${secrets.from_env}" }
state: { backend: sqlite, encryption: { passphrase: "\${secrets.passphrase}" } }
providers:
  docker: { host: "${docker.host}" }
resources:
  local.secret:
    made: { generation: ${{ one: 1, two: 2, three: 3 }[round]}, encoding: base64url }
  local.keypair:
    signer: { generation: ${{ one: 1, two: 2, three: 3 }[round]} }
  local.certificate:
    tls: { names: [app.example], path: tls, generation: ${{ one: 1, two: 2, three: 3 }[round]} }
  local.value:
    plain: { input: "\${merge(locals.connection, {'round': '${round}'})}" }
    joined: { input: "x-\${secrets.from_file}-y" }
    hashed: { input: "\${base64(secrets.from_exec)}" }
    deep: { input: { a: [{ b: "\${secrets.bundle.inner.key}" }], round: "${round}" } }
    follows: { input: "\${local.value.joined.output}" }
  local.file:
    config: { path: out.txt, content: "password=\${secrets.bundle.inner.key} round=${round}", mode: "0600" }
    made: { path: made.txt, content: "\${local.secret.made.value}", mode: "0600" }
    signer: { path: signer.pem, content: "\${local.keypair.signer.private}", mode: "0600" }
  docker.container:
    app:
      image: "${image}"
      command: ${command}
      environment: { ROUND: "${round}", PASSWORD: "\${secrets.from_env}", URL: "db://app:\${secrets.from_file}@db", SHOWN: "\${secrets.from_exec}", MADE: "\${local.secret.made.value}" }
      secrets: { /run/token: "\${secrets.bundle.inner.key}" }
      configs: { /etc/app.json: '\${json({"key": secrets.from_exec})}' }
      stop_grace_period: 1s
outputs:
  connection: { value: "\${locals.connection}" }
`;

beforeAll(async () => {
  work = mkdtempSync('/tmp/acc-can-');
  docker = await startDocker(work);
  image = (await buildImage(docker.host, { name: 'canary', tag: '1' })).id;
  workspace = new Workspace();
  workspace.write('secret.txt', `${canaries.file}\n`, 0o600);
  workspace.write('exec.txt', `${canaries.exec}\n`, 0o600);
  workspace.write('bundle.json', JSON.stringify({ inner: { key: canaries.nested } }), 0o600);
  workspace.write('environment.yaml', documents('[sleep, "1000"]', 'one'));
});

afterAll(async () => {
  await docker?.stop();
  workspace?.remove();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

/** What Accede made by itself, of every generation: the secret, and the secret parts of both keys as one line. */
const made = new Set<string>();

function rememberMade(): void {
  const files = workspace.files();
  for (const name of MADE_FILES) {
    const text = files.get(name)?.toString() ?? '';
    const body = text.replaceAll(/-----.*-----|\n/g, '');
    // The first half of a key in PKCS #8 is the same for all keys of its kind.
    if (body !== '') made.add(text.startsWith('-----') ? body.slice(-40) : body);
  }
}

const MADE_FILES = ['made.txt', 'signer.pem', 'tls/key.pem'];

/** Runs the program, keeps all that it said, and looks at the command lines of all processes meanwhile. */
async function run(argv: readonly string[], codes: readonly number[] = [0]): Promise<Ran> {
  let watching = true;
  const watch = (async () => {
    while (watching) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          seen.push({ what: `the command line of a process during ${argv.join(' ')}`, text: readFileSync(`/proc/${pid}/cmdline`) });
        } catch (error) {
          // It ended in between.
          if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const ran = await accede(argv, { env: { CANARY_ENV: canaries.env, CANARY_PASSPHRASE: canaries.passphrase } });
  watching = false;
  await watch;
  seen.push(
    { what: `stdout of ${argv.join(' ')}`, text: Buffer.from(ran.stdout) },
    { what: `stderr of ${argv.join(' ')}`, text: Buffer.from(ran.stderr) },
  );
  expect(codes, `accede ${argv.join(' ')}\n${ran.stdout}\n${ran.stderr}`).toContain(ran.code);
  rememberMade();
  return ran;
}

describe('canaries in every source and every kind of expression', () => {
  it('must reach what they are for', async () => {
    const { folder } = workspace;
    await run(['validate', folder]);
    await run(['plan', folder]);
    await run(['plan', '--json', folder]);
    await run(['plan', '--out', workspace.path('plan.json'), folder]);
    await run(['apply', workspace.path('plan.json'), '--auto-approve', '--json', folder]);
    await run(['plan', '--detailed-exitcode', folder]);
    expect(workspace.read('out.txt')).toContain(canaries.nested);
    const app = await new EngineClient(docker.host).container('canary-app');
    expect(app.env).toContain(`PASSWORD=${canaries.env}`);
    expect(app.env).toContain(`MADE=${workspace.read('made.txt')}`);
    expect(app.env).toContain(`URL=db://app:${canaries.file}@db`);
  });

  it('must stand in no output, plan, state, journal, log line or command line', async () => {
    const { folder } = workspace;
    // A changed secret, drift in a secret, and a container that prints its secrets and dies.
    canaries.env = 'canary-"env"-\\second';
    workspace.write('environment.yaml', documents('[sleep, "1000"]', 'two'));
    await run(['plan', folder]);
    await run(['apply', '--auto-approve', folder]);
    workspace.write('out.txt', 'tampered', 0o600);
    await run(['plan', '--json', folder]);
    await run(['apply', '--auto-approve', folder]);
    workspace.write('environment.yaml', documents(`[sh, -c, 'env; cat /run/token /etc/app.json; exit 3']`, 'three'));
    const failed = await run(['apply', '--auto-approve', folder], [5]);
    expect(failed.stdout + failed.stderr).toContain('ROUND=three');
    expect(failed.stdout + failed.stderr).toContain('MADE=(sensitive)');
    await run(['apply', '--auto-approve', '--json', folder], [3]);
    await run(['hold', '--lift', '--reason', 'again', folder]);
    await run(['apply', '--auto-approve', '--json', folder], [5]);
    await run(['status', folder]);
    await run(['status', '--json', folder]);
    await run(['show', 'local.value.plain', folder]);
    await run(['show', '--json', 'docker.container.app', folder]);
    await run(['state', 'pull', folder]);
    await run(['state', 'history', folder]);
    await run(['output', folder]);
    await run(['output', '--json', folder]);
    await run(['eval', 'locals.connection', folder]);
    await run(['eval', 'secrets.from_exec + "!"', folder]);
    await run(['eval', 'int(secrets.from_exec)', folder], [1]);
    await run(['graph', folder]);
    for (const [name, bytes] of workspace.files()) {
      if (!['secret.txt', 'exec.txt', 'bundle.json', 'out.txt', ...MADE_FILES].includes(name))
        seen.push({ what: `the file ${name}`, text: bytes });
    }
    expect([...workspace.files().keys()]).toContain('.accede/state.db');
    expect(made.size).toBeGreaterThanOrEqual(6);
    const secrets = [...Object.values(canaries), 'canary-"env"-\\71f3', ...made];
    const leaks = secrets.flatMap((secret) =>
      seen.flatMap(({ what, text }) =>
        spellings(secret).flatMap((spelling) => (text.includes(spelling) ? [`${spelling.toString()} in ${what}`] : [])),
      ),
    );
    expect([...new Set(leaks)]).toEqual([]);
  });
});
