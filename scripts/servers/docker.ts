import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Server, ServerProcess } from './process.ts';

/** A private Docker Engine with its own socket, data, bridge and address pool. */
export interface DockerServer extends Server {
  /** `unix://…`, what a provider block takes. */
  readonly host: string;
  readonly socket: string;
  /** The first two numbers of every address that this engine gives by itself: `10.203`. */
  readonly prefix: string;
  /** Ends the engine and starts it again on the same data; containers with a restart policy come back. */
  restart(): Promise<void>;
}

export interface DockerOptions {
  /** More arguments of dockerd, such as `--log-opt=max-size=1m`. */
  readonly args?: readonly string[];
}

/** How many engines may run side by side on this machine. */
const SLOTS = 50;

/**
 * Starts an engine that keeps everything in `folder` (which must exist and have a short path, for the sockets in it) and waits until it answers.
 * `stop` removes what it made outside of the folder: processes, mounts, network links and its firewall rule.
 */
export async function startDocker(folder: string, options: DockerOptions = {}): Promise<DockerServer> {
  const slot = claimSlot();
  const socket = join(folder, 'docker.sock');
  mkdirSync(join(folder, 'data'), { recursive: true });
  const places = [
    '--host',
    `unix://${socket}`,
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'exec'),
    '--pidfile',
    join(folder, 'dockerd.pid'),
  ];
  const addresses = ['--bridge', slot.bridge, '--default-address-pool', `base=${slot.prefix}.0.0/17,size=24`];
  // Every engine of a machine would rewrite the same firewall chains at its start, under the feet of the others. Without them ports are
  // published by the engine's own proxies, and one rule lets the containers of this engine reach each other.
  const manners = ['--iptables=false', '--ip-masq=false', '--shutdown-timeout', '5', '--log-level', 'warn'];
  const args = [...places, ...addresses, ...manners, ...(options.args ?? [])];
  const start = async () => {
    const server = new ServerProcess('dockerd', args, { log: join(folder, 'dockerd.log'), cwd: folder });
    await server.waitUntil(() => ping(socket));
    return server;
  };
  let server: ServerProcess;
  try {
    server = await start();
  } catch (error) {
    cleanUp(folder, slot, []);
    throw error;
  }
  let isStopped = false;
  return {
    host: `unix://${socket}`,
    socket,
    prefix: slot.prefix,
    restart: async () => {
      await server.stop();
      server = await start();
    },
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      const links = server.running ? await networkLinks(socket) : [];
      await server.stop();
      cleanUp(folder, slot, links);
    },
  };
}

interface Slot {
  readonly bridge: string;
  readonly prefix: string;
}

/** Takes a bridge name that nobody has: the kernel refuses a second one of that name, so the name is the lock on its addresses. */
function claimSlot(): Slot {
  for (let number = 0; number < SLOTS; number++) {
    const slot = { bridge: `accdocker${number}`, prefix: `10.${200 + number}` };
    if (isInUse(slot)) continue;
    if (run('ip', ['link', 'add', slot.bridge, 'type', 'bridge']).status !== 0) continue;
    const steps = [
      ['link', 'set', slot.bridge, 'alias', `pid ${process.pid}`],
      ['addr', 'add', `${slot.prefix}.255.1/24`, 'dev', slot.bridge],
      ['link', 'set', slot.bridge, 'up'],
    ];
    for (const step of steps) {
      const { status, stderr } = run('ip', step);
      if (status === 0) continue;
      removeLink(slot.bridge);
      throw new Error(`ip ${step.join(' ')}: ${stderr}`);
    }
    run('iptables', ['-w', '-I', 'FORWARD', ...forwardRule(slot)]);
    return slot;
  }
  throw new Error(`no bridge for a Docker Engine could be made; are ${SLOTS} of them running, or is this not root?`);
}

function forwardRule(slot: Slot): readonly string[] {
  return ['-s', `${slot.prefix}.0.0/16`, '-d', `${slot.prefix}.0.0/16`, '-j', 'ACCEPT'];
}

/** Whether a living process has the slot, or its addresses are another's. A bridge whose process died is removed. */
function isInUse(slot: Slot): boolean {
  const links = linkList();
  const own = links.find((link) => link.name === slot.bridge);
  if (own !== undefined) {
    const owner = /^pid (\d+)$/.exec(own.alias)?.[1];
    if (owner === undefined || isAlive(Number(owner))) return true;
    for (const link of links.filter((other) => belongsTo(slot, other))) removeLink(link.name);
    return false;
  }
  return links.some((link) => belongsTo(slot, link));
}

function belongsTo(slot: Slot, link: Link): boolean {
  return link.name === slot.bridge || link.addresses.some((address) => address.startsWith(`${slot.prefix}.`));
}

interface Link {
  readonly name: string;
  readonly alias: string;
  readonly addresses: readonly string[];
}

function linkList(): readonly Link[] {
  const { stdout } = run('ip', ['-json', 'address', 'show']);
  const list = JSON.parse(stdout === '' ? '[]' : stdout) as readonly {
    readonly ifname?: string;
    readonly ifalias?: string;
    readonly addr_info?: readonly { readonly local?: string }[];
  }[];
  return list.map((link) => ({
    name: link.ifname ?? '',
    alias: link.ifalias ?? '',
    addresses: (link.addr_info ?? []).flatMap((info) => info.local ?? []),
  }));
}

function removeLink(name: string): void {
  run('ip', ['link', 'delete', name]);
}

/** Removes what an engine leaves behind outside of its folder. */
function cleanUp(folder: string, slot: Slot, links: readonly string[]): void {
  for (const pid of processesOf(folder)) killIfAlive(pid);
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`));
  for (const path of mounts.toReversed()) run('umount', ['--lazy', path]);
  const gone = new Set([
    ...links,
    ...linkList()
      .filter((link) => belongsTo(slot, link))
      .map((link) => link.name),
  ]);
  for (const name of gone) removeLink(name);
  while (run('iptables', ['-w', '-D', 'FORWARD', ...forwardRule(slot)]).status === 0);
}

/** The processes that work in an engine's folder: its containers' minders, when the engine was killed. */
function processesOf(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => commandLine(name).includes(`${folder}/exec`))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

function run(
  program: string,
  args: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const result = spawnSync(program, args, { encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return result;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function killIfAlive(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL');
}

function ping(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ socketPath: socket, path: '/_ping', timeout: 2000 }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode === 200));
    });
    asked.on('error', () => resolve(false));
    asked.on('timeout', () => asked.destroy());
    asked.end();
  });
}

/** The bridges of the engine's own networks, which outlive it. */
async function networkLinks(socket: string): Promise<readonly string[]> {
  const reply = await ask(socket, { path: '/networks', method: 'GET' });
  const networks = JSON.parse(reply.body.toString('utf8')) as readonly {
    readonly Id: string;
    readonly Driver: string;
    readonly Name: string;
  }[];
  return networks
    .filter((network) => network.Driver === 'bridge' && network.Name !== 'bridge')
    .map((network) => `br-${network.Id.slice(0, 12)}`);
}

/** Sends one request to an engine's socket and gives back its whole reply. */
export function ask(
  socket: string,
  call: {
    readonly path: string;
    readonly method: string;
    readonly body?: Buffer;
    readonly type?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const about = call.body === undefined ? {} : { 'content-type': call.type ?? 'application/json', 'content-length': call.body.length };
    const headers = { ...about, ...call.headers };
    const asked = request({ socketPath: socket, path: call.path, method: call.method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks) }));
      reply.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(call.body);
  });
}
