import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packTar, type TarEntry } from 'modern-tar';
import { ask } from './docker.ts';

/** What a test image is made of. Everything but the name has a default; equal specs give equal ids. */
export interface ImageSpec {
  /** Repository, and tag where it is to have one: `shop/web:1`. */
  readonly name?: string;
  readonly tag?: string;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly workdir?: string;
  /** `80/tcp` */
  readonly expose?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: {
    readonly test: readonly string[];
    readonly intervalMs?: number;
    readonly timeoutMs?: number;
    readonly retries?: number;
  };
  readonly stopSignal?: string;
  /** Content by absolute path in the image. */
  readonly files?: Readonly<Record<string, string>>;
}

const BUSYBOX = '/bin/busybox';
const EPOCH = '1970-01-01T00:00:00Z';

/** An image as `docker save` writes it, with its id. */
export interface ImageArchive {
  readonly id: string;
  readonly archive: Buffer;
}

/** Makes an archive of a busybox image: its programs in /bin, accounts for root and `app` (10001:10001), and the files of the spec. */
export async function imageArchive(spec: ImageSpec): Promise<ImageArchive> {
  const { ids, archive } = await imagesArchive([spec]);
  return { id: ids[0] ?? '', archive };
}

/** Makes one archive of several images; the ids are in the order of the specs. */
export async function imagesArchive(specs: readonly ImageSpec[]): Promise<{ readonly ids: readonly string[]; readonly archive: Buffer }> {
  const images = await Promise.all(
    specs.map(async (spec) => {
      const layer = Buffer.from(await packTar([...busyboxEntries(), ...fileEntries(spec.files ?? {})]));
      const config = Buffer.from(JSON.stringify(imageConfig(spec, sha256(layer))));
      const reference = spec.name === undefined ? undefined : `${spec.name}:${spec.tag ?? 'latest'}`;
      return { id: sha256(config), layer, config, tags: reference === undefined ? null : [reference] };
    }),
  );
  const manifest = images.map(({ id, tags }) => ({ Config: `${id}.json`, RepoTags: tags, Layers: [`${id}/layer.tar`] }));
  const archive = await packTar([
    ...images.flatMap(({ id, layer, config }) => [
      fileEntry(`${id}.json`, config),
      directory(id, 0o755),
      fileEntry(`${id}/layer.tar`, layer),
    ]),
    fileEntry('manifest.json', Buffer.from(JSON.stringify(manifest))),
  ]);
  return { ids: images.map(({ id }) => `sha256:${id}`), archive: Buffer.from(archive) };
}

/** Makes an image on the engine at `host` (`unix://…`) and gives back its id. */
export async function buildImage(host: string, spec: ImageSpec): Promise<{ readonly id: string }> {
  const { id, archive } = await imageArchive(spec);
  await loadImage(host, archive);
  return { id };
}

/** Loads an archive into the engine at `host`. */
export async function loadImage(host: string, archive: Buffer): Promise<void> {
  const socket = host.replace(/^unix:\/\//, '');
  const reply = await ask(socket, { path: '/images/load?quiet=1', method: 'POST', body: archive, type: 'application/x-tar' });
  const text = reply.body.toString('utf8');
  if (reply.status !== 200 || text.includes('"errorDetail"')) throw new Error(`the engine did not load the image: ${text}`);
}

function imageConfig(spec: ImageSpec, diffId: string): object {
  const check = spec.healthcheck;
  return {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    created: EPOCH,
    config: {
      Entrypoint: spec.entrypoint ?? null,
      Cmd: spec.cmd ?? ['sleep', '1000000'],
      Env: Object.entries({ PATH: '/bin', ...spec.env }).map(([name, value]) => `${name}=${value}`),
      Labels: spec.labels ?? null,
      User: spec.user ?? '',
      WorkingDir: spec.workdir ?? '',
      ExposedPorts: setOf(spec.expose),
      Volumes: setOf(spec.volumes),
      ...(spec.stopSignal === undefined ? {} : { StopSignal: spec.stopSignal }),
      ...(check === undefined
        ? {}
        : {
            Healthcheck: {
              Test: check.test,
              Interval: (check.intervalMs ?? 0) * 1e6,
              Timeout: (check.timeoutMs ?? 0) * 1e6,
              Retries: check.retries ?? 0,
            },
          }),
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
    history: [{ created: EPOCH, created_by: 'test image' }],
  };
}

function setOf(names: readonly string[] | undefined): object | null {
  return names === undefined ? null : Object.fromEntries(names.map((name) => [name, {}]));
}

function busyboxEntries(): readonly TarEntry[] {
  const { stdout, error } = spawnSync(BUSYBOX, ['--list'], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  const applets = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  return [
    ...['bin', 'etc', 'tmp', 'var', 'run'].map((name) => directory(name, name === 'tmp' ? 0o1777 : 0o755)),
    { header: { ...base('bin/busybox', 0o755), size: readFileSync(BUSYBOX).length }, body: readFileSync(BUSYBOX) },
    ...applets.map((name): TarEntry => ({ header: { ...base(`bin/${name}`, 0o777), size: 0, type: 'symlink', linkname: 'busybox' } })),
    fileEntry('etc/passwd', Buffer.from('root:x:0:0:root:/:/bin/sh\napp:x:10001:10001:app:/:/bin/sh\n')),
    fileEntry('etc/group', Buffer.from('root:x:0:\naudio:x:29:\napp:x:10001:\n')),
  ];
}

function fileEntries(files: Readonly<Record<string, string>>): readonly TarEntry[] {
  const known = new Set(['bin', 'etc', 'tmp', 'var', 'run']);
  return Object.entries(files).flatMap(([path, content]) => {
    const parts = path.replace(/^\//, '').split('/');
    const parents = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
    const missing = parents.filter((parent) => !known.has(parent));
    for (const parent of missing) known.add(parent);
    return [...missing.map((parent) => directory(parent, 0o755)), fileEntry(parts.join('/'), Buffer.from(content))];
  });
}

function directory(name: string, mode: number): TarEntry {
  return { header: { ...base(name, mode), size: 0, type: 'directory' } };
}

function fileEntry(name: string, body: Buffer): TarEntry {
  return { header: { ...base(name, 0o644), size: body.length }, body };
}

function base(name: string, mode: number) {
  return { name, mode, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' };
}

function sha256(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
