import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort, type Server, ServerProcess } from './process.ts';

/** A private SSH server on the loopback, into which the present user comes with a key of its own. */
export interface SshServer extends Server {
  readonly port: number;
  readonly user: string;
  /** A folder for PATH, in which `ssh` is the real client with the key and the known host of this server and no settings of the user's. */
  readonly path: string;
  /** How often somebody has logged in so far. */
  logins(): number;
}

const CLIENT = '/usr/bin/ssh';

/** Starts a server that keeps everything in `folder` (which must exist); sessions get `environment`. */
export async function startSsh(folder: string, environment: Readonly<Record<string, string>>): Promise<SshServer> {
  const port = await freePort();
  const user = userInfo().username;
  const log = join(folder, 'sshd.log');
  const [hostKey, userKey] = [join(folder, 'host_key'), join(folder, 'user_key')];
  for (const key of [hostKey, userKey]) keygen(key);
  copyFileSync(`${userKey}.pub`, join(folder, 'authorized_keys'));
  const [kind = '', public_ = ''] = readFileSync(`${hostKey}.pub`, 'utf8').split(' ');
  writeFileSync(join(folder, 'known_hosts'), `[127.0.0.1]:${port} ${kind} ${public_}\n`);
  const settings = {
    Port: String(port),
    ListenAddress: '127.0.0.1',
    HostKey: hostKey,
    AuthorizedKeysFile: join(folder, 'authorized_keys'),
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
    LogLevel: 'VERBOSE',
    SetEnv: Object.entries(environment)
      .map(([name, text]) => `${name}=${text}`)
      .join(' '),
  };
  const lines = Object.entries(settings).filter(([, text]) => text !== '');
  writeFileSync(join(folder, 'sshd_config'), lines.map(([name, text]) => `${name} ${text}\n`).join(''));
  // The server drops its rights in this folder and does not make it.
  mkdirSync('/run/sshd', { recursive: true });
  const path = join(folder, 'bin');
  mkdirSync(path);
  const options = [`IdentityFile=${userKey}`, 'IdentitiesOnly=yes', `UserKnownHostsFile=${join(folder, 'known_hosts')}`];
  writeFileSync(join(path, 'ssh'), `#!/bin/sh\nexec ${CLIENT} -F none ${options.map((option) => `-o ${option}`).join(' ')} "$@"\n`);
  chmodSync(join(path, 'ssh'), 0o755);
  const server = new ServerProcess('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'sshd_config')], { log, cwd: folder });
  await server.waitUntil(() => listens(port));
  return {
    port,
    user,
    path,
    logins: () => readFileSync(log, 'utf8').match(/^Accepted publickey/gm)?.length ?? 0,
    stop: () => server.stop(),
  };
}

function keygen(path: string): void {
  const { status, stderr, error } = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`ssh-keygen: ${stderr}`);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
