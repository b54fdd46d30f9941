import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localHost } from '../../../src/host/local.ts';
import { localProvider } from '../../../src/providers/local/provider.ts';
import type { ConformanceCase } from '../../conformance/case.ts';
import { providerConformance } from '../../conformance/provider.ts';

const SECRET = 'quiet-as-a-mouse';

providerConformance(
  'local',
  [
    { type: 'local.certificate', live: true },
    { type: 'local.directory', live: true },
    { type: 'local.file', live: true },
    { type: 'local.keypair', live: false },
    { type: 'local.ports', live: false },
    { type: 'local.secret', live: false },
    { type: 'local.value', live: false },
  ],
  async () => {
    const outer = await mkdtemp(join(tmpdir(), 'accede-local-'));
    const folder = join(outer, 'folder');
    await mkdir(folder);
    const path = join(folder, 'motd');
    const tls = join(folder, 'tls');
    const data = join(folder, 'data');
    return {
      provider: localProvider,
      config: { host: 'local', here: true },
      host: localHost(),
      folder,
      types: [
        {
          type: 'local.certificate',
          sample: { names: ['App.Example', '127.0.0.1', '0:0::1'], path: 'tls', validity_days: 30, generation: 1, mode: '640' },
          others: [{ names: ['*.app.example'] }, { names: ['x'], path: tls, owner: 'root' }],
          changes: [
            { attribute: 'path', to: 'other', expect: 'replace' },
            { attribute: 'names', to: ['app.example'], expect: 'update' },
            { attribute: 'validity_days', to: 60, expect: 'update' },
            { attribute: 'mode', to: undefined, expect: 'update' },
          ],
          live: {
            drift: {
              pair: async (ref) => unlink(join(ref, 'certificate.pem')),
              mode: async (ref) => chmod(join(ref, 'key.pem'), 0o600),
            },
            remove: async (ref) => rm(ref, { recursive: true }),
            async foreign() {
              await mkdir(tls);
              return { owner: 'nobody', remove: async () => rmdir(tls) };
            },
            importId: (ref) => ref,
            unknownId: folder,
          },
        },
        {
          type: 'local.directory',
          sample: { path: './data/', mode: '750', marker: true },
          others: [{ path: data }, { path: data, owner: 0, mode: '0700', marker: false }],
          changes: [
            { attribute: 'path', to: 'other', expect: 'replace' },
            { attribute: 'mode', to: undefined, expect: 'update' },
            { attribute: 'marker', to: false, expect: 'update' },
          ],
          live: {
            drift: { mode: async (ref) => chmod(ref, 0o777) },
            remove: async (ref) => rm(ref, { recursive: true }),
            async foreign() {
              await mkdir(data);
              return { owner: 'nobody', remove: async () => rmdir(data) };
            },
            importId: (ref) => ref,
            unknownId: path,
          },
        },
        {
          type: 'local.file',
          sample: { path: './motd', content: `hello ${SECRET}\n`, mode: '640', sensitive: true },
          others: [
            { path, content: '' },
            { path, content: 'x', owner: 'root', group: 0 },
          ],
          changes: [
            { attribute: 'path', to: 'other', expect: 'replace' },
            { attribute: 'content', to: 'other\n', expect: 'update' },
            { attribute: 'mode', to: '0600', expect: 'update' },
            { attribute: 'mode', to: undefined, expect: 'update' },
          ],
          live: {
            drift: {
              content: async (ref) => writeFile(ref, 'changed by hand'),
              mode: async (ref) => chmod(ref, 0o666),
            },
            remove: async (ref) => unlink(ref),
            async foreign() {
              await writeFile(path, 'somebody else');
              return { owner: 'nobody', remove: async () => unlink(path) };
            },
            importId: (ref) => ref,
            unknownId: join(folder, 'no-such-file'),
          },
        },
        {
          type: 'local.keypair',
          sample: { algorithm: 'ed25519', generation: 1, overlap: 2 },
          others: [{}],
          changes: [
            { attribute: 'generation', to: 2, expect: 'update' },
            { attribute: 'overlap', to: 0, expect: 'update' },
          ],
        },
        {
          type: 'local.ports',
          sample: { range: '20000-20009', names: ['api', 'worker'] },
          changes: [
            { attribute: 'range', to: '21000-21009', expect: 'update' },
            { attribute: 'names', to: ['worker', 'web'], expect: 'update' },
          ],
        },
        {
          type: 'local.secret',
          sample: { bytes: 24, encoding: 'base64', generation: 1 },
          others: [{}],
          changes: [
            { attribute: 'generation', to: 2, expect: 'update' },
            { attribute: 'bytes', to: undefined, expect: 'update' },
            { attribute: 'encoding', to: 'base64url', expect: 'update' },
          ],
        },
        {
          type: 'local.value',
          sample: { input: { deep: ['x', 1, true, null] } },
          others: [{ input: null }, { input: 'text' }],
          changes: [
            { attribute: 'input', to: 'other', expect: 'update' },
            { attribute: 'input', to: { deep: ['y', 1, true, null] }, expect: 'update' },
          ],
        },
      ],
      secrets: [SECRET],
      async snapshot() {
        const names = (await readdir(folder, { recursive: true })).sort();
        return Promise.all(
          names.map(async (name) => [name, (await stat(join(folder, name))).isFile() ? await readFile(join(folder, name), 'utf8') : null]),
        );
      },
      leftovers: async () => readdir(folder),
      async unreachable() {
        // A link that leads to itself cannot be passed, not even by root.
        await rename(folder, `${folder}.aside`);
        await symlink(folder, folder);
        return async () => {
          await unlink(folder);
          await rename(`${folder}.aside`, folder);
        };
      },
      close: async () => rm(outer, { recursive: true, force: true }),
    } satisfies ConformanceCase;
  },
);
