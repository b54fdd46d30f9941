import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Connection, ConnectionOptions, ResultSetHeader, RowDataPacket, TypedParameterValue } from 'mysql2/promise';
import type { Sensitive } from '../core/value.ts';
import { ConnectionLost, isLost } from './mysql-errors.ts';
import type { SqlRow, SqlValue, Transaction } from './sql.ts';

/** A server of the MySQL protocol, and how to log in to it. */
export interface MysqlServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Left out: the account has none. */
  readonly password?: Sensitive;
  readonly database: string;
  /** Without it the connection is not encrypted. */
  readonly tls?: MysqlTls;
  /** The place in words for messages: nothing that came from a secret is in it. */
  readonly place: string;
}

export interface MysqlTls {
  /** Absolute paths of PEM files. Without `ca` the authorities of this machine vouch for the server. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name in the server's certificate; its host when left out. */
  readonly serverName?: string;
}

/** How a session reads: `latest` sees with each statement what is committed then, `snapshot` one moment throughout a transaction. */
export type Isolation = 'latest' | 'snapshot';

const CONNECT_MS = 10_000;
/** No statement of ours takes long. One that does hangs, with its server or the way to it. */
const STATEMENT_MS = 30_000;
/** In seconds: how long a statement waits for a row that another transaction holds. */
const ROW_WAIT = 10;
/** In seconds: when the server ends a session whose client is gone without a word, and with it the rows that it holds. */
const SILENCE = 40;

/** One session on the server. It is over with the first error of the connection. */
export class MysqlConnection implements Transaction {
  readonly #connection: Connection;
  readonly #integer: (value: number) => TypedParameterValue;
  #isOver = false;

  private constructor(connection: Connection, integer: (value: number) => TypedParameterValue) {
    this.#connection = connection;
    this.#integer = integer;
    // Told between two statements, where nobody waits for an answer.
    connection.on('error', () => {
      this.#isOver = true;
    });
  }

  /** Logs in and sets the session up. Throws what the server or the network says. */
  static async open(server: MysqlServer, isolation: Isolation): Promise<MysqlConnection> {
    const { default: mysql } = await import('mysql2/promise');
    const connection = await mysql.createConnection(await optionsOf(server));
    const opened = new MysqlConnection(connection, (value) => mysql.TypedParameter.LONGLONG(value));
    try {
      await opened.#prepareSession(isolation);
      return opened;
    } catch (error) {
      opened.end();
      throw error;
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async query(sql: string, params: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const [rows] = await this.#limited(() => this.#connection.execute<RowDataPacket[]>(sql, this.#bind(params)));
    return rows;
  }

  async execute(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    const [result] = await this.#limited(() => this.#connection.execute<ResultSetHeader>(sql, this.#bind(params)));
    return result.affectedRows;
  }

  /** Runs a constant text that takes no values: what begins and ends a transaction, and what makes tables. */
  async command(sql: string): Promise<void> {
    await this.#limited(() => this.#connection.query(sql));
  }

  /** Says goodbye to the server. Never throws. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    try {
      await this.#limited(() => this.#connection.end());
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    this.#isOver = true;
  }

  /** Breaks the connection off; the server undoes what was not committed. */
  end(): void {
    this.#isOver = true;
    this.#connection.destroy();
  }

  async #prepareSession(isolation: Isolation): Promise<void> {
    const level = isolation === 'latest' ? 'READ COMMITTED' : 'REPEATABLE READ';
    await this.command(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
    await this.command('SET NAMES utf8mb4 COLLATE utf8mb4_bin');
    await this.command(
      `SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = ${ROW_WAIT}, wait_timeout = ${SILENCE}`,
    );
    const [row] = await this.query('SELECT VERSION() AS version');
    // A cluster that was upgraded from long ago may still check for conflicts at the commit alone.
    if (String(row?.['version']).includes('TiDB')) await this.command(`SET SESSION tidb_txn_mode = 'pessimistic'`);
  }

  /** Whole numbers travel as such: a server must not compare a column of them with a fraction. */
  #bind(params: readonly SqlValue[]) {
    return params.map((value) => (typeof value === 'number' ? this.#integer(value) : value));
  }

  async #limited<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw new ConnectionLost('the connection is over');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.end();
        reject(new ConnectionLost(`no answer within ${STATEMENT_MS / 1000} s`));
      }, STATEMENT_MS);
    });
    try {
      return await Promise.race([run(), late]);
    } catch (error) {
      if (isLost(error)) this.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function optionsOf(server: MysqlServer): Promise<ConnectionOptions> {
  const { host, port, user, password, database, tls } = server;
  const secret = password?.reveal();
  return {
    // The name that the certificate must bear; where the server is, `stream` says.
    host: tls?.serverName ?? host,
    port,
    user,
    ...(typeof secret === 'string' ? { password: secret } : {}),
    database,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    connectTimeout: CONNECT_MS,
    supportBigNumbers: true,
    dateStrings: true,
    multipleStatements: false,
    maxPreparedStatements: 200,
    // A server may not ask for files of this machine.
    flags: ['-LOCAL_FILES'],
    stream: () => {
      const socket = connect({ host, port, keepAlive: true });
      socket.setNoDelay(true);
      return socket;
    },
    ...(tls === undefined ? {} : { ssl: await tlsOptions(tls) }),
  };
}

async function tlsOptions(tls: MysqlTls) {
  const read = async (name: 'ca' | 'cert' | 'key') => {
    const path = tls[name];
    return path === undefined ? {} : { [name]: await readFile(path, 'utf8') };
  };
  return {
    ...(await read('ca')),
    ...(await read('cert')),
    ...(await read('key')),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    verifyIdentity: true,
  };
}
