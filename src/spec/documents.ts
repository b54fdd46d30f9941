import path from 'node:path';
import picomatch from 'picomatch';
import { withoutExtensions } from './extensions.ts';
import { Report } from './report.ts';
import { type MapNode, memberOf, nodeRange, rangeOf, type ScalarNode, type SourceFile, sourceFile, type YamlNode } from './source.ts';
import { DOCUMENT_BYTES, decodeUtf8, displayName, type Workspace } from './workspace.ts';
import { parseYaml } from './yaml.ts';

export type DocumentKind = 'Environment' | 'Fragment' | 'Release';

/** One document that belongs to the environment, extension keys taken out. */
export interface SpecDocument {
  readonly kind: DocumentKind;
  readonly file: SourceFile;
  readonly root: MapNode;
}

export interface FolderDocuments {
  /** Undefined when there is none, or several. */
  readonly environment: SpecDocument | undefined;
  /** Fragments of the folder, by file name. */
  readonly fragments: readonly SpecDocument[];
  /** Real paths of every file that was read, so that an include does not read one twice. */
  readonly seen: ReadonlySet<string>;
}

/** Reads every YAML file of the environment's folder itself. */
export async function readFolder(workspace: Workspace, report: Report): Promise<FolderDocuments> {
  const names = (await workspace.files.namesIn(workspace, workspace.folder)).filter(
    (name) => /\.ya?ml$/.test(name) && !name.startsWith('.'),
  );
  const read = names.map((name) => ({ name, ...readDocument(workspace, path.join(workspace.folder, name)) }));
  const environments = read.filter(({ document }) => document?.kind === 'Environment');
  // Whatever a file that is to be ignored holds, it is nobody's mistake.
  const ignored = ignoreList(environments[0]?.document);
  const counted = read.filter(({ name }) => !ignored(name));
  for (const { report: own } of counted) report.take(...own.sorted());
  const documents = counted.flatMap(({ document }) => (document === undefined ? [] : [document]));
  const [environment, second] = documents.filter(({ kind }) => kind === 'Environment');
  if (environment === undefined && !report.hasErrors) {
    report.add({
      code: 'NO_ENVIRONMENT',
      summary: 'The folder holds no environment',
      detail: `No YAML file of ${workspace.folder} has kind: Environment. Write one, or name another folder.`,
      expected: 'exactly one document with kind: Environment',
      next: 'accede init',
    });
  }
  if (environment !== undefined && second !== undefined) {
    report.add(
      {
        code: 'SEVERAL_ENVIRONMENTS',
        summary: 'The folder holds more than one environment',
        detail: `${environment.file.name} is an Environment already. One folder is one environment: make this one a Fragment, or move it to a folder of its own.`,
        expected: 'exactly one document with kind: Environment',
      },
      memberOf(second.root, 'kind') ?? second.root,
    );
  }
  return {
    environment,
    fragments: documents.filter(({ kind }) => kind === 'Fragment'),
    seen: new Set(read.flatMap(({ real }) => (real === undefined ? [] : [real]))),
  };
}

function ignoreList(environment: SpecDocument | undefined): (name: string) => boolean {
  const list = environment === undefined ? undefined : memberOf(environment.root, 'ignore');
  if (list?.kind !== 'list') return () => false;
  const patterns = list.items.flatMap((item) => (item.kind === 'scalar' && typeof item.value === 'string' ? [item.value] : []));
  return patterns.length === 0 ? () => false : picomatch(patterns);
}

interface DocumentRead {
  readonly document: SpecDocument | undefined;
  readonly report: Report;
  readonly real: string | undefined;
}

/** Reads one file as a document of ours. */
export function readDocument(workspace: Workspace, file: string): DocumentRead {
  const report = new Report();
  const name = displayName(workspace, file);
  const read = workspace.files.read(workspace, file, DOCUMENT_BYTES);
  if (!read.ok) {
    const place = rangeOf(sourceFile(name, file, path.dirname(file), ''), 0, 0);
    report.add({ code: read.code, summary: 'A document cannot be read', detail: `${name} cannot be read. ${read.reason}` }, place);
    return { document: undefined, report, real: undefined };
  }
  const decoded = decodeUtf8(read.bytes);
  if ('badByte' in decoded) {
    const before = Buffer.from(read.bytes.subarray(0, decoded.badByte)).toString('utf8');
    const source = sourceFile(name, file, path.dirname(file), before);
    const { excerpt: _, ...place } = rangeOf(source, before.length, before.length);
    report.add(
      {
        code: 'NOT_UTF8',
        summary: 'A document is not UTF-8',
        detail: `The byte at offset ${decoded.badByte} of ${name} belongs to no character in UTF-8. Save the file as UTF-8.`,
        expected: 'UTF-8',
      },
      place,
    );
    return { document: undefined, report, real: read.path };
  }
  const source = sourceFile(name, file, path.dirname(file), decoded.text);
  const root = parseYaml(source, report);
  return { document: root === undefined ? undefined : asDocument(root, source, report), report, real: read.path };
}

function asDocument(root: YamlNode, file: SourceFile, report: Report): SpecDocument | undefined {
  const version = memberOf(root, 'apiVersion');
  const written = version?.kind === 'scalar' ? version.value : undefined;
  if (root.kind !== 'map' || typeof written !== 'string' || !written.startsWith('accede/')) {
    report.add(
      {
        code: 'NOT_A_DOCUMENT',
        summary: 'A YAML file is no document of an environment',
        detail: `${file.name} does not begin with apiVersion: accede/v1. Add apiVersion and kind, or list the file under ignore: in the Environment.`,
        expected: 'apiVersion: accede/v1',
        observed: typeof written === 'string' ? `apiVersion: ${written}` : undefined,
      },
      version ?? rangeOf(file, root.start, root.start + 1),
    );
    return undefined;
  }
  if (written !== 'accede/v1') {
    report.add(
      {
        code: 'UNKNOWN_VERSION',
        summary: 'A document has an unknown version',
        detail: `The version ${written} is not known.`,
        expected: 'accede/v1',
        observed: written,
      },
      version,
    );
    return undefined;
  }
  const kind = memberOf(root, 'kind');
  const name = kind?.kind === 'scalar' ? kind.value : undefined;
  if (name === 'Environment' || name === 'Fragment' || name === 'Release')
    return { kind: name, file, root: name === 'Release' ? root : withoutExtensions(root) };
  report.add(
    {
      code: 'UNKNOWN_KIND',
      summary: 'A document has an unknown kind',
      detail: `${file.name} needs a kind: Environment, Fragment or Release.`,
      expected: 'Environment, Fragment or Release',
      observed: name === undefined ? undefined : JSON.stringify(name),
    },
    kind ?? rangeOf(file, root.start, root.start + 1),
  );
  return undefined;
}

/** One entry of `include`, its expressions filled in. */
export interface IncludeEntry {
  readonly pattern: string;
  readonly node: ScalarNode;
}

/** Reads what `include` names: paths and globs from the environment's folder, in the order of the list. */
export async function readIncludes(
  entries: readonly IncludeEntry[],
  workspace: Workspace,
  seen: ReadonlySet<string>,
  report: Report,
): Promise<readonly SpecDocument[]> {
  const known = new Set(seen);
  const documents: SpecDocument[] = [];
  for (const { pattern, node } of entries) {
    const files = await expand(pattern, workspace, report, node);
    for (const file of files) {
      const read = readDocument(workspace, file);
      if (read.real !== undefined && known.has(read.real)) continue;
      if (read.real !== undefined) known.add(read.real);
      // What cannot be opened at all is a mistake of the include; what is in the file is one of the file.
      if (read.real === undefined) report.take(...read.report.sorted().map((diagnostic) => ({ ...diagnostic, source: nodeRange(node) })));
      else report.take(...read.report.sorted());
      if (read.document === undefined) continue;
      if (read.document.kind === 'Fragment') documents.push(read.document);
      else if (read.document.kind === 'Environment') {
        report.add(
          {
            code: 'INCLUDED_ENVIRONMENT',
            summary: 'An include names another environment',
            detail: `${read.document.file.name} is an Environment; only documents with kind: Fragment can be included.`,
            expected: 'kind: Fragment',
          },
          node,
        );
      }
    }
  }
  return documents;
}

async function expand(pattern: string, workspace: Workspace, report: Report, node: ScalarNode): Promise<readonly string[]> {
  const scan = picomatch.scan(pattern);
  if (path.isAbsolute(pattern)) {
    report.add(
      {
        code: 'BAD_INCLUDE',
        summary: 'An include is no relative path',
        detail: `The include ${pattern} is absolute. Write it relative to the environment’s folder.`,
        expected: 'a relative path or glob',
      },
      node,
    );
    return [];
  }
  if (!scan.isGlob) return [path.resolve(workspace.folder, pattern)];
  const base = path.resolve(workspace.folder, scan.base);
  const matches = picomatch(scan.glob);
  const names = await workspace.files.filesBelow(workspace, base, /\*\*/.test(scan.glob) || scan.glob.includes('/'));
  if (typeof names === 'string') {
    report.add(
      {
        code: 'FILE_NOT_FOUND',
        summary: 'An include names a folder that cannot be read',
        detail: `The folder of ${pattern} cannot be read. ${names}`,
      },
      node,
    );
    return [];
  }
  const files = names.filter((name) => matches(name)).map((name) => path.join(base, name));
  if (files.length === 0)
    report.add(
      {
        code: 'INCLUDE_EMPTY',
        summary: 'An include matches no file',
        detail: `Nothing matches ${pattern}.`,
        expected: 'at least one file',
      },
      node,
    );
  return files;
}
