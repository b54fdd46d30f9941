import type { Sensitive } from '../../core/value.ts';
import type { EffectIo } from '../contract.ts';
import type { Query, WriteClient } from './client.ts';
import { progressLine } from './wire.ts';

const TRANSFER_TIMEOUT = 30 * 60_000;
/** Progress is told this often at most. */
const PROGRESS_INTERVAL = 200;

interface Layer {
  readonly bytes: number;
  readonly total: number;
  readonly isDone: boolean;
}

const LAST_STATES: ReadonlySet<string> = new Set(['Pull complete', 'Already exists']);

/** What the engine has told of its layers so far. */
class Layers {
  readonly #byId = new Map<string, Layer>();

  /** Takes one line over, and answers whether it spoke of a layer. */
  take(line: {
    readonly id: string;
    readonly status: string;
    readonly progress: { readonly current: number; readonly total: number };
  }): boolean {
    const { id, status, progress } = line;
    const known = this.#byId.get(id);
    if (status === 'Pulling fs layer' || LAST_STATES.has(status)) {
      this.#byId.set(id, { bytes: known?.total ?? 0, total: known?.total ?? 0, isDone: LAST_STATES.has(status) });
      if (status === 'Pulling fs layer') this.#byId.set(id, { bytes: 0, total: 0, isDone: false });
      return true;
    }
    // Extracting counts the same bytes once more.
    if (known === undefined || status !== 'Downloading') return false;
    this.#byId.set(id, { bytes: progress.current, total: Math.max(progress.total, progress.current), isDone: false });
    return true;
  }

  figures(): { readonly [name: string]: number } {
    const layers = [...this.#byId.values()];
    return {
      layers: layers.length,
      layers_done: layers.filter((layer) => layer.isDone).length,
      bytes: layers.reduce((sum, layer) => sum + layer.bytes, 0),
      bytes_total: layers.reduce((sum, layer) => sum + layer.total, 0),
    };
  }
}

/**
 * Runs a request whose reply is a line of progress after the other, and tells the progress in figures: layers, those that are done, bytes. The
 * engine's own words for a failure come back, since such a failure is a line as well; undefined means that it went well. Throws
 * `ProviderError` for a request that was refused at once.
 */
export async function transfer(
  acting: { readonly client: WriteClient; readonly io: EffectIo },
  request: {
    readonly doing: string;
    readonly path: string;
    readonly query: Query;
    readonly file?: Buffer;
    readonly registryAuth?: Sensitive | undefined;
  },
): Promise<string | undefined> {
  const { client, io } = acting;
  const { doing, path, ...rest } = request;
  const layers = new Layers();
  let told = Number.NEGATIVE_INFINITY;
  let isUntold = false;
  let failure: string | undefined;
  const tell = () => {
    told = io.clock.monotonic();
    isUntold = false;
    io.progress(doing, layers.figures());
  };
  const take = (text: string) => {
    if (text.trim() === '') return;
    const { error, errorDetail, id, status, progressDetail } = progressLine.parse(JSON.parse(text));
    const words = error || errorDetail;
    if (words !== '') failure = words;
    if (!layers.take({ id, status, progress: progressDetail ?? { current: 0, total: 0 } })) return;
    isUntold = true;
    if (io.clock.monotonic() - told >= PROGRESS_INTERVAL) tell();
  };
  const decoder = new TextDecoder();
  let open = '';
  await client.stream(path, {
    ...rest,
    signal: io.signal,
    doing,
    timeout: TRANSFER_TIMEOUT,
    // What comes half is fetched again from where it broke off; nothing that runs is touched.
    mutates: false,
    onChunk: (chunk) => {
      const lines = (open + decoder.decode(chunk, { stream: true })).split('\n');
      open = lines.pop() ?? '';
      for (const line of lines) take(line);
    },
  });
  take(open);
  if (isUntold) tell();
  return failure;
}
