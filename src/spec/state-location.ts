import { isIP } from 'node:net';
import path from 'node:path';
import { type Attributes, containsSensitive, isAttributes, Sensitive, type Value } from '../core/value.ts';
import type { Assembled } from './assemble.ts';
import { evaluateBlock } from './blocks.ts';
import type { LoadContext } from './context.ts';
import type { StateLocation, StateServer } from './environment.ts';
import { stateSchema } from './schema-blocks.ts';
import { memberOf } from './source.ts';

const SQLITE_PATH = '.accede/state.db';
const PORT = 3306;
const PREFIX = 'accede_';
/** What a server can be named by instead of `url`. */
const PARTS = ['host', 'port', 'user', 'password', 'database'] as const;

/** Where the state is. */
export function loadState(assembled: Assembled, context: LoadContext): StateLocation {
  const value = evaluateBlock(assembled.single.state, stateSchema, 'state', assembled.environment.file, context);
  const loading = new StateLoading(assembled, context);
  return value['backend'] === 'mysql' ? loading.mysql(value) : loading.sqlite(value);
}

/** What the parts of a server's address hold; undefined where it is in a secret that was not read. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
}

class StateLoading {
  readonly #assembled: Assembled;
  readonly #context: LoadContext;

  constructor(assembled: Assembled, context: LoadContext) {
    this.#assembled = assembled;
    this.#context = context;
  }

  sqlite(value: Attributes): StateLocation {
    const written = value['path'];
    if (written !== undefined && containsSensitive(written)) {
      this.#refuse(
        'path',
        'SECRET_NOT_ALLOWED_HERE',
        'A secret stands where none may be',
        'The path of the state is shown in messages and cannot be a secret.',
      );
    }
    return { backend: 'sqlite', path: this.#absolute(typeof written === 'string' ? written : SQLITE_PATH) };
  }

  mysql(value: Attributes): StateLocation {
    const prefix = typeof value['prefix'] === 'string' ? value['prefix'] : PREFIX;
    const { url } = value;
    const parts = PARTS.filter((name) => value[name] !== undefined);
    if (url !== undefined && parts.length > 0) {
      this.#refuse(
        parts[0] ?? 'url',
        'STATE_SERVER_AMBIGUOUS',
        'The server of the state is named twice',
        `url says all of it, so that ${parts.join(', ')} cannot stand beside it. Keep one of both.`,
      );
      return { backend: 'mysql', server: undefined, prefix };
    }
    const address = url === undefined ? this.#addressOfParts(value) : this.#addressOfUrl(url);
    return { backend: 'mysql', server: address === undefined ? undefined : this.#server(address, value), prefix };
  }

  #addressOfUrl(url: Value): ServerAddress | undefined {
    const text = openText(url);
    if (text === undefined) return undefined;
    const parsed = parseServerUrl(text);
    if (parsed === undefined) {
      this.#refuse(
        'url',
        'STATE_URL_INVALID',
        'The URL of the state has a wrong form',
        'It needs a user, a host and a database, and nothing behind them. In a name or password what a URL reserves is written with %, as urlencode() does it.',
        'mysql://USER:PASSWORD@HOST:PORT/DATABASE',
      );
      return undefined;
    }
    if (!(url instanceof Sensitive) && parsed.password !== undefined) this.#refusePassword('url');
    return parsed;
  }

  #addressOfParts(value: Attributes): ServerAddress | undefined {
    const missing = (['host', 'user', 'database'] as const).filter((name) => value[name] === undefined);
    if (missing.length > 0) {
      this.#refuse(
        'backend',
        'STATE_SERVER_MISSING',
        'The server of the state is not named',
        `state needs url, or host, user and database; ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing.`,
      );
      return undefined;
    }
    const { password } = value;
    if (password !== undefined && !(password instanceof Sensitive)) this.#refusePassword('password');
    const port = value['port'] instanceof Sensitive && value['port'].isOpen ? value['port'].reveal() : (value['port'] ?? PORT);
    const [host, user, database] = [openText(value['host']), openText(value['user']), openText(value['database'])];
    const secret = password === undefined ? undefined : openText(password);
    const isWhole = password === undefined || secret !== undefined;
    if (host === undefined || user === undefined || database === undefined || typeof port !== 'number' || !isWhole) return undefined;
    return { host, port, user, password: secret, database };
  }

  #server(address: ServerAddress, value: Attributes): StateServer {
    const { password, ...open } = address;
    const tls = isAttributes(value['tls'] ?? null) ? (value['tls'] as Attributes) : undefined;
    const serverName = openText(tls?.['server_name']);
    if (tls !== undefined && serverName === undefined && isIP(address.host) !== 0) {
      this.#refuse(
        'tls',
        'STATE_TLS_NAME',
        'The name in the certificate of the state is not known',
        'The server is named by its address, and a certificate bears a name. Say tls.server_name, or name the server by its name.',
      );
    }
    const isSecret = containsSensitive(Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'password')));
    return {
      ...open,
      ...(password === undefined ? {} : { password: Sensitive.open(password, namesOf(value)) }),
      ...(tls === undefined ? {} : { tls: { ...this.#files(tls), ...(serverName === undefined ? {} : { serverName }) } }),
      place: isSecret ? 'the database that state names' : `mysql://${address.host}:${address.port}/${address.database}`,
    };
  }

  #files(tls: Attributes): { readonly ca?: string; readonly cert?: string; readonly key?: string } {
    const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
      const written = openText(tls[name]);
      return written === undefined ? [] : [[name, this.#absolute(written)] as const];
    });
    return Object.fromEntries(files);
  }

  #absolute(written: string): string {
    return path.resolve(this.#context.fixed.workspace.folder, written);
  }

  #refusePassword(key: string): void {
    this.#refuse(
      key,
      'STATE_PASSWORD_IN_CLEAR',
      'A password stands in the documents',
      'The password of the state must come from a secret, such as one that reads an environment variable or a file; a variable or plain text is seen by everybody who sees the documents.',
      '"${secrets.state_password}"',
    );
  }

  #refuse(key: string, code: string, summary: string, detail: string, expected?: string): void {
    const { state } = this.#assembled.single;
    this.#context.report.add({ code, summary, detail, expected }, memberOf(state, key) ?? state ?? this.#assembled.environment.root);
  }
}

/** The parts of `mysql://USER:PASSWORD@HOST:PORT/DATABASE`; undefined for a text of another form. */
export function parseServerUrl(text: string): ServerAddress | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'mysql:' || url.search !== '' || url.hash !== '') return undefined;
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!user || !database || database.includes('/') || host === '' || password === undefined) return undefined;
  return { host, port: url.port === '' ? PORT : Number(url.port), user, password: password === '' ? undefined : password, database };
}

/** Undefined for a `%` that begins no byte. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The text, a secret one in clear; undefined for what is no text, or in a secret that was not read. */
function openText(value: Value | undefined): string | undefined {
  const open = value instanceof Sensitive ? (value.isOpen ? value.reveal() : undefined) : value;
  return typeof open === 'string' ? open : undefined;
}

function namesOf(value: Attributes): readonly string[] {
  return [value['url'], value['password']].flatMap((part) => (part instanceof Sensitive ? part.names : []));
}
