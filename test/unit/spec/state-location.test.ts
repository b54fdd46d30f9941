import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/core/value.ts';
import type { Environment } from '../../../src/spec/environment.ts';
import type { LoadOptions } from '../../../src/spec/load.ts';
import { HEAD, line, load, loaded, workbench } from './workbench.ts';

const URL_TEXT = 'mysql://app:p%40ss%2Fword@db.example:4000/accede';
const SECRET = { processEnvironment: { STATE_URL: URL_TEXT, PW: 'p@ss/word', OTHER: 'x' } };

async function stateOf(block: string, options: Partial<LoadOptions> = SECRET): Promise<Environment['state'] & { folder: string }> {
  const secrets = 'secrets: { url: { env: STATE_URL }, pw: { env: PW }, other: { env: OTHER } }\n';
  const { state, folder } = await loaded({ 'environment.yaml': `${HEAD}${secrets}state: ${block}\n` }, options);
  return { ...state, folder };
}

/** What is inside of the wrapper as well. */
function opened(state: Environment['state']) {
  if (state.backend !== 'mysql' || state.server === undefined) return undefined;
  const { password, ...rest } = state.server;
  return { ...rest, password: password?.reveal(), names: password?.names, prefix: state.prefix };
}

const WHOLE = { host: 'db.example', port: 4000, user: 'app', database: 'accede', password: 'p@ss/word', prefix: 'accede_' };

describe('the state in a database', () => {
  it('must be found by a secret URL, of which no part stands in the place that messages name', async () => {
    const state = await stateOf('{ backend: mysql, url: "${secrets.url}" }');
    expect(opened(state)).toEqual({ ...WHOLE, names: ['url'], place: 'the database that state names' });
    expect(JSON.stringify(state)).not.toContain('ss/word');
  });

  it('must be found by a URL that is put together, its password written for a URL', async () => {
    const state = await stateOf('{ backend: mysql, url: "mysql://app:${urlencode(secrets.pw)}@db.example:4000/accede", prefix: crm_ }');
    expect(opened(state)).toMatchObject({ ...WHOLE, names: ['pw'], prefix: 'crm_' });
  });

  it('must be found by its parts, of which the open ones may be named', async () => {
    const state = await stateOf('{ backend: mysql, host: db.example, port: 4000, user: app, password: "${secrets.pw}", database: accede }');
    expect(opened(state)).toEqual({ ...WHOLE, names: ['pw'], place: 'mysql://db.example:4000/accede' });
    const hidden = await stateOf('{ backend: mysql, host: "${secrets.other}", user: app, database: accede }');
    expect(opened(hidden)).toMatchObject({ host: 'x', port: 3306, password: undefined, place: 'the database that state names' });
  });

  it('must need no password, and take an address of the sixth version', async () => {
    const state = await stateOf('{ backend: mysql, url: "mysql://app@[::1]/accede" }');
    expect(opened(state)).toMatchObject({ host: '::1', port: 3306, user: 'app', password: undefined, place: 'mysql://::1:3306/accede' });
  });

  it('must find the files of TLS from the environment on', async () => {
    const state = await stateOf(
      '{ backend: mysql, url: "mysql://app@10.0.0.5/accede", tls: { ca: pki/ca.pem, cert: /etc/c.pem, key: ../k.pem, server_name: db } }',
    );
    const { folder } = state;
    const tls = { ca: path.join(folder, 'pki/ca.pem'), cert: '/etc/c.pem', key: path.join(folder, '../k.pem'), serverName: 'db' };
    expect(opened(state)).toMatchObject({ tls });
    expect(opened(await stateOf('{ backend: mysql, url: "mysql://app@db/accede", tls: {} }'))).toMatchObject({ tls: {} });
  });

  it.each([
    'mysql://app:x@db/',
    'mysql://db/accede',
    'postgres://app:x@db/accede',
    'mysql://app:x@db/a?tls=1',
    'mysql://app:%zz@db/a',
    'canary',
  ])('must be refused with a secret URL of a wrong form without quoting it (%s)', async (text) => {
    const folder = workbench({
      'environment.yaml': `${HEAD}secrets: { url: { env: U } }\nstate: { backend: mysql, url: "\${secrets.url}" }\n`,
    });
    const outcome = await load(folder, { processEnvironment: { U: text } });
    expect(outcome.diagnostics.map(({ code }) => code)).toEqual(['STATE_URL_INVALID']);
    expect(JSON.stringify(outcome.diagnostics)).not.toContain(text);
  });
});

describe('the secrets of the state', () => {
  const documents = `${HEAD}secrets: { url: { env: STATE_URL }, other: { env: OTHER } }\nstate: { backend: mysql, url: "\${secrets.url}" }\n`;
  const isOpen = (environment: Environment) => [...environment.secrets].map(([name, secret]) => `${name} ${secret.isOpen}`);

  it('must be read where no others are, so that the state can be looked at', async () => {
    for (const secrets of ['none', 'skip'] as const) {
      const environment = await loaded({ 'environment.yaml': documents }, { secrets, processEnvironment: { STATE_URL: URL_TEXT } });
      expect(isOpen(environment)).toEqual(['other false', 'url true']);
      expect(opened(environment.state)).toMatchObject(WHOLE);
    }
  });

  it('must not be read by who opens no state', async () => {
    const environment = await loaded({ 'environment.yaml': documents }, { secrets: 'none', stateSecrets: 'none' });
    expect(isOpen(environment)).toEqual(['other false', 'url false']);
    expect(environment.state).toEqual({ backend: 'mysql', server: undefined, prefix: 'accede_' });
  });

  it('must be missed where they can not be read, even when secrets are skipped', async () => {
    for (const secrets of ['none', 'skip', 'read'] as const) {
      const outcome = await load(workbench({ 'environment.yaml': documents }), { secrets, processEnvironment: { OTHER: 'x' } });
      expect(outcome.diagnostics.map(line)).toEqual([
        'environment.yaml:4:12 SECRET_UNREADABLE The secret url cannot be read. The environment variable STATE_URL is not set. The state is reached with it.',
      ]);
    }
  });

  it('must be told apart by name', async () => {
    const environment = await loaded(
      {
        'environment.yaml': `${HEAD}secrets: { pw: { env: PW } }\nstate: { backend: mysql, host: db, user: app, database: a, password: "\${secrets.pw}" }\n`,
      },
      SECRET,
    );
    const { password } = environment.state.backend === 'mysql' ? (environment.state.server ?? {}) : {};
    expect(password).toBeInstanceOf(Sensitive);
    expect(String(password)).toBe('(sensitive)');
  });
});
