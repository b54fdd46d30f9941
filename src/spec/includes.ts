import { branchOf, scopeOf } from '../core/expression-scope.ts';
import { hasInterpolation } from '../core/expression-text.ts';
import { assemble } from './assemble.ts';
import { compileNode, evaluateCompiled } from './compile.ts';
import type { IncludeEntry, SpecDocument } from './documents.ts';
import type { FileStore } from './files.ts';
import { Report } from './report.ts';
import { placeFor, USES } from './scopes.ts';
import { memberOf, type ScalarNode } from './source.ts';
import { resolveVariables, type VariableSources } from './variables.ts';
import type { Workspace } from './workspace.ts';

export interface IncludeSurroundings {
  readonly workspace: Workspace;
  readonly files: FileStore;
  readonly roots: ReadonlyMap<string, string>;
  readonly sources: VariableSources;
  readonly report: Report;
}

/** The entries of `include` with their expressions filled in: over the variables of the folder's own documents. */
export async function includeEntries(
  environment: SpecDocument,
  own: readonly SpecDocument[],
  surroundings: IncludeSurroundings,
): Promise<readonly IncludeEntry[]> {
  const list = memberOf(environment.root, 'include');
  if (list?.kind !== 'list') return [];
  const nodes = list.items.filter((item): item is ScalarNode => item.kind === 'scalar' && typeof item.value === 'string');
  if (!nodes.some((node) => hasInterpolation(String(node.value)))) return nodes.map((node) => ({ pattern: String(node.value), node }));
  const { workspace, files, roots, sources, report } = surroundings;
  // Mistakes in variables are reported when all documents are together.
  const unheard = new Report();
  const fixed = { files, roots, release: undefined };
  const variables = await resolveVariables(
    assemble(environment, own, unheard).named.variables,
    sources,
    workspace,
    placeFor(USES.constant, fixed),
    unheard,
  );
  const scope = scopeOf(new Map([['vars', branchOf(variables)]]));
  return nodes.flatMap((node) => {
    const value = evaluateCompiled(compileNode(node, placeFor(USES.include, fixed), report), scope, (found) => report.take(...found));
    if (typeof value === 'string') return [{ pattern: value, node }];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      report.add(
        {
          code: 'WRONG_TYPE',
          summary: 'A value has the wrong type',
          detail: 'An include must be text.',
          expected: 'a relative path or glob',
        },
        node,
      );
    }
    return [];
  });
}
