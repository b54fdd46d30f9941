import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';

let folder: string;
let server: MariadbServer;
let workspace: Workspace;

beforeAll(async () => {
  folder = mkdtempSync('/tmp/acc-rbdb-');
  server = await startMariadb(folder);
  await server.execute('CREATE DATABASE shared');
  await server.execute("CREATE USER 'accede'@'%' IDENTIFIED BY 'canary-database-90aa'");
  await server.execute("GRANT ALL ON shared.* TO 'accede'@'%'");
  workspace = new Workspace();
});
afterAll(async () => {
  workspace?.remove();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function write(version: number, secret = 'database'): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
state: { backend: mysql, host: ${server.host}, port: ${server.port}, user: accede, password: "\${secrets.${secret}}", database: shared }
secrets: { ${secret}: { env: ${secret.toUpperCase()} } }
resources:
  local.file: { a: { path: a.txt, content: "\${file('a.tpl')}" } }
`,
  );
  workspace.write('a.tpl', `version ${version} ü\n`);
}

const run = (argv: readonly string[], code = 0) =>
  accedeOk([...argv, workspace.folder], { code, env: { DATABASE: 'canary-database-90aa', OTHER: 'canary-database-90aa' } });

it('must go back with the state in a database, whatever its password is called by now', async () => {
  for (const version of [1, 2, 3]) {
    write(version);
    await run(['apply', '--auto-approve']);
  }
  write(4, 'other');
  const { stdout, stderr } = await run(['rollback', '--to', '1', '--auto-approve']);
  expect(workspace.read('a.txt')).toBe('version 1 ü\n');
  expect(stdout + stderr).not.toContain('canary');
  await run(['rollback', '--auto-approve']);
  expect(workspace.read('a.txt')).toBe('version 3 ü\n');
  expect((await run(['diff', '1', '3'])).stdout).toContain('~ a.tpl');
  expect((await run(['state', 'prune', '--keep', '2'])).stdout).toContain('Forgot 3 operations');
  expect((await run(['status'])).stdout).toMatch(/rollback +to #4\n/);
  await run(['rollback', '--to', '4', '--auto-approve']);
  expect(workspace.read('a.txt')).toBe('version 1 ü\n');
  await run(['audit', 'verify']);
});
