import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, freePort, type Server, ServerProcess } from './process.ts';

/** A private image registry on plain HTTP at a loopback port, which engines take without being told. */
export interface RegistryServer extends Server {
  readonly port: number;
  /** `127.0.0.1:PORT`: what an image name starts with. */
  readonly host: string;
  readonly url: string;
  readonly pid: number;
}

export interface RegistryOptions {
  /** The only user whom the registry knows; without one it asks for none. */
  readonly login?: { readonly username: string; readonly password: string };
  /** A free one is taken unless it is given. */
  readonly port?: number;
}

/** Starts a registry that keeps its blobs in `folder` (which must exist) and waits until it answers. */
export async function startRegistry(folder: string, options: RegistryOptions = {}): Promise<RegistryServer> {
  const port = options.port ?? (await freePort());
  const accounts = join(folder, 'htpasswd');
  if (options.login !== undefined) writeFileSync(accounts, `${accountLine(options.login)}\n`, { mode: 0o600 });
  const config = join(folder, 'registry.yml');
  // JSON is YAML.
  writeFileSync(
    config,
    `${JSON.stringify({
      version: '0.1',
      log: { level: 'info' },
      storage: { filesystem: { rootdirectory: join(folder, 'blobs') }, delete: { enabled: true } },
      http: { addr: `127.0.0.1:${port}` },
      ...(options.login === undefined ? {} : { auth: { htpasswd: { realm: 'test', path: accounts } } }),
    })}\n`,
  );
  const server = new ServerProcess('docker-registry', ['serve', config], { log: join(folder, 'registry.log'), cwd: folder });
  const url = `http://127.0.0.1:${port}`;
  await server.waitUntil(() => answers(`${url}/v2/`));
  return { port, url, host: `127.0.0.1:${port}`, pid: server.pid, stop: () => server.stop() };
}

/** The line of a user, with the password as bcrypt keeps it. */
function accountLine(login: { readonly username: string; readonly password: string }): string {
  const salt = '$2b$04$abcdefghijklmnopqrstuu';
  const { stdout, error } = spawnSync('perl', ['-e', 'chomp($p = <STDIN>); print crypt($p, $ARGV[0])', salt], {
    input: `${login.password}\n`,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  if (!stdout.startsWith('$2b$')) throw new Error('perl gave no bcrypt hash');
  return `${login.username}:${stdout}`;
}
