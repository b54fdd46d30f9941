import type { SourceRange } from '../core/diagnostic.ts';
import { ProviderError, type ReadHost } from '../providers/contract.ts';

/** The commit that a line of a document came with. */
export interface LineCommit {
  /** Null for a line that is not committed yet. */
  readonly commit: string | null;
  readonly summary: string | null;
}

/** Which commit last wrote a line of a document; undefined where Git does not know the file. Git is for people here: nothing depends on it. */
export async function lineCommit(
  folder: string,
  { file, line }: Pick<SourceRange, 'file' | 'line'>,
  host: ReadHost,
  signal: AbortSignal,
): Promise<LineCommit | undefined> {
  const argv = ['git', '-C', folder, 'blame', '--porcelain', '-L', `${line},${line}`, '--', file] as const;
  try {
    const run = await host.inspect(argv, { signal, timeout: 10_000 });
    const commit = /^([0-9a-f]{40,64}) /.exec(run.stdout)?.[1];
    if (run.code !== 0 || commit === undefined) return undefined;
    if (/^0+$/.test(commit)) return { commit: null, summary: null };
    return { commit, summary: /^summary (.*)$/m.exec(run.stdout)?.[1] ?? null };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ProviderError)) throw error;
    return undefined;
  }
}
