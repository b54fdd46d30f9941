import path from 'node:path';
import { type Digest, digestOf } from '../core/canonical.ts';
import { type Outcome, settle } from '../core/diagnostic.ts';
import { hasInterpolation } from '../core/expression-text.ts';
import type { Attributes, Plain, Value } from '../core/value.ts';
import { checkValue } from '../providers/validate.ts';
import { readDocument } from './documents.ts';
import { diskFiles } from './file-source.ts';
import { Report } from './report.ts';
import { releaseSchema } from './schema.ts';
import { memberOf, nodeRange, plainOf, problemPlace, type YamlNode } from './source.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface Release {
  /** Absolute. */
  readonly path: string;
  readonly digest: Digest;
  readonly document: Attributes & Plain;
}

/** Reads the release that the Environment names. Undefined when it names none, or when there is a mistake. */
export function readRelease(node: YamlNode | undefined, workspace: Workspace, report: Report): Release | undefined {
  const name = node?.kind === 'map' ? memberOf(node, 'file') : node;
  if (name?.kind !== 'scalar' || typeof name.value !== 'string') return undefined;
  if (hasInterpolation(name.value)) {
    report.add(
      {
        code: 'EXPRESSION_NOT_ALLOWED',
        summary: 'An expression stands where none may be',
        detail: 'The path of the release is plain text.',
      },
      name,
    );
    return undefined;
  }
  const file = path.resolve(workspace.folder, name.value);
  const read = readDocument(workspace, file);
  if (read.real === undefined) report.take(...read.report.sorted().map((diagnostic) => ({ ...diagnostic, source: nodeRange(name) })));
  else report.take(...read.report.sorted());
  if (read.document === undefined) return undefined;
  if (read.document.kind !== 'Release') {
    report.add(
      {
        code: 'NOT_A_RELEASE',
        summary: 'The release is another kind of document',
        detail: `${name.value} has kind: ${read.document.kind}.`,
        expected: 'kind: Release',
      },
      name,
    );
    return undefined;
  }
  return checkRelease(file, read.document.root, report);
}

function checkRelease(file: string, root: YamlNode, report: Report): Release | undefined {
  refuseExpressions(root, report);
  const document = plainOf(root) as Attributes & Plain;
  const problems = checkValue(releaseSchema(), document as Value);
  for (const problem of problems) report.addProblem(problem, problemPlace(root, problem));
  return problems.length > 0 ? undefined : { path: file, digest: digestOf(document), document };
}

/** Reads a release document by its path, without an environment. All mistakes in it are in the outcome. */
export async function readReleaseFile(file: string): Promise<Outcome<Release>> {
  const opened = await openWorkspace(path.dirname(file), diskFiles);
  if (!opened.ok) return opened;
  const report = new Report();
  const read = readDocument(opened.value, file);
  report.take(...read.report.sorted());
  const { document } = read;
  if (document !== undefined && document.kind !== 'Release') {
    report.add(
      {
        code: 'NOT_A_RELEASE',
        summary: 'The release is another kind of document',
        detail: `${file} has kind: ${document.kind}.`,
        expected: 'kind: Release',
      },
      document.root,
    );
  }
  const release = document?.kind === 'Release' ? checkRelease(file, document.root, report) : undefined;
  return release === undefined ? { ok: false, diagnostics: report.sorted() } : settle(release, report.sorted());
}

/** A release is sealed as it stands, so that nothing in it may depend on anything. */
function refuseExpressions(node: YamlNode, report: Report): void {
  if (node.kind === 'list') for (const item of node.items) refuseExpressions(item, report);
  else if (node.kind === 'map') for (const { value } of node.entries.values()) refuseExpressions(value, report);
  else if (typeof node.value === 'string' && hasInterpolation(node.value)) {
    report.add(
      {
        code: 'EXPRESSION_NOT_ALLOWED',
        summary: 'An expression stands where none may be',
        detail: 'A release is a sealed document: every value in it is written out.',
      },
      node,
    );
  }
}

/** The role that an entry of `services` gives to what takes its image from it. */
export function roleOfService(release: Attributes, name: string): 'service' | 'worker' | undefined {
  const services = release['services'];
  const entry = isMap(services) && Object.hasOwn(services, name) ? services[name] : undefined;
  if (!isMap(entry)) return undefined;
  return entry['role'] === 'worker' ? 'worker' : 'service';
}

function isMap(value: Value | undefined): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
