import { describe, expect, it } from 'vitest';
import { BackendError } from '../../../src/state/contract.ts';
import { ConnectionLost, isAway, isConflict, isLost, mysqlError, mysqlFault } from '../../../src/state/mysql-errors.ts';

const PLACE = 'the database of the test';
/** An error as the server's words become one: they may quote the account. */
const said = (errno: number, message = "Access denied for user 'canary'@'host'") =>
  Object.assign(new Error(message), { errno, code: 'ER_ANY', sqlState: 'HY000' });
/** An error of the network or of the file system. */
const broke = (code: string) => Object.assign(new Error(`${code} 10.0.0.5`), { errno: -111, code });

describe('what a server of the MySQL protocol says', () => {
  it.each([
    ['a deadlock', 1213],
    ['a wait for a row', 1205],
    ['a write conflict that TiDB finds at the commit', 9007],
    ['a transaction that TiDB wants run again', 8022],
    ['tables that TiDB saw change', 8028],
  ])('must be run again after %s, and be no loss', (_, errno) => {
    expect([isConflict(said(errno)), isLost(said(errno)), isAway(said(errno))]).toEqual([true, false, false]);
    expect(mysqlError(PLACE, said(errno))).toMatchObject({
      code: 'STATE_UNREACHABLE',
      message: expect.stringContaining('busy for too long'),
    });
  });

  it.each([
    ['a shutdown', said(1053)],
    ['a killed session', said(1927)],
    ['silence for too long', said(4031)],
    ['an undetermined commit of TiDB', said(8501)],
    ['a broken pipe', broke('EPIPE')],
    ['a lost connection', broke('PROTOCOL_CONNECTION_LOST')],
    ['no answer', new ConnectionLost('x')],
    ['a closed connection', Object.assign(new Error('closed'), { fatal: true })],
  ])('must be asked again after %s', (_, error) => {
    expect([isConflict(error), isLost(error), isAway(error)]).toEqual([false, true, true]);
    expect(mysqlError(PLACE, error)).toMatchObject({ code: 'STATE_UNREACHABLE', message: expect.stringContaining(PLACE) });
  });

  it.each([
    ['a wrong password', said(1045), 'STATE_UNREACHABLE', /refused the login/],
    ['a missing database', said(1049), 'STATE_UNREACHABLE', /no database of that name/],
    ['a missing right', said(1142), 'STATE_UNREACHABLE', /may not do this/],
    ['a replica', said(1290), 'STATE_UNREACHABLE', /read only/],
    ['a full disk', said(1021), 'STATE_FULL', /no space/],
    ['a write that found no space', said(1030, 'Got error 28 from storage engine'), 'STATE_FULL', /no space/],
    ['a write that failed otherwise', said(1030, 'Got error 5 from storage engine'), 'STATE_UNREACHABLE', /its files/],
    ['a row that is too large', said(1153), 'STATE_FULL', /max_allowed_packet/],
    ['an entry that is too large for TiDB', said(8025), 'STATE_FULL', /limits of entries/],
    ['other columns', said(1054), 'STATE_CORRUPT', /not as accede made them/],
    ['a statement that it does not know', said(1064), 'STATE_UNREACHABLE', /another kind or age/],
    ['a certificate of another name', broke('ERR_TLS_CERT_ALTNAME_INVALID'), 'STATE_UNREACHABLE', /certificate/],
    ['no TLS at all', broke('HANDSHAKE_NO_SSL_SUPPORT'), 'STATE_UNREACHABLE', /offers no TLS/],
    ['a missing file', broke('ENOENT'), 'STATE_UNREACHABLE', /file of state\.tls/],
  ])('must be told at once as it is: %s', (_, error, code, words) => {
    expect([isConflict(error), isAway(error)]).toEqual([false, false]);
    const told = mysqlError(PLACE, error);
    expect(told).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(String(told)).not.toMatch(/canary|10\.0\.0\.5/);
  });

  it('must not be taken for anything else', () => {
    const fenced = new BackendError('FENCED', 'x');
    const bug = new TypeError('x is no function');
    const ours = broke('ERR_INVALID_ARG_TYPE');
    for (const error of [fenced, bug, ours, 'text', undefined]) {
      expect(mysqlFault(error)).toBeUndefined();
      expect([isConflict(error), isLost(error), isAway(error)]).toEqual([false, false, false]);
      expect(mysqlError(PLACE, error)).toBe(error);
    }
  });
});
