import path from 'node:path';
import { type Attributes, isAttributes, type Sensitive } from '../core/value.ts';
import type { Registry } from '../providers/contract.ts';
import type { Assembled } from './assemble.ts';
import { BROKEN, type Compiled, compileNode, evaluateCompiled, expressionsIn } from './compile.ts';
import { LoadContext } from './context.ts';
import type { FileStore } from './files.ts';
import { findLocalCycles, Locals } from './locals.ts';
import { providerRoots, References, type ResourceTable } from './names.ts';
import { type Referable, readChecks } from './references.ts';
import { type Release, readRelease } from './release.ts';
import { Report } from './report.ts';
import { type SecretBlock, secretSchema } from './schema-blocks.ts';
import { type Fixed, makeScope, placeFor, USES } from './scopes.ts';
import { readSecrets, type SecretOptions } from './secrets.ts';
import { resolveVariables, type VariableSources } from './variables.ts';
import type { Workspace } from './workspace.ts';

export interface NameSources {
  readonly name: string;
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly files: FileStore;
  readonly report: Report;
  readonly sources: VariableSources;
  readonly secrets: SecretOptions;
  /** Gets the absolute paths of the files that secrets are read from. */
  readonly secretFiles: Set<string>;
}

export interface Prepared {
  readonly context: LoadContext;
  readonly release: Release | undefined;
  /** The same names over another release. */
  readonly under: (release: Attributes | undefined, report: Report) => LoadContext;
}

/** Everything that expressions can read beside resources: variables, then secrets, the release, and locals over all of these. */
export async function prepareNames(assembled: Assembled, given: NameSources): Promise<Prepared> {
  const { registry, workspace, files, report } = given;
  const roots = providerRoots(registry);
  const table = tableOf(assembled);
  const { variables: variableBlocks, locals: localBlocks, secrets: secretBlocks } = assembled.named;
  const bare = { workspace, files, roots, table, name: given.name, secrets: new Map<string, Sensitive>(), release: undefined };
  const variables = await resolveVariables(variableBlocks, given.sources, workspace, placeFor(USES.constant, bare), report);
  const referable: Referable = {
    registry,
    roots,
    table,
    variables: [...variableBlocks.keys()],
    locals: [...localBlocks.keys()],
    secrets: [...secretBlocks.keys()],
  };
  const secrets = await loadSecrets(assembled, { ...bare, variables }, referable, given);
  const release = readRelease(assembled.single.release, workspace, report);
  const fixed: Fixed = { ...bare, variables, secrets, release: release?.document };
  const { compiled, references } = compileLocals(assembled, fixed, referable, report);
  const under = (document: Attributes | undefined, into: Report): LoadContext => {
    const own = { ...fixed, release: document };
    const made = new LoadContext({ fixed: own, registry, references, referable, report: into });
    const scope: ConstructorParameters<typeof Locals>[2] = (name, resources) =>
      makeScope(fileOf(assembled, name), own, made.locals, resources);
    const locals = new Locals(compiled, references, scope, into);
    made.useLocals(locals);
    locals.evaluateAll();
    return made;
  };
  return { context: under(fixed.release, report), release, under };
}

function fileOf(assembled: Assembled, local: string) {
  return (assembled.named.locals.get(local)?.document ?? assembled.environment).file;
}

function tableOf(assembled: Assembled): Referable['table'] {
  const byType = new Map<string, string[]>();
  for (const { type, name } of assembled.resources.values()) {
    const names = byType.get(type);
    if (names === undefined) byType.set(type, [name]);
    else names.push(name);
  }
  const shape: ResourceTable['shape'] = (type, name) => {
    const node = assembled.resources.get(`${type}.${name}`)?.node;
    return node === undefined ? undefined : node.kind === 'map' && node.entries.has('for_each') ? 'each' : 'single';
  };
  return { shape, namesOf: (type) => byType.get(type) ?? [] };
}

function loadSecrets(
  assembled: Assembled,
  fixed: Fixed,
  referable: Referable,
  given: NameSources,
): Promise<ReadonlyMap<string, Sensitive>> {
  const { report } = given;
  const place = placeFor(
    USES.source,
    fixed,
    readChecks(USES.source, referable, new References(fixed.roots, fixed.table, new Map()), report),
  );
  const isForState = stateSecrets(assembled, fixed);
  const sources = [...assembled.named.secrets.values()].map((block) => {
    const value = evaluateCompiled(
      compileNode(block.node, place, report),
      makeScope(block.document.file, fixed, undefined, undefined),
      (found) => report.take(...found),
    );
    // The outline was checked; a source that is still not right has a mistake that was reported.
    const parsed = typeof value !== 'symbol' && isAttributes(value) ? secretSchema.safeParse(value) : undefined;
    return {
      block,
      source: parsed?.success === true ? (parsed.data satisfies SecretBlock) : undefined,
      isForState: isForState(block.name),
    };
  });
  for (const { block, source } of sources) {
    if (source !== undefined && 'file' in source) given.secretFiles.add(path.resolve(block.document.file.folder, source.file));
  }
  return readSecrets(sources, given.secrets, report);
}

/** Which secrets the state is reached with. Mistakes in its expressions are reported when it is evaluated. */
function stateSecrets(assembled: Assembled, fixed: Fixed): (name: string) => boolean {
  const { state } = assembled.single;
  if (state === undefined) return () => false;
  const reads = expressionsIn(compileNode(state, placeFor(USES.state, fixed), new Report())).flatMap((expression) => expression.reads);
  const ofSecrets = reads.filter(({ root }) => root === 'secrets').map(({ path }) => path[0]);
  return (name) => ofSecrets.some((read) => typeof read !== 'string' || read === name);
}

function compileLocals(
  assembled: Assembled,
  fixed: Fixed,
  referable: Referable,
  report: Report,
): { readonly compiled: ReadonlyMap<string, Compiled>; readonly references: References } {
  const compiled = new Map<string, Compiled>();
  const references = new References(fixed.roots, fixed.table, compiled);
  const place = placeFor(USES.local, fixed, readChecks(USES.local, referable, references, report));
  for (const [name, { node }] of assembled.named.locals) compiled.set(name, compileNode(node, place, report));
  for (const name of findLocalCycles(compiled, assembled.named.locals, report)) {
    const broken = compiled.get(name);
    if (broken !== undefined) compiled.set(name, { kind: 'literal', value: BROKEN, node: broken.node });
  }
  return { compiled, references };
}
