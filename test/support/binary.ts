import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The built program, as users run it. `ACCEDE_BINARY` names another build of it. */
export const BINARY = process.env['ACCEDE_BINARY'] ?? path.resolve(import.meta.dirname, '../../dist/cli/main.js');

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** What runs it: a command and its arguments, in front of its own. */
  readonly under?: readonly string[];
  /** Another program than `BINARY`. */
  readonly program?: string;
  /** Called with the running process, for signals. */
  readonly started?: (child: ReturnType<typeof spawn>) => void;
}

/** The same built program with the provider `fake` beside the others, whose world is the file that `ACCEDE_FAKE_WORLD` names. */
export const PROGRAM_WITH_FAKE = path.resolve(import.meta.dirname, 'accede-with-fake.mjs');

/** Runs `accede` with these arguments to its end. Its environment holds nothing but what is given, a PATH and a home. */
export async function accede(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { program = BINARY } = options;
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is not built: npm run build`);
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', NO_COLOR: '1', ...options.env };
  const [runner = process.execPath, ...words] = [...(options.under ?? []), process.execPath, program, ...argv];
  const child = spawn(runner, words, { cwd: options.cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  options.started?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** The same, and it must end with this code; the error shows what it printed. */
export async function accedeOk(argv: readonly string[], options: RunOptions & { readonly code?: number } = {}): Promise<Ran> {
  return expectCode(argv, await accede(argv, options), options.code ?? 0);
}

function expectCode(argv: readonly string[], ran: Ran, code: number): Ran {
  if (ran.code !== code) {
    throw new Error(`accede ${argv.join(' ')} ended with ${ran.code ?? ran.signal}, not ${code}\n${ran.stdout}\n${ran.stderr}`);
  }
  return ran;
}

/** The same for a change that may be a replacement, which is then named as an operator does who has seen the plan. */
export async function accedeConfirmed(argv: readonly string[], options: RunOptions & { readonly code?: number } = {}): Promise<Ran> {
  const ran = await accede(argv, options);
  const isUnnamed = ran.code === 3 && `${ran.stdout}${ran.stderr}`.includes('REPLACEMENT_UNCONFIRMED');
  return isUnnamed ? await accedeOk([...argv, '--expect-class', 'replacement'], options) : expectCode(argv, ran, options.code ?? 0);
}
