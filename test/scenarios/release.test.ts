import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { type RegistryServer, startRegistry } from '../../scripts/servers/registry.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';

const LOGIN = { username: 'puller', password: 'canary-password' };
const ZERO = `sha256:${'0'.repeat(64)}`;

let bench: Bench;
let open: RegistryServer;
let closed: RegistryServer;
let workspace: Workspace;

beforeAll(async () => {
  bench = await Bench.start();
  mkdirSync(join(bench.folder, 'open'));
  mkdirSync(join(bench.folder, 'closed'));
  open = await startRegistry(join(bench.folder, 'open'));
  closed = await startRegistry(join(bench.folder, 'closed'), { login: LOGIN });
}, 60_000);

afterAll(async () => {
  await closed.stop();
  await open.stop();
  await bench.stop();
});

afterEach(async () => {
  workspace.remove();
  await bench.clear();
  for (const { Id } of (await bench.hand('GET', '/images/json')) as { readonly Id: string }[]) await bench.dropImage(Id);
});

/** Puts an image into a registry; it stays on the engine as well. */
async function push(server: RegistryServer, name: string, commit: string | undefined, tag: string) {
  const repository = `${server.host}/${name}`;
  const labels = { 'org.opencontainers.image.source': 'https://git.example/shop' };
  const { id } = await buildImage(bench.engine.host, {
    name: repository,
    tag,
    labels: commit === undefined ? labels : { ...labels, 'org.opencontainers.image.revision': commit },
    entrypoint: ['/bin/sleep'],
    cmd: ['1000000'],
    files: { '/version': commit ?? 'none' },
  });
  const auth = server === closed ? { ...LOGIN, serveraddress: server.host } : {};
  const log = await bench.text('POST', `/images/${repository}/push?tag=${tag}`, undefined, {
    'x-registry-auth': Buffer.from(JSON.stringify(auth)).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  });
  const digest = /"Digest":"(sha256:[0-9a-f]{64})"/.exec(log)?.[1];
  if (digest === undefined) throw new Error(`the push went wrong: ${log}`);
  return { id, digest, repository };
}

const environment = (release = 'release.yaml') => `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
release: ${release}
providers:
  docker: { host: "${bench.engine.host}" }
resources:
  docker.container:
    api: { image: "\${release.services.api.image}", stop_signal: KILL, ready: { command: ["true"], interval: 100ms } }
`;

const release = (image: string) => `# what runs
apiVersion: accede/v1
kind: Release
metadata: { name: shop, version: "1" }
services:
  # the api
  api: { image: ${image} } # looked after by dana
`;

const written = () => readFileSync(join(workspace.folder, 'release.yaml'), 'utf8');

describe('release lock', () => {
  it('must write the digests that the tags mean now, keep everything else, and make an environment that applies', async () => {
    const first = await push(open, 'shop/api', 'one', 'stable');
    workspace = new Workspace({ 'environment.yaml': environment(), 'release.yaml': release(`"${first.repository}:stable"`) });
    expect((await accede(['validate', workspace.folder])).code).toBe(1);
    const checked = await accedeOk(['release', 'lock', '--check', workspace.folder], { code: 2 });
    expect(checked.stdout).toContain('nothing was written');
    expect(written()).toBe(release(`"${first.repository}:stable"`));
    await accedeOk(['release', 'lock', workspace.folder]);
    const locked = (digest: string) => release(`"${first.repository}:stable@${digest}"`);
    expect(written()).toBe(locked(first.digest));
    await accedeOk(['release', 'lock', '--check', workspace.folder]);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const second = await push(open, 'shop/api', 'two', 'stable');
    const told = await accedeOk(['release', 'lock', '--json', workspace.folder]);
    expect(JSON.parse(told.stdout)).toMatchObject({
      format: 'accede.release-edit/v1',
      changed: true,
      written: true,
      entries: [{ entry: 'services.api', before: { digest: first.digest }, after: { digest: second.digest, tag: 'stable' } }],
    });
    expect(written()).toBe(locked(second.digest));
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const [container] = (await bench.hand('GET', '/containers/json')) as readonly { readonly ImageID: string }[];
    expect(container?.ImageID).toBe(second.id);
  });

  it('must use the login of the registry, and write nothing when a tag cannot be looked up', async () => {
    const image = await push(closed, 'shop/api', 'one', 'stable');
    workspace = new Workspace({ 'environment.yaml': environment(), 'release.yaml': release(`${image.repository}:stable`) });
    const refused = await accede(['release', 'lock', workspace.folder]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('IMAGE_LOOKUP_FAILED');
    expect(refused.stderr).toContain(`docker login ${closed.host}`);
    expect(written()).toBe(release(`${image.repository}:stable`));
    const config = mkdtempSync(join(bench.folder, 'config-'));
    const auth = Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString('base64');
    writeFileSync(join(config, 'config.json'), JSON.stringify({ auths: { [closed.host]: { auth } } }));
    const locked = await accedeOk(['release', 'lock', workspace.folder], { env: { DOCKER_CONFIG: config } });
    expect(written()).toContain(image.digest);
    expect(refused.stdout + refused.stderr + locked.stdout + locked.stderr).not.toContain(LOGIN.password);
    const missing = await accede(['release', 'set', `api=${open.host}/shop/none:x`, workspace.folder]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('does not have it');
    expect(written()).toContain(image.digest);
  });
});

describe('release set', () => {
  it('must fill in the source from the labels of the image, and warn of what is missing', async () => {
    const image = await push(open, 'shop/api', 'abc', 'one');
    const bare = await push(open, 'shop/bare', undefined, 'one');
    workspace = new Workspace({ 'environment.yaml': environment(), 'release.yaml': release(`reg.example/api@${ZERO}`) });
    await accedeOk(['release', 'set', `api=${image.repository}@${image.digest}`, '--from-labels', workspace.folder]);
    const source = 'source: { repository: "https://git.example/shop", commit: "abc" }';
    expect(written()).toBe(release(`${image.repository}@${image.digest}, ${source}`));
    await accedeOk(['validate', workspace.folder]);
    const warned = await accedeOk(['release', 'set', `api=${bare.repository}:one`, '--from-labels', workspace.folder]);
    expect(warned.stderr).toContain('IMAGE_LABELS_MISSING');
    expect(written()).toContain(`${bare.repository}:one@${bare.digest}, ${source}`);
    await bench.dropImage(image.id);
    const gone = await accede(['release', 'set', `api=${image.repository}@${image.digest}`, '--from-labels', workspace.folder]);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('docker pull');
    expect(written()).toContain(bare.digest);
  });
});

describe('a signed release', () => {
  it('must be needed for a plan once the environment trusts keys, through every step from the key to the state', async () => {
    const image = await push(open, 'shop/api', 'one', 'stable');
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const trusted = `ed25519:${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
    const keys = mkdtempSync(join(bench.folder, 'keys-'));
    const key = join(keys, 'release.pem');
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o644 });
    workspace = new Workspace({
      'environment.yaml': environment(`{ file: release.yaml, signature: release.sig, keys: ["${trusted}"] }`),
      'release.yaml': release(`"${image.repository}@${image.digest}"`),
    });
    const plan = () => accede(['plan', '--json', workspace.folder]);
    const codeOf = (ran: { readonly stdout: string }) => (JSON.parse(ran.stdout) as { error?: { code: string } }).error?.code;
    expect(codeOf(await plan())).toBe('RELEASE_SIGNATURE_MISSING');
    const shy = await accede(['release', 'sign', workspace.folder, '--key', key, '--json']);
    expect(codeOf(shy)).toBe('SIGNING_KEY_UNUSABLE');
    chmodSync(key, 0o600);
    await accedeOk(['release', 'sign', workspace.folder, '--key', key]);
    const verified = await accedeOk(['release', 'verify', workspace.folder]);
    expect(verified.stdout).toContain('Verified shop 1');
    await accedeOk(['release', 'verify', join(workspace.folder, 'release.yaml'), '--key', trusted]);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    await accedeOk(['release', 'set', `api=${ZERO}`, workspace.folder]);
    expect(codeOf(await plan())).toBe('RELEASE_ALTERED');
    expect((await accede(['apply', '--auto-approve', workspace.folder])).code).toBe(1);
    const stranger = join(keys, 'stranger.pem');
    writeFileSync(stranger, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    await accedeOk(['release', 'sign', workspace.folder, '--key', stranger]);
    expect(codeOf(await plan())).toBe('RELEASE_KEY_UNTRUSTED');
    expect(codeOf(await accede(['release', 'verify', '--json', workspace.folder]))).toBe('RELEASE_KEY_UNTRUSTED');
    workspace.write('environment.yaml', readFileSync(join(workspace.folder, 'environment.yaml'), 'utf8').replace('KILL', 'TERM'));
    workspace.write('release.yaml', release(`"${image.repository}@${image.digest}", sbom: "${ZERO}"`));
    await accedeOk(['release', 'sign', workspace.folder, '--key', key]);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    // What is gone back to has its own signature with it.
    await accedeOk(['rollback', '--auto-approve', workspace.folder]);
    const pem = readFileSync(key, 'utf8').split('\n')[1] ?? '';
    const state = await accedeOk(['state', 'pull', workspace.folder]);
    expect(state.stdout).not.toContain(pem);
  });
});
