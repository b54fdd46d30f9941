import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { type StatePlace, stateConformance } from '../conformance/state.ts';
import { backupConformance } from '../conformance/state-backup.ts';
import { encryptionConformance } from '../conformance/state-encryption.ts';
import { leaseConformance } from '../conformance/state-lease.ts';
import { readinessConformance } from '../conformance/state-readiness.ts';

let folder: string;
let server: MariadbServer;
let databases = 0;

beforeAll(async () => {
  folder = mkdtempSync('/tmp/acc-db-');
  server = await startMariadb(folder);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function place(): Promise<StatePlace> {
  databases += 1;
  const database = `state${databases}`;
  await server.execute(`CREATE DATABASE ${database}`);
  const { host, port, user } = server;
  return {
    location: { backend: 'mysql', prefix: 'accede_', server: { host, port, user, database, place: `the database ${database}` } },
    age: async (ms) => {
      await server.execute(`UPDATE accede_lock SET lease_end = lease_end - ${ms}`, database);
    },
    remove: async () => {
      await server.execute(`DROP DATABASE ${database}`);
    },
  };
}

stateConformance('MariaDB', place);
encryptionConformance('MariaDB', place);
backupConformance('MariaDB', place);
leaseConformance('MariaDB', place);
readinessConformance('MariaDB', place);
