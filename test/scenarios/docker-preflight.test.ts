import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { type RegistryServer, startRegistry } from '../../scripts/servers/registry.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';

const LOGIN = { username: 'puller', password: 'preflight-canary' };

let bench: Bench;
let open: RegistryServer;
let closed: RegistryServer;
let plain: string;
let workspace: Workspace;
let pushes = 0;

beforeAll(async () => {
  bench = await Bench.start();
  for (const name of ['open', 'closed', 'down', 'config']) mkdirSync(join(bench.folder, name));
  open = await startRegistry(join(bench.folder, 'open'));
  closed = await startRegistry(join(bench.folder, 'closed'), { login: LOGIN });
  plain = (await buildImage(bench.engine.host, { name: 'shop/plain', tag: '1' })).id;
}, 60_000);

afterAll(async () => {
  await open?.stop();
  await closed?.stop();
  await bench?.stop();
});

beforeEach(() => {
  workspace = new Workspace();
});

afterEach(async () => {
  workspace.remove();
  await bench.clear();
});

interface Image {
  readonly repository: string;
  readonly digest: string;
}

/** Puts an image into a registry and takes it off the engine. */
async function push(server: RegistryServer, revision: string): Promise<Image> {
  const repository = `${server.host}/shop/api`;
  const labels = { 'org.opencontainers.image.revision': revision };
  const { id } = await buildImage(bench.engine.host, { name: repository, tag: 'push', labels, files: { '/version': `${++pushes}` } });
  const auth = Buffer.from(JSON.stringify({ ...LOGIN, serveraddress: server.host }))
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  const log = await bench.text('POST', `/images/${repository}/push?tag=push`, undefined, { 'x-registry-auth': auth });
  const digest = /"Digest":"(sha256:[0-9a-f]{64})"/.exec(log)?.[1];
  if (digest === undefined) throw new Error(`the push went wrong: ${log}`);
  await bench.dropImage(id);
  return { repository, digest };
}

/** A login for the closed registry in the Docker configuration of the program. */
function login(password: string): void {
  const auth = Buffer.from(`${LOGIN.username}:${password}`).toString('base64');
  writeFileSync(join(bench.folder, 'config', 'config.json'), JSON.stringify({ auths: { [closed.host]: { auth } } }));
}

const env = () => ({ DOCKER_CONFIG: join(bench.folder, 'config') });

/** The api with this image of a release, and beside it a web server, of another round each. */
function write(round: number, image: Image, more = '', commit = 'abc'): void {
  workspace.write(
    'release.yaml',
    `apiVersion: accede/v1\nkind: Release\nmetadata: { name: shop, version: "${round}" }\nservices:\n  api: { image: "${image.repository}@${image.digest}", source: { commit: ${commit} } }\n`,
  );
  const rest = 'stop_signal: KILL, ready: { command: ["true"], interval: 100ms }';
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
release: release.yaml
providers: { docker: { host: "${bench.engine.host}" } }
locals: { api: "\${release.services.api}" }
resources:
  docker.image:
    api: { repository: ${image.repository}, digest: "${image.digest}", expect: { revision: "\${release.services.api.source.commit}" }${more} }
  docker.container:
    api: { image: "\${docker.image.api.reference}", environment: { ROUND: ${round} }, ${rest} }
    web: { image: "${plain}", environment: { ROUND: ${round} }, ${rest} }
`,
  );
}

/** Which containers there are, since when they run, and what they are called. */
async function serving(): Promise<unknown> {
  const list = (await bench.hand('GET', '/containers/json?all=1')) as readonly { readonly Id: string }[];
  const seen = await Promise.all(
    list.map(async ({ Id }) => {
      const one = (await bench.hand('GET', `/containers/${Id}/json`)) as {
        Name: string;
        State: object;
        HostConfig: { RestartPolicy: object };
      };
      return { Id, Name: one.Name, State: one.State, RestartPolicy: one.HostConfig.RestartPolicy };
    }),
  );
  return seen.toSorted((a, b) => (a.Name < b.Name ? -1 : 1));
}

/** Another repository is another identity, which has to be meant. */
const NAMED = ['--expect-class', 'replacement'];

/** The first round runs, the second one fails in preflight with these words, and nothing has happened. */
async function mustStopNothing(second: () => void, words: RegExp, flags: readonly string[] = []): Promise<void> {
  const first = await push(open, 'abc');
  login(LOGIN.password);
  write(1, first);
  await accedeOk(['apply', '--auto-approve', workspace.folder], { env: env() });
  const before = await serving();
  second();
  const failed = await accede(['apply', '--auto-approve', '--json', ...flags, workspace.folder], { env: env() });
  expect(failed.code, failed.stdout + failed.stderr).toBe(5);
  expect(failed.stdout).toMatch(words);
  expect(failed.stdout + failed.stderr).not.toContain('canary');
  expect(await serving()).toEqual(before);
  const steps = failed.stdout.split('\n').filter((line) => line.includes('"step.intended"'));
  expect(steps.length).toBeGreaterThan(0);
  for (const line of steps) expect(JSON.parse(line)).toMatchObject({ stage: 'preflight' });
}

describe('before anything is stopped', () => {
  it('must say that a registry does not have a digest', async () => {
    const missing = { repository: `${open.host}/shop/api`, digest: `sha256:${'3'.repeat(64)}` };
    await mustStopNothing(() => write(2, missing), /The image \S+@sha256:333\S* is not on the engine and its registry does not have it/);
  });

  it('must say that a registry is down', async () => {
    const down = await startRegistry(join(bench.folder, 'down'));
    const lost = await push(down, 'abc');
    await down.stop();
    await mustStopNothing(() => write(2, lost), new RegExp(`cannot reach the registry ${down.host}`), NAMED);
  });

  it('must say that a registry refuses the login, and take the same plan when that was corrected', async () => {
    const secret = await push(closed, 'abc');
    await mustStopNothing(
      () => {
        login('wrong');
        write(2, secret);
      },
      /refuses the image/,
      NAMED,
    );
    await accedeOk(['plan', '--out', workspace.path('plan.json'), workspace.folder], { env: env() });
    const failed = await accede(['apply', ...NAMED, workspace.path('plan.json')], { env: env() });
    expect(failed.code, failed.stderr).toBe(5);
    login(LOGIN.password);
    await accedeOk(['apply', ...NAMED, workspace.path('plan.json')], { env: env() });
  });

  it('must say that an image is for another platform', async () => {
    const other = await push(open, 'abc');
    await mustStopNothing(() => write(2, other, ', platform: linux/s390x'), /s390x/);
  });

  it('must say that a label of an image contradicts the release', async () => {
    const other = await push(open, 'def');
    await mustStopNothing(() => write(2, other), /revision \\"abc\\".*declares \\"def\\"/);
  });
});
