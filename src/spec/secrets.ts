import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import spawn, { SubprocessError } from 'nano-spawn';
import { compareText } from '../core/address.ts';
import { flawOf } from '../core/expression-size.ts';
import { isAttributes, type Plain, Sensitive } from '../core/value.ts';
import type { Block } from './assemble.ts';
import type { Report } from './report.ts';
import type { SecretBlock } from './schema-blocks.ts';
import { isMissing, reasonOf } from './workspace.ts';

/** The largest secret. */
const SECRET_BYTES = 1024 * 1024;
const EXEC_TIMEOUT = 30_000;

export interface SecretOptions {
  /** `skip`: what cannot be read counts as unchanged. `none`: nothing is read. */
  readonly mode: 'read' | 'skip' | 'none';
  /** How those are treated that the state is reached with. */
  readonly stateMode: 'read' | 'none';
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** A secret's block with its expressions filled in. */
export interface SecretSource {
  readonly block: Block;
  /** Undefined when the block has a mistake, which was reported. */
  readonly source: SecretBlock | undefined;
  /** Whether the state is reached with it. */
  readonly isForState: boolean;
}

type Read = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** Reads every secret, side by side. No message ever holds what was read, nor what a program printed. */
export async function readSecrets(
  sources: readonly SecretSource[],
  options: SecretOptions,
  report: Report,
): Promise<ReadonlyMap<string, Sensitive>> {
  const read = await Promise.all(sources.map(async (source) => [source.block.name, await readSecret(source, options, report)] as const));
  return new Map([...read].sort(([a], [b]) => compareText(a, b)));
}

async function readSecret({ block, source, isForState }: SecretSource, options: SecretOptions, report: Report): Promise<Sensitive> {
  const { name } = block;
  const skipped = Sensitive.skipped([name]);
  const mode = isForState && options.stateMode === 'read' ? 'read' : options.mode;
  if (mode === 'none' || source === undefined) return skipped;
  const read = await readSource(source, block, options);
  if (!read.ok) {
    if (mode === 'read') {
      report.add(
        {
          code: 'SECRET_UNREADABLE',
          summary: 'A secret cannot be read',
          detail: `The secret ${name} cannot be read. ${read.reason} ${isForState ? 'The state is reached with it.' : 'With --secrets=skip a plan is made without it.'}`,
        },
        block.key,
      );
    }
    return skipped;
  }
  if (source.format !== 'json') return Sensitive.open(read.text, [name]);
  const bundle = parseBundle(read.text);
  if (bundle !== undefined) return Sensitive.open(bundle, [name]);
  report.add(
    {
      code: 'SECRET_NOT_JSON',
      summary: 'A secret is not the JSON that it should be',
      detail: `The secret ${name} has format: json, and what its source gives is no JSON map, nests too deep, or holds half of a character.`,
      expected: 'a JSON map',
    },
    block.key,
  );
  return skipped;
}

function parseBundle(text: string): Plain | undefined {
  try {
    const parsed = JSON.parse(text) as Plain;
    return isAttributes(parsed) && flawOf(parsed) === undefined ? parsed : undefined;
  } catch (error) {
    // The parser's message quotes the text.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function readSource(source: SecretBlock, block: Block, options: SecretOptions): Promise<Read> {
  if ('env' in source) {
    const text = options.processEnvironment[source.env];
    return text === undefined ? { ok: false, reason: `The environment variable ${source.env} is not set.` } : { ok: true, text };
  }
  if ('exec' in source) return runSecretProgram(source.exec, block, options);
  const read = await readSecretFile(path.resolve(block.document.file.folder, source.file));
  return read.ok ? { ok: true, text: read.text.replace(/\r?\n$/, '') } : read;
}

/** A file that only its owner may read, owned by us or by root, and no symbolic link. */
async function readSecretFile(file: string): Promise<Read> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (!status.isFile()) return { ok: false, reason: `${file} is no regular file.` };
      if ((status.mode & 0o177) !== 0) {
        return {
          ok: false,
          reason: `${file} has mode 0${(status.mode & 0o777).toString(8)}; a file with a secret must have 0600 or less. Run chmod 600 on it.`,
        };
      }
      const user = process.getuid?.();
      if (user !== undefined && status.uid !== user && status.uid !== 0) return { ok: false, reason: `${file} belongs to another user.` };
      if (status.size > SECRET_BYTES) return { ok: false, reason: `${file} has more than ${SECRET_BYTES} bytes.` };
      return decode(await handle.readFile(), file);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { ok: false, reason: `${file} cannot be read. ${isMissing(error) ? 'It does not exist.' : reasonOf(error)}` };
  }
}

function decode(bytes: Uint8Array, name: string): Read {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, reason: `${name} does not give UTF-8.` };
    throw error;
  }
}

/** Runs a program without a shell. What it prints on stderr may hold anything, so that nobody sees it. */
async function runSecretProgram(argv: readonly string[], block: Block, options: SecretOptions): Promise<Read> {
  const [program = '', ...args] = argv;
  let isTooLarge = false;
  try {
    const subprocess = spawn(program, args, {
      cwd: block.document.file.folder,
      env: definedOnly(options.processEnvironment),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: EXEC_TIMEOUT,
      killSignal: 'SIGKILL',
      signal: options.signal,
    });
    const limited = subprocess.nodeChildProcess.then((child) => {
      let size = 0;
      child.stdout?.on('data', (chunk: string | Uint8Array) => {
        size += chunk.length;
        if (size <= SECRET_BYTES || isTooLarge) return;
        isTooLarge = true;
        child.kill('SIGKILL');
      });
    });
    const [{ stdout }] = await Promise.all([subprocess, limited]);
    // The final newline is cut off already.
    return { ok: true, text: stdout };
  } catch (error) {
    if (!(error instanceof SubprocessError)) throw error;
    if (isTooLarge) return { ok: false, reason: `${program} printed more than ${SECRET_BYTES} bytes.` };
    return { ok: false, reason: `${program} ${endOf(error, options.signal)}.` };
  }
}

function endOf(error: SubprocessError, signal: AbortSignal): string {
  if (signal.aborted) return 'was interrupted';
  if (error.exitCode !== undefined) return `ended with code ${error.exitCode}`;
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  if (code === 'ENOENT') return 'was not found';
  if (code === 'EACCES') return 'may not be run';
  return error.signalName === undefined
    ? 'could not be run'
    : `did not end within ${EXEC_TIMEOUT / 1000} s, or was ended by ${error.signalName}`;
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
