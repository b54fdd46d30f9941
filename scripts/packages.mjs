// Installs the Debian packages that the tests' private servers come from, without starting any service of the machine.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

export const PACKAGES = [
  'busybox-static',
  'docker-registry',
  'docker.io',
  'faketime',
  'iproute2',
  'iptables',
  'mariadb-server',
  'nginx-light',
  'openssh-server',
  'strace',
];

/** Asked by Debian's maintainer scripts before they start a service; exit code 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Installs what is missing. Returns undefined when everything is there, otherwise a sentence that says what is in the way. */
export function installPackages() {
  const missing = missingPackages();
  if (missing === undefined)
    return 'This is not a Debian machine (there is no dpkg-query). The servers of the tests come from Debian packages.';
  if (missing.length === 0) {
    console.log('All packages are installed.');
    return undefined;
  }
  if (process.getuid?.() !== 0) {
    return `These Debian packages are missing, and only root may install them: ${missing.join(' ')}. Run: sudo apt-get install --no-install-recommends ${missing.join(' ')}`;
  }
  console.log(`Installing ${missing.join(' ')} ...`);
  return withoutServices(() => apt(['update']) ?? apt(['install', '--yes', '--no-install-recommends', ...missing]) ?? stillMissing());
}

function stillMissing() {
  const missing = missingPackages();
  return missing?.length === 0 ? undefined : `apt-get ended well, but these packages are still missing: ${missing?.join(' ')}.`;
}

/** Undefined where dpkg itself is missing. */
function missingPackages() {
  const query = spawnSync('dpkg-query', ['--show', '--showformat', '${Package} ${db:Status-Status}\\n', ...PACKAGES], { encoding: 'utf8' });
  if (query.error) return undefined;
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return PACKAGES.filter((name) => !installed.has(name));
}

function withoutServices(install) {
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return install();
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}

function apt(args) {
  const run = spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3', ...args], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15 * 60_000,
  });
  if (run.error === undefined && run.status === 0) return undefined;
  const lines = `${run.stdout ?? ''}${run.stderr ?? ''}`.trim().split('\n').slice(-15);
  console.error(lines.map(withoutHosts).join('\n'));
  return `apt-get ${args[0]} failed (${run.error?.message ?? `exit code ${run.status}`}).`;
}

/** A mirror's name belongs to the machine, not into a log that people share. */
function withoutHosts(line) {
  return line.replaceAll(/(?:https?|ftp):\/\/\S+/g, '<mirror>').replaceAll(/'[\w.-]+\.[a-z]{2,}'/g, '<mirror>');
}
