/** What needs what; an edge goes from a resource to what it needs. */
export interface GraphRows {
  readonly environment: string;
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** The language of Graphviz. */
export function renderDot(graph: GraphRows): string {
  const lines = graph.nodes.map((node) => `  ${quoted(node)};`);
  const edges = graph.edges.map(({ from, to }) => `  ${quoted(from)} -> ${quoted(to)};`);
  return `digraph ${quoted(graph.environment)} {\n  rankdir=LR;\n  node [shape=box];\n${[...lines, ...edges].join('\n')}\n}\n`;
}

/** Mermaid's flowchart, which forges draw in a page. */
export function renderMermaid(graph: GraphRows): string {
  const names = new Map(graph.nodes.map((node, index) => [node, `n${index}`]));
  const lines = graph.nodes.map((node) => `  ${names.get(node)}["${node.replaceAll('"', '#quot;')}"]`);
  const edges = graph.edges.map(({ from, to }) => `  ${names.get(from)} --> ${names.get(to)}`);
  return `flowchart LR\n${[...lines, ...edges].join('\n')}\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
