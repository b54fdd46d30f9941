import { resolve } from 'node:path';
import type { RunResult } from '../../apply/events.ts';
import { runOnRequest } from '../../apply/run-request.ts';
import { fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import type { Plain } from '../../core/value.ts';
import { parseRunArguments } from '../arguments/run.ts';
import { usageError } from '../arguments/values.ts';
import { actorOf, openWorkspace } from '../compose.ts';
import { type CommandExit, EXIT, programCode, toExitCode } from '../exit.ts';
import { readBounded } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderDiagnostics } from '../views/diagnostics.ts';
import { renderRun } from '../views/run.ts';
import { progressView } from './applying.ts';
import { failWith } from './failing.ts';
import { shown } from './output.ts';

/** The largest request. */
const REQUEST_BYTES = 1024 * 1024;

/** `run ADDRESS`: runs what was applied once, and ends with its code. The answer goes to stdout, everything else to stderr. */
export async function runRun(input: RawInput, shell: Shell): Promise<CommandExit> {
  const { output, interrupts } = shell;
  const args = parseRunArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const { addresses, requestFile, again, reason, lockTimeout } = args.value;
  const [address] = addresses;
  if (address === undefined) throw new Error('run has an address');
  const document = requestFile === undefined ? succeed(undefined) : await readRequest(shell, requestFile);
  if (!document.ok) return failWith(shell, document.diagnostics);
  const opened = await openWorkspace(shell, args.value, { secrets: 'read' });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  const workspace = opened.value;
  try {
    output.warn(opened.diagnostics);
    interrupts.beginApply();
    const progress = await progressView(shell);
    let result: RunResult;
    try {
      result = await runOnRequest(workspace.context, {
        address,
        ...(document.value === undefined ? {} : { document: document.value }),
        again,
        stamp: workspace.stamp,
        actor: actorOf(shell),
        reason,
        lockTimeout,
        stop: interrupts.stop,
        emit: progress.receive,
      });
    } finally {
      await progress.end();
    }
    if (!output.json) say(shell, output.clean(result));
    return result.programCode === null || result.programCode === EXIT.done ? toExitCode(result.exitCode) : programCode(result.exitCode);
  } finally {
    await workspace.close();
  }
}

function say(shell: Shell, result: RunResult): void {
  const { output } = shell;
  if (result.diagnostics.length > 0) output.say(renderDiagnostics(result.diagnostics, output.conversation));
  output.say(renderRun(result, output.conversation));
  if (result.outcome === 'done' && result.answer !== null) output.print(JSON.stringify(shown(result.answer as Plain), null, 2));
}

async function readRequest(shell: Shell, file: string): Promise<Outcome<Plain | undefined>> {
  const bytes = file === '-' ? await readStdin(shell) : await readBounded(resolve(shell.folder, file), REQUEST_BYTES);
  if (!bytes.ok) return bytes;
  const invalid = (what: string) =>
    fail(
      usageError('RUN_REQUEST_INVALID', 'The request is no JSON document', `${file === '-' ? 'What came from stdin' : file} ${what}.`, {
        expected: 'one JSON document of at most 1 MiB',
      }),
    );
  if (bytes.value.byteLength > REQUEST_BYTES) return invalid('is larger than 1 MiB');
  try {
    return succeed(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.value)) as Plain);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return invalid('holds none');
    throw error;
  }
}

async function readStdin(shell: Shell): Promise<Outcome<Uint8Array>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of shell.stdin) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > REQUEST_BYTES) break;
  }
  return succeed(Buffer.concat(chunks));
}
