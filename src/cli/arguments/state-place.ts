import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import { Sensitive } from '../../core/value.ts';
import { parseServerUrl } from '../../spec/state-location.ts';
import type { StateLocation } from '../../state/open.ts';
import { usageError } from './values.ts';

const PREFIX = 'accede_';
const PARAMETERS = ['prefix', 'tls', 'ca', 'cert', 'key', 'server_name'] as const;
const EXPECTED =
  'sqlite:FILE, mysql://USER@HOST:PORT/DATABASE, or env:NAME with a variable of the process that holds such a URL with its password';

/**
 * A store as a flag names it. `sqlite:` and a file, relative to the environment's folder as `state.path` is; a URL of a server, with `prefix` and
 * what `state.tls` has as parameters; or `env:` and a variable of the process that holds either. A password in the flag itself is refused: the
 * list of processes shows it to everybody.
 */
export function parseStatePlace(
  flag: string,
  text: string,
  from: { readonly folder: string; readonly environment: Readonly<Record<string, string | undefined>> },
): Outcome<StateLocation> {
  const variable = /^env:([A-Za-z_]\w*)$/.exec(text)?.[1];
  if (variable === undefined) return parsePlace(flag, text, text, from.folder, false);
  const value = from.environment[variable];
  if (value === undefined || value === '') {
    return fail(badPlace(`${flag} names the variable ${variable}, and this process has none of that name.`, text));
  }
  return parsePlace(flag, value, text, from.folder, true);
}

/** What of a place no output may show. */
export function passwordsOf(location: StateLocation): readonly Sensitive[] {
  return location.backend === 'mysql' && location.server.password !== undefined ? [location.server.password] : [];
}

function parsePlace(flag: string, text: string, shown: string, folder: string, isHidden: boolean): Outcome<StateLocation> {
  if (text.startsWith('sqlite:')) {
    const path = text.slice('sqlite:'.length);
    return path === '' ? fail(badPlace(`${flag} names no file.`, shown)) : succeed({ backend: 'sqlite', path: resolve(folder, path) });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const parameters = url?.searchParams ?? new URLSearchParams();
  const address = parseServerUrl(text.replace(/[?#].*$/s, ''));
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.some((known) => known === name));
  const prefix = parameters.get('prefix') ?? PREFIX;
  if (url === undefined || url.hash !== '' || address === undefined) {
    return fail(badPlace(`What ${flag} gives is not the place of a state.`, isHidden || url?.password ? undefined : shown));
  }
  if (!isHidden && address.password !== undefined) {
    return fail({
      ...usageError(
        'STATE_PASSWORD_IN_CLEAR',
        'A password stands on the command line',
        `${flag} holds a password, and everybody on this machine can read command lines. Put the URL into a variable of the process and name that.`,
      ),
      expected: `${flag} env:NAME`,
    });
  }
  if (unknown !== undefined || !/^[A-Za-z0-9_]{1,40}$/.test(prefix)) {
    const what = unknown === undefined ? 'a prefix that tables cannot have' : `the parameter ${unknown}, which no server of a state has`;
    return fail(badPlace(`${flag} has ${what}. Known are ${PARAMETERS.join(', ')}.`, undefined));
  }
  const tls = tlsOf(parameters, folder);
  if (tls !== undefined && tls.serverName === undefined && isIP(address.host) !== 0) {
    return fail(badPlace(`${flag} names the server by its address, and a certificate bears a name: add server_name.`, undefined));
  }
  const { password, ...open } = address;
  return succeed({
    backend: 'mysql',
    prefix,
    server: {
      ...open,
      ...(password === undefined ? {} : { password: Sensitive.open(password, [flag]) }),
      ...(tls === undefined ? {} : { tls }),
      place: `mysql://${address.host}:${address.port}/${address.database}`,
    },
  });
}

function tlsOf(parameters: URLSearchParams, folder: string) {
  const isWanted = ['tls', 'ca', 'cert', 'key', 'server_name'].some((name) => parameters.has(name));
  if (!isWanted || parameters.get('tls') === 'no') return undefined;
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
    const path = parameters.get(name);
    return path === null ? [] : [[name, resolve(folder, path)] as const];
  });
  const serverName = parameters.get('server_name');
  const named: { readonly ca?: string; readonly cert?: string; readonly key?: string } = Object.fromEntries(files);
  return { ...named, ...(serverName === null ? {} : { serverName }) };
}

function badPlace(detail: string, observed: string | undefined): Diagnostic {
  return usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', detail, {
    expected: EXPECTED,
    ...(observed === undefined ? {} : { observed }),
  });
}
