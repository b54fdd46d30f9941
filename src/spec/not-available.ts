import type { Report } from './report.ts';
import type { YamlNode } from './source.ts';

/** A key that is parsed and checked, and whose effect does not exist yet. */
interface Row {
  /** Keys from the top of a document; `*` stands for any key or index. */
  readonly path: readonly string[];
  readonly sentence: string;
  /** Left out: the key may not be there at all. */
  readonly when?: (node: YamlNode) => boolean;
}

const HERE = 'Hooks and quiesce on another host are not available yet; leave host out, and they act on this machine.';

/** What a document may not use yet. A row goes when its effect comes. */
const ROWS: readonly Row[] = [
  { path: ['policy', 'retain', 'images'], sentence: 'Retention of images is not available yet.' },
  { path: ['policy', 'retain', 'generations'], sentence: 'Retention of generations is not available yet.' },
  { path: ['policy', 'retain', 'trees'], sentence: 'Retention of trees is not available yet.' },
  { path: ['hooks', 'backup', 'host'], sentence: HERE },
  { path: ['hooks', '*', '*', 'host'], sentence: HERE },
  { path: ['quiesce', 'host'], sentence: HERE },
];

/** Refuses what the documents use and what does not exist yet: never ignored, always one sentence. */
export function refuseNotAvailable(root: YamlNode, report: Report): void {
  for (const row of ROWS) follow(root, row, 0, report);
  const overrides = root.kind === 'map' ? root.entries.get('overrides')?.value : undefined;
  if (overrides !== undefined) for (const row of ROWS) follow(overrides, row, 0, report);
}

function follow(node: YamlNode, row: Row, depth: number, report: Report): void {
  const step = row.path[depth];
  if (step === undefined) return;
  const isLast = depth === row.path.length - 1;
  if (node.kind === 'map') {
    for (const [name, { key, value }] of node.entries) {
      if (step !== '*' && step !== name) continue;
      if (!isLast) follow(value, row, depth + 1, report);
      else if (row.when === undefined || row.when(value)) refuse(report, row.sentence, name, key);
    }
  } else if (node.kind === 'list' && step === '*') {
    for (const item of node.items) if (!isLast) follow(item, row, depth + 1, report);
  }
}

/** The one form of such a refusal. */
export function refuse(report: Report, sentence: string, name: string, place: YamlNode): void {
  report.add(
    { code: 'NOT_AVAILABLE', summary: 'A key has no effect yet and is refused', detail: `${name}: ${sentence}`, observed: name },
    place,
  );
}
