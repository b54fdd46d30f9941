import path from 'node:path';
import { fail, type Outcome, settle, succeed } from '../core/diagnostic.ts';
import type { Attributes, Plain } from '../core/value.ts';
import { readDocument, type SpecDocument } from './documents.ts';
import { diskFiles } from './file-source.ts';
import { checkRelease } from './release.ts';
import { Report } from './report.ts';
import { nodeRange, type SourceFile } from './source.ts';
import { parseYaml } from './yaml.ts';

/** Reads a file that has to be a release document, wherever it lies. Its content may still have mistakes. */
export function readReleaseFile(file: string): Outcome<SpecDocument> {
  const folder = path.dirname(file);
  const { document, report } = readDocument({ folder, workTree: path.parse(file).root, files: diskFiles }, file);
  if (document === undefined) return { ok: false, diagnostics: report.sorted() };
  if (document.kind === 'Release') return succeed(document, report.sorted());
  return fail({
    severity: 'error',
    code: 'NOT_A_RELEASE',
    summary: 'The file is another kind of document',
    detail: `${document.file.name} has kind: ${document.kind}.`,
    expected: 'kind: Release',
    source: nodeRange(document.root),
  });
}

/** The content of a release document, with every mistake in it. */
export function contentOfRelease(document: SpecDocument): Outcome<Attributes & Plain> {
  const report = new Report();
  const content = checkRelease(document.root, report);
  return content === undefined ? { ok: false, diagnostics: report.sorted() } : settle(content, report.sorted());
}

/** Another text of the same file, read and checked. */
export function reread(file: SourceFile, text: string): Outcome<Attributes & Plain> {
  const report = new Report();
  const lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const root = parseYaml({ ...file, text, lines }, report);
  const content = root === undefined ? undefined : checkRelease(root, report);
  return content === undefined ? { ok: false, diagnostics: report.sorted() } : settle(content, report.sorted());
}
