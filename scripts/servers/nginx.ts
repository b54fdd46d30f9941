import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, freePort, type Server, ServerProcess } from './process.ts';

/** A private nginx: its own configuration, pid, logs and temporary folders, all in one folder. */
export interface NginxServer extends Server {
  /** The main configuration file; `sites` is included from it. */
  readonly conf: string;
  readonly binary: string;
  readonly pidFile: string;
  readonly pid: number;
  /** `*.conf` here is included in the `http` block. */
  readonly sites: string;
  /** A port that answers `ok` as long as this nginx runs. */
  readonly port: number;
  readonly url: string;
}

export interface NginxOptions {
  /** Further lines of the `http` block. */
  readonly http?: string;
}

/** Starts an nginx in `folder` (which must exist and be empty) and waits until it answers. Needs no root: it takes a port from the kernel. */
export async function startNginx(folder: string, options: NginxOptions = {}): Promise<NginxServer> {
  const port = await freePort();
  const conf = join(folder, 'nginx.conf');
  const sites = join(folder, 'sites');
  const pidFile = join(folder, 'nginx.pid');
  mkdirSync(sites, { recursive: true });
  writeFileSync(conf, configuration(folder, port, options));

  const process = new ServerProcess('nginx', ['-c', conf, '-e', join(folder, 'error.log'), '-g', 'daemon off;'], {
    log: join(folder, 'output.log'),
    cwd: folder,
  });
  const url = `http://127.0.0.1:${port}/`;
  await process.waitUntil(() => answers(url));
  return { conf, sites, pidFile, port, url, binary: 'nginx', pid: process.pid, stop: () => process.stop() };
}

function configuration(folder: string, port: number, options: NginxOptions): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${join(folder, 'temp', name)};`,
  );
  mkdirSync(join(folder, 'temp'), { recursive: true });
  return [
    // The folder of a test is closed to everybody else, also to the account that workers of a root's nginx change to by default.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'worker_processes 1;',
    `pid ${join(folder, 'nginx.pid')};`,
    `error_log ${join(folder, 'error.log')} notice;`,
    'events { worker_connections 256; }',
    'http {',
    `  access_log ${join(folder, 'access.log')};`,
    ...temporary,
    ...(options.http === undefined ? [] : [options.http]),
    `  server { listen 127.0.0.1:${port}; location / { return 200 "ok"; } }`,
    `  include ${join(folder, 'sites')}/*.conf;`,
    '}',
    '',
  ].join('\n');
}
