import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit.ts';
import { ENGINE_CODES } from '../../src/core/codes/engine.ts';
import type { CodeTable } from '../../src/core/codes/entry.ts';
import { PROVIDER_ERROR_CODES } from '../../src/providers/contract.ts';
import { DOCKER_CODES } from '../../src/providers/docker/codes.ts';
import { LOCAL_CODES } from '../../src/providers/local/codes.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Which table has to hold the codes of which folder; the first one that fits counts. The provider for tests is in no build's registry. */
const OWNERS: readonly { readonly files: RegExp; readonly codes: CodeTable }[] = [
  { files: /^src\/providers\/docker\//, codes: { ...DOCKER_CODES, ...ENGINE_CODES } },
  { files: /^src\/providers\/local\//, codes: { ...LOCAL_CODES, ...ENGINE_CODES } },
  { files: /^src\//, codes: ENGINE_CODES },
];
const LEFT_OUT = /^src\/providers\/fake\/|^src\/core\/codes\/|\/codes\.ts$/;

/** Text that looks like a code and is none: variables of the process, and codes of Node.js and of the YAML library. */
const NO_CODES: ReadonlySet<string> = new Set([
  'ACCEDE_DEBUG',
  'ACCEDE_FAILPOINT',
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_SCRIPT_EXECUTION_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'DOCKER_CONFIG',
  'EAI_AGAIN',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_TLS_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_STREAM_DESTROYED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'FORCE_COLOR',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'NO_COLOR',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'SSH_AUTH_SOCK',
  'TAB_AS_INDENT',
  'TAG_RESOLVE_FAILED',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNEXPECTED_TOKEN',
]);

/** A text of several words in capitals is taken for a code wherever it stands; of one word where a code has its place. */
const SEVERAL_WORDS = /(['"])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\1/g;
const ONE_WORD = [
  /\b(?:code|foreignCode)(?::| ===| !==) '([A-Z]+)'/g,
  /\?\? \[?'([A-Z]{3,})'/g,
  /\[?'([A-Z]{3,})',\s+'[A-Z][a-z ]/g,
  /\b(?:Provider|Backend)Error\(\s*'([A-Z]+)'/g,
  /\b(?:refuse|refusal|report|complain|problem|failure)\((?:\w+,\s*)?'([A-Z]+)'/g,
  /^ {2}'([A-Z]+)',$/gm,
];
/** What such a place may hold beside codes: words of the operating system and of the YAML library. */
const NO_WORDS: ReadonlySet<string> = new Set(['IMPOSSIBLE', 'TEXT', 'INTEGER']);
const ERRNO = /^E[A-Z]+$/;

/** Codes that are put together while the program runs. */
const COMPOSED: readonly { readonly file: string; readonly text: string; readonly codes: readonly string[] }[] = [
  {
    file: 'src/cli/commands/applying.ts',
    text: 'code: `${name.toUpperCase()}_UNEXPECTED`',
    codes: ['CLASS_UNEXPECTED', 'COMMIT_UNEXPECTED', 'DIGEST_UNEXPECTED'],
  },
  {
    file: 'src/providers/docker/session.ts',
    text: 'code: `DOCKER_${error.code}`',
    // A read makes nothing, so that nothing can fail to get ready, and whose an object is it answers in another way.
    codes: PROVIDER_ERROR_CODES.filter((code) => code !== 'NOT_READY' && code !== 'FOREIGN').map((code) => `DOCKER_${code}`),
  },
];

interface Use {
  readonly file: string;
  readonly code: string;
}

function codesIn(file: string, source: string): readonly Use[] {
  const found = new Set<string>();
  for (const [, , code = ''] of source.matchAll(SEVERAL_WORDS)) if (!NO_CODES.has(code)) found.add(code);
  for (const place of ONE_WORD) {
    for (const [, code = ''] of source.matchAll(place))
      if (!NO_WORDS.has(code) && (code === 'EXHAUSTED' || !ERRNO.test(code))) found.add(code);
  }
  for (const composed of COMPOSED)
    if (composed.file === file && source.includes(composed.text)) composed.codes.forEach((code) => found.add(code));
  return [...found].map((code) => ({ file, code }));
}

function allUses(): readonly Use[] {
  return readdirSync(join(ROOT, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !LEFT_OUT.test(file))
    .flatMap((file) => codesIn(file, readFileSync(join(ROOT, file), 'utf8')));
}

describe('the tables of codes', () => {
  const uses = allUses();

  it('must hold every code of the source', () => {
    expect(uses.length).toBeGreaterThan(200);
    const missing = uses.filter(({ file, code }) => !Object.hasOwn(OWNERS.find(({ files }) => files.test(file))?.codes ?? {}, code));
    expect(missing).toEqual([]);
  });

  it('must hold no code that nothing uses', () => {
    const used = new Set(uses.map(({ code }) => code));
    const all = [ENGINE_CODES, DOCKER_CODES, LOCAL_CODES].flatMap((codes) => Object.keys(codes));
    expect(all.filter((code) => !used.has(code))).toEqual([]);
  });

  it('must hold each code once', () => {
    const all = [ENGINE_CODES, DOCKER_CODES, LOCAL_CODES].flatMap((codes) => Object.keys(codes));
    expect(all.filter((code, index) => all.indexOf(code) !== index)).toEqual([]);
    const folder = join(ROOT, 'src/core/codes');
    const written = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/^ {2}[A-Z0-9_]+: \{/gm) ?? []);
    expect(written).toHaveLength(Object.keys(ENGINE_CODES).length);
  });

  it('must say in whole sentences what a code means and what to do, with exit codes that exist', () => {
    const exits = EXIT_CODES.map(({ code }) => code as number);
    for (const [code, entry] of Object.entries({ ...ENGINE_CODES, ...DOCKER_CODES, ...LOCAL_CODES })) {
      expect(entry.summary, code).toMatch(/^\S.*\.$/);
      expect(entry.remedy, code).toMatch(/^\S.*[.}]$/);
      if (entry.exit.length === 0) expect(entry.summary, code).toContain("The exit code is the program's own.");
      expect(exits, code).toEqual(expect.arrayContaining([...entry.exit]));
      expect(
        [...entry.exit].sort((a, b) => a - b),
        code,
      ).toEqual(entry.exit);
    }
  });

  it.each([
    ["const found = { code: 'PLANTED_CODE' };", 'PLANTED_CODE'],
    ["refuse(situation, 'PLANTED_CODE', message)", 'PLANTED_CODE'],
    ["foreignCode: 'PLANTED',", 'PLANTED'],
    ["code: first?.code ?? 'PLANTED',", 'PLANTED'],
    ["throw new ProviderError('PLANTED', `x`)", 'PLANTED'],
    ["const [code, summary] = ['PLANTED', 'A thing'];", 'PLANTED'],
    ["refusal(\n  'PLANTED',\n  'A thing')", 'PLANTED'],
  ])('must find the planted code in %s', (source, code) => {
    expect(codesIn('src/cli/x.ts', source)).toEqual([{ file: 'src/cli/x.ts', code }]);
  });

  it('must not take other text in capitals for a code', () => {
    expect(codesIn('src/cli/x.ts', "if (error.code === 'ENOENT' || environment['NO_COLOR'] !== '') child.kill('SIGKILL');")).toEqual([]);
  });
});
