import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateConformance } from '../../conformance/state.ts';

stateConformance('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'accede-state-'));
  return {
    location: { backend: 'sqlite', path: join(folder, 'state', 'state.db') },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});
