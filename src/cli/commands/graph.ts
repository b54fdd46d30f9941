import { InstanceIndex, instanceGraph } from '../../plan/instances.ts';
import { parseReadingArguments } from '../arguments/reading.ts';
import { openDocuments } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderDot, renderMermaid } from '../views/graph.ts';
import { failWith } from './failing.ts';

/** `graph`: what needs what, from the documents alone. */
export async function runGraph(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const opened = await openDocuments(shell, args.value);
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  const graph = instanceGraph(new InstanceIndex(opened.value.resources));
  const rows = {
    environment: opened.value.name,
    nodes: graph.nodes(),
    edges: graph.nodes().flatMap((from) => graph.needs(from).map((to) => ({ from, to }))),
  };
  const format = shell.output.json ? 'json' : (args.value.format ?? 'dot');
  if (format === 'json') shell.output.document({ format: 'accede.graph/v1', ...rows });
  else shell.output.print(format === 'mermaid' ? renderMermaid(rows) : renderDot(rows));
  return EXIT.done;
}
