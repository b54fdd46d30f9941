import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { type StatePlace, stateConformance } from '../../conformance/state.ts';
import { backupConformance } from '../../conformance/state-backup.ts';
import { encryptionConformance } from '../../conformance/state-encryption.ts';
import { leaseConformance } from '../../conformance/state-lease.ts';
import { readinessConformance } from '../../conformance/state-readiness.ts';

async function place(): Promise<StatePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'accede-state-'));
  const path = join(folder, 'state', 'state.db');
  return {
    location: { backend: 'sqlite', path },
    age: async (ms) => {
      const database = new Database(path, { timeout: 5_000 });
      database.prepare('UPDATE accede_lock SET lease_end = lease_end - ?').run(ms);
      database.close();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

stateConformance('SQLite', place);
encryptionConformance('SQLite', place);
backupConformance('SQLite', place);
leaseConformance('SQLite', place);
readinessConformance('SQLite', place);
