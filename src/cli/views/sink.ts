import type { Sink } from './terminal.ts';

/**
 * A stream that stays silent once its reader is gone, as with `| head`: an apply under way must not die of it. Any other failure, as a full
 * disk, is told once, since then something of the answer is missing.
 */
export function quietSink(stream: NodeJS.WriteStream, onLoss: (code: string) => void): Sink {
  let closed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!closed && error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') onLoss(error.code ?? error.name);
    closed = true;
  });
  return {
    isTTY: stream.isTTY,
    columns: stream.columns,
    rows: stream.rows,
    write: (text) => closed || stream.write(text),
  };
}
