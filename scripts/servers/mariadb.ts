import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, type Server, ServerProcess } from './process.ts';

/** A private MariaDB with its data, socket and port in one folder. The account `root` has no password, on 127.0.0.1 and on the socket. */
export interface MariadbServer extends Server {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly socket: string;
  readonly user: 'root';
  readonly pid: number;
  /** Runs SQL through the command-line client and returns its tab-separated rows without a header. Throws with the server's words. */
  execute(sql: string, database?: string): Promise<string>;
  /** Ends it as a crash would; `start` brings it back on the same data and port. */
  kill(): Promise<void>;
  /** Starts it again after `stop` or `kill` and waits until it answers. */
  start(): Promise<void>;
}

/** The longest path that a unix socket may have. */
const SOCKET_PATH_MAX = 107;

/**
 * Makes a database in `folder` (which must exist and be empty), starts its server with these options too, and waits until it answers. The server gets
 * what `environment` adds.
 */
export async function startMariadb(
  folder: string,
  settings: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<MariadbServer> {
  const data = join(folder, 'data');
  const socket = join(folder, 's');
  if (socket.length > SOCKET_PATH_MAX)
    throw new Error(`${socket} is too long for a unix socket; take a folder directly under ${tmpdir()}.`);
  const user = userInfo().username;
  const port = await freePort();
  await mkdir(join(folder, 'tmp'));
  await run(
    'mariadb-install-db',
    ['--no-defaults', `--user=${user}`, '--auth-root-authentication-method=normal', '--skip-test-db', `--datadir=${data}`],
    {
      log: join(folder, 'install.log'),
    },
  );

  const options = [
    '--no-defaults',
    `--user=${user}`,
    `--datadir=${data}`,
    `--tmpdir=${join(folder, 'tmp')}`,
    `--socket=${socket}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--pid-file=${join(folder, 'mariadb.pid')}`,
    '--character-set-server=utf8mb4',
    '--innodb-buffer-pool-size=64M',
    '--skip-name-resolve',
    ...settings,
  ];
  const execute = (sql: string, database?: string) => client(socket, sql, database);
  const start = async () => {
    const started = new ServerProcess('mariadbd', options, { log: join(folder, 'mariadb.log'), environment });
    await started.waitUntil(() => isUp(execute));
    return started;
  };
  let server = await start();
  return {
    host: '127.0.0.1',
    port,
    socket,
    user: 'root',
    get pid() {
      return server.pid;
    },
    execute,
    stop: () => server.stop(),
    kill: () => server.kill(),
    start: async () => {
      if (!server.running) server = await start();
    },
  };
}

async function isUp(execute: (sql: string) => Promise<string>): Promise<boolean> {
  try {
    return (await execute('SELECT 1')).trim() === '1';
  } catch (error) {
    if (error instanceof ClientError && error.unreachable) return false;
    throw error;
  }
}

/** The command-line client did not do it. */
class ClientError extends Error {
  override readonly name = 'ClientError';
  /** There was no server to talk to (client errors 2002 and 2013). */
  readonly unreachable: boolean;

  constructor(message: string) {
    super(message);
    this.unreachable = /^ERROR (?:2002|2013)\b/m.test(message);
  }
}

async function client(socket: string, sql: string, database: string | undefined): Promise<string> {
  const child = spawn('mariadb', [
    '--no-defaults',
    `--socket=${socket}`,
    '--user=root',
    '--batch',
    '--skip-column-names',
    ...(database === undefined ? [] : [database]),
  ]);
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // A client that finds no server ends before it reads: that is told by its exit code, not by the broken pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(sql);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new ClientError(errors.trim() || `mariadb ended with ${code}`);
  return output;
}

async function run(program: string, args: readonly string[], options: { readonly log: string }): Promise<void> {
  const log = openSync(options.log, 'a', 0o600);
  const child = spawn(program, args, { stdio: ['ignore', log, log] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}; see ${options.log}.`);
}
