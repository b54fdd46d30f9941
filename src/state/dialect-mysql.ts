import type { Dialect } from './sql.ts';

/** Keys compare byte by byte, in every server and whatever its defaults are. */
const BINARY_TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/**
 * The SQL that TiDB, MySQL 8 and MariaDB share. Nothing here needs gap locks, savepoints, `CHECK`, `RETURNING` or a sequence, and no key is
 * longer than 3,072 bytes.
 */
export const mysqlDialect: Dialect = {
  // Many environments, and tables of others, may live in one database.
  ownsDatabase: false,
  definesInTransaction: false,
  types: {
    key: (length) => `VARCHAR(${length}) ${BINARY_TEXT}`,
    text: `TEXT ${BINARY_TEXT}`,
    document: `LONGTEXT ${BINARY_TEXT}`,
    integer: 'BIGINT',
  },
  tableSuffix: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin',
  forUpdate: ' FOR UPDATE',
  // Not unique: a row that met another one in a second unique key would silently change that one.
  index: (columns) => `INDEX (${columns})`,
  listTables: (prefix) =>
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE '${prefix.replaceAll('_', '\\\\_')}%' ORDER BY TABLE_NAME`,
  listColumns: (table) =>
    `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'`,
  upsert(table, keys, columns, fixed = []) {
    const all = [...keys, ...columns];
    const changed = columns.filter((column) => !fixed.includes(column)).map((column) => `${column} = VALUES(${column})`);
    const then = changed.length === 0 ? `${keys[0]} = ${table}.${keys[0]}` : changed.join(', ');
    return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) ON DUPLICATE KEY UPDATE ${then}`;
  },
};
