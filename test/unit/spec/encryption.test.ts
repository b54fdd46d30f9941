import { describe, expect, it } from 'vitest';
import { reveal } from '../../../src/core/value.ts';
import { HEAD, line, load, loaded, workbench } from './workbench.ts';

const PASSPHRASE = 'a passphrase of some length';
const withState = (state: string, more = '') => ({
  'environment.yaml': `${HEAD}secrets: { p: { env: P } }\nvariables: { file: { default: state.key }, open: { default: "a text that everybody sees" } }\nstate: ${state}\n${more}`,
});

async function mistakes(state: string, passphrase = PASSPHRASE): Promise<readonly string[]> {
  const outcome = await load(workbench(withState(state)), { processEnvironment: { P: passphrase } });
  expect(outcome.diagnostics.map(line).join('\n')).not.toContain(passphrase);
  return outcome.diagnostics.map(({ code, source }) => `${code} ${source?.line}:${source?.column}`);
}

describe('state.encryption', () => {
  it('must name a key file relative to the environment, also by a variable', async () => {
    for (const file of ['state.key', '"${vars.file}"']) {
      const environment = await loaded(withState(`{ backend: sqlite, encryption: { key_file: ${file} } }`), {
        processEnvironment: { P: 'x' },
      });
      expect(environment.encryption).toEqual({ kind: 'key-file', path: `${environment.folder}/state.key` });
    }
    expect((await loaded(withState('{ backend: sqlite }'), { processEnvironment: { P: 'x' } })).encryption).toBeUndefined();
  });

  it('must take a passphrase from a secret, and show it nowhere', async () => {
    const files = withState('{ backend: sqlite, encryption: { passphrase: "${secrets.p}" } }');
    const environment = await loaded(files, { processEnvironment: { P: PASSPHRASE } });
    const { encryption } = environment;
    if (encryption?.kind !== 'passphrase') throw new Error('no passphrase');
    expect(reveal(encryption.passphrase)).toBe(PASSPHRASE);
    expect(JSON.stringify(environment)).not.toContain(PASSPHRASE);
    const unread = await loaded(files, { secrets: 'none', stateSecrets: 'none' });
    expect(unread.encryption?.kind === 'passphrase' && unread.encryption.passphrase.isOpen).toBe(false);
  });

  it.each([
    ['a passphrase in the documents', `{ backend: sqlite, encryption: { passphrase: ${PASSPHRASE} } }`, 'PASSPHRASE_IN_CLEAR'],
    ['a passphrase in a variable', '{ backend: sqlite, encryption: { passphrase: "${vars.open}" } }', 'PASSPHRASE_IN_CLEAR'],
    ['a key file whose path is a secret', '{ backend: sqlite, encryption: { key_file: "${secrets.p}" } }', 'SECRET_NOT_ALLOWED_HERE'],
    ['both at once', '{ backend: sqlite, encryption: { key_file: a, passphrase: "${secrets.p}" } }', 'UNKNOWN_KEY'],
    ['neither', '{ backend: sqlite, encryption: {} }', 'BAD_VALUE'],
  ])('must refuse %s at its place', async (_what, state, code) => {
    expect((await mistakes(state)).map((text) => text.split(' ')[0])).toContain(code);
  });

  it('must refuse a passphrase that can be guessed', async () => {
    expect(await mistakes('{ backend: sqlite, encryption: { passphrase: "${secrets.p}" } }', 'fifteen letters')).toEqual([
      'PASSPHRASE_SHORT 6:53',
    ]);
  });
});
