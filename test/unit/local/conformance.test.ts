import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
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
    { type: 'local.file', live: true },
    { type: 'local.value', live: false },
  ],
  async () => {
    const outer = await mkdtemp(join(tmpdir(), 'accede-local-'));
    const folder = join(outer, 'folder');
    await mkdir(folder);
    const path = join(folder, 'motd');
    return {
      provider: localProvider,
      config: { host: 'local', here: true },
      host: localHost(),
      folder,
      types: [
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
        const names = (await readdir(folder)).sort();
        return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
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
