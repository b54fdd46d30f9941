import type { Duplex } from 'node:stream';
import {
  type Command,
  type CommandEnd,
  type EffectIo,
  type ObjectQuery,
  ProviderError,
  type TerminalSize,
  type Written,
} from '../contract.ts';
import type { WriteClient } from './client.ts';
import { Frames } from './frames.ts';
import { locateContainer } from './located.ts';
import { type ContainerReply, createdReply, execReply } from './wire.ts';
import type { World } from './world.ts';

/** The engine notes the end of a command a moment after its stream has ended. */
const NOTE_TIMEOUT = 5000;

interface Execution {
  readonly query: ObjectQuery;
  readonly command: Command;
  readonly sink: (written: Written) => Promise<void>;
  readonly io: EffectIo;
  readonly world: World;
  readonly client: WriteClient;
}

/** Runs a command in a container and waits for its end. Undefined when there is no container. Throws `ProviderError`. */
export async function execInside(execution: Execution): Promise<CommandEnd | undefined> {
  const { query, command, io, world, client } = execution;
  const container = await locateContainer(query, world, io.signal);
  if (container === undefined) return undefined;
  const reason = whyNotRunning(container);
  if (reason !== undefined) return { kind: 'not-running', reason };
  const doing = `run a command in the container ${container.Name}`;
  const hasTerminal = command.terminal !== undefined;
  const body = {
    AttachStdin: command.stdin !== undefined,
    AttachStdout: true,
    AttachStderr: true,
    Tty: hasTerminal,
    Cmd: command.argv,
  };
  const { Id } = createdReply.parse(await client.post(`/containers/${container.Id}/exec`, { signal: io.signal, doing, body }));
  const stream = await client.duplex(`/exec/${Id}/start`, { signal: io.signal, doing, body: { Detach: false, Tty: hasTerminal } });
  const restore = command.terminal === undefined ? () => undefined : fitTerminal(execution, Id, command.terminal);
  try {
    await converse(execution, stream, new Frames(hasTerminal), doing);
  } finally {
    restore();
    stream.destroy();
  }
  return { kind: 'ended', code: await exitCode(execution, Id, doing) };
}

function whyNotRunning({ State }: ContainerReply): string | undefined {
  if (State.Paused) return 'it is paused';
  if (State.Restarting) return `it is starting again after it ended with code ${State.ExitCode}`;
  if (State.Running) return undefined;
  return State.Status === 'created' ? 'it was never started' : `it ended with code ${State.ExitCode}`;
}

/** Moves bytes both ways until the command has closed its side. */
async function converse({ command, sink, io }: Execution, stream: Duplex, frames: Frames, doing: string): Promise<void> {
  const onAbort = () => stream.destroy();
  io.signal.addEventListener('abort', onAbort, { once: true });
  // A command that ends does not take the rest of its input: that is no mistake.
  stream.on('error', () => undefined);
  if (command.stdin !== undefined) feed(command.stdin, stream).catch((error: unknown) => stream.destroy(error as Error));
  try {
    for await (const chunk of stream) for (const written of frames.take(chunk as Buffer)) await sink(written);
  } catch (error) {
    throw new ProviderError('UNKNOWN_OUTCOME', `The connection to the engine broke on the attempt to ${doing}.`, { cause: error });
  } finally {
    io.signal.removeEventListener('abort', onAbort);
  }
  if (io.signal.aborted) throw new ProviderError('UNKNOWN_OUTCOME', `The attempt to ${doing} was called off; the command itself goes on.`);
}

/** Hands input over until it ends or nobody takes it any more. */
async function feed(input: AsyncIterable<Uint8Array>, stream: Duplex): Promise<void> {
  try {
    for await (const chunk of input) {
      if (stream.destroyed || stream.writableEnded) return;
      await new Promise<void>((resolve) => stream.write(chunk, () => resolve()));
    }
  } finally {
    if (!stream.destroyed) stream.end();
  }
}

/** Gives the command's terminal the size of the caller's, now and whenever that changes. Answers how to stop. */
function fitTerminal({ client, io }: Execution, id: string, terminal: NonNullable<Command['terminal']>): () => void {
  const fit = async ({ columns, rows }: TerminalSize) => {
    try {
      await client.post(`/exec/${id}/resize`, {
        signal: io.signal,
        doing: 'set the size of the terminal',
        query: { h: rows, w: columns },
        mutates: false,
      });
    } catch (error) {
      // A command that has ended, or has not begun yet, has no terminal to fit.
      if (!(error instanceof ProviderError)) throw error;
    }
  };
  void fit(terminal.size);
  return terminal.onResize((size) => void fit(size));
}

async function exitCode({ client, io }: Execution, id: string, doing: string): Promise<number> {
  const deadline = io.clock.monotonic() + NOTE_TIMEOUT;
  for (;;) {
    const { Running, ExitCode } = execReply.parse(await client.get(`/exec/${id}/json`, { signal: io.signal, doing }));
    if (!Running && ExitCode !== null && ExitCode !== undefined) return ExitCode;
    if (io.clock.monotonic() > deadline) break;
    await io.clock.sleep(50, io.signal);
  }
  throw new ProviderError('UNKNOWN_OUTCOME', `The engine does not say how the attempt to ${doing} ended.`);
}
