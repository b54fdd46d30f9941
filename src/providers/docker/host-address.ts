/** An engine's address as the provider block has it. */
export type HostAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number | undefined }
  | { readonly kind: 'ssh'; readonly user: string | undefined; readonly host: string; readonly port: number | undefined }
  | { readonly kind: 'context'; readonly name: string };

export const DEFAULT_HOST = 'unix:///var/run/docker.sock';

const TCP = /^tcp:\/\/(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?\/?$/;
/** No part may begin with a hyphen, since each becomes an argument of the SSH client. */
const SSH = /^ssh:\/\/(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(\d{1,5}))?\/?$/;
const CONTEXT = /^context:\/\/([A-Za-z0-9][A-Za-z0-9_.+-]*)$/;

/** Reads `unix://path`, `tcp://host:port`, `ssh://user@host:port` and `context://name`; undefined for anything else. */
export function parseHost(text: string): HostAddress | undefined {
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const name = CONTEXT.exec(text)?.[1];
  if (name !== undefined) return { kind: 'context', name };
  const tcp = TCP.exec(text);
  if (tcp?.[1] !== undefined) return { kind: 'tcp', host: bareHost(tcp[1]), port: portOf(tcp[2]) };
  const ssh = SSH.exec(text);
  if (ssh?.[2] !== undefined) return { kind: 'ssh', user: ssh[1], host: bareHost(ssh[2]), port: portOf(ssh[3]) };
  return undefined;
}

function bareHost(text: string): string {
  return text.replace(/^\[(.*)\]$/, '$1');
}

function portOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
