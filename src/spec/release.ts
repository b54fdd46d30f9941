import path from 'node:path';
import { compareText } from '../core/address.ts';
import { type Digest, digestOf } from '../core/canonical.ts';
import { type Outcome, settle } from '../core/diagnostic.ts';
import { type PublicKey, parsePublicKey } from '../core/ed25519.ts';
import { hasInterpolation } from '../core/expression-text.ts';
import type { Attributes, Plain, Value } from '../core/value.ts';
import { checkValue } from '../providers/validate.ts';
import { readDocument } from './documents.ts';
import { diskFiles } from './file-source.ts';
import { judgeSignature, parseReleaseSignature, type ReleaseSignature, SIGNATURE_FILE_BYTES } from './release-signature.ts';
import { Report } from './report.ts';
import { releaseSchema } from './schema.ts';
import { type MapNode, memberOf, nodeRange, plainOf, problemPlace, type ScalarNode, type YamlNode } from './source.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface Release {
  /** Absolute paths of the document and of its signature. */
  readonly paths: readonly string[];
  readonly digest: Digest;
  readonly document: Attributes & Plain;
  /** Absent when the environment asks for no signature. */
  readonly trust?: ReleaseTrust;
}

/** Whom the environment trusts with its release, and who of them signed it. Keys by fingerprint, sorted. */
export interface ReleaseTrust {
  readonly keys: readonly string[];
  readonly signer: string;
}

/**
 * Reads the release that the Environment names, and proves its signature where it asks for one. Undefined when it names none, or when it cannot
 * be read. A signature that does not hold is an error in the report.
 */
export function readRelease(node: YamlNode | undefined, workspace: Workspace, report: Report): Release | undefined {
  const found = readNamed(node, workspace, report);
  const signing = node?.kind === 'map' ? readSigning(node, workspace, report) : undefined;
  if (found === undefined || signing === undefined) return found;
  // The mistake is in the report, so that nothing is loaded; other mistakes are found with the release as it stands.
  if (signing === 'mistaken') return found;
  const verdict = judgeSignature(found.document, signing.signature, signing.keys);
  if (!verdict.ok) {
    const { ok: _, ...mistake } = verdict;
    report.add({ ...mistake, next: 'accede release sign --key FILE' }, signing.place);
    return found;
  }
  const keys = [...new Set(signing.keys.map(({ fingerprint }) => fingerprint))].sort(compareText);
  return { ...found, paths: [...found.paths, signing.path], trust: { keys, signer: verdict.signer.fingerprint } };
}

function readNamed(node: YamlNode | undefined, workspace: Workspace, report: Report): Release | undefined {
  const name = node?.kind === 'map' ? memberOf(node, 'file') : node;
  if (name?.kind !== 'scalar' || typeof name.value !== 'string') return undefined;
  if (!isPlainText(name, 'The path of the release is plain text.', report)) return undefined;
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
  const document = checkRelease(read.document.root, report);
  return document === undefined ? undefined : { paths: [file], digest: digestOf(document), document };
}

/** The content of a release document; undefined when it has a mistake, which is in the report then. */
export function checkRelease(root: YamlNode, report: Report): (Attributes & Plain) | undefined {
  refuseExpressions(root, report);
  const document = plainOf(root) as Attributes & Plain;
  const problems = checkValue(releaseSchema(), document as Value);
  for (const problem of problems) report.addProblem(problem, problemPlace(root, problem));
  return problems.length > 0 ? undefined : document;
}

/** Whether a scalar is the plain text that has to stand there. */
function isPlainText(node: ScalarNode, detail: string, report: Report): boolean {
  if (typeof node.value !== 'string' || !hasInterpolation(node.value)) return typeof node.value === 'string';
  report.add({ code: 'EXPRESSION_NOT_ALLOWED', summary: 'An expression stands where none may be', detail }, node);
  return false;
}

interface Signing {
  readonly keys: readonly PublicKey[];
  readonly signature: ReleaseSignature;
  readonly path: string;
  readonly place: YamlNode;
}

/** The signature and the keys that an environment names; undefined when it names neither. */
function readSigning(node: MapNode, workspace: Workspace, report: Report): Signing | 'mistaken' | undefined {
  const [signature, keys] = [node.entries.get('signature'), node.entries.get('keys')];
  if (signature === undefined && keys === undefined) return undefined;
  if (signature === undefined || keys === undefined) {
    const [named, missing] = signature === undefined ? ['keys', 'signature'] : ['signature', 'keys'];
    report.add(
      {
        code: 'RELEASE_TRUST_INCOMPLETE',
        summary: 'A signed release needs both a signature and keys',
        detail: `release: names ${named} and no ${missing}, so that nothing could be proven. Name both, or neither for a release that is not signed.`,
        expected: 'file, signature and keys',
      },
      (signature ?? keys)?.key,
    );
    return 'mistaken';
  }
  const trusted = keys.value.kind === 'list' ? keys.value.items.map((item) => readKey(item, report)) : [];
  const read = readSignatureFile(signature.value, workspace, report);
  const known = trusted.flatMap((key) => key ?? []);
  // The schema says what is wrong with a list that is empty or none.
  if (read === undefined || known.length === 0 || known.length < trusted.length) return 'mistaken';
  return { ...read, keys: known, place: signature.value };
}

function readKey(node: YamlNode, report: Report): PublicKey | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return undefined;
  if (!isPlainText(node, 'A key that is trusted is written out.', report)) return undefined;
  const parsed = parsePublicKey(node.value);
  if (parsed.ok) return parsed.key;
  report.add(
    {
      code: 'RELEASE_KEY_INVALID',
      summary: 'A key of the release is no public key',
      detail: `A key under release.keys cannot be read. ${parsed.reason}`,
      expected: 'ed25519:BASE64 or ssh-ed25519 AAAA…',
    },
    node,
  );
  return undefined;
}

function readSignatureFile(node: YamlNode, workspace: Workspace, report: Report): Pick<Signing, 'signature' | 'path'> | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return undefined;
  if (!isPlainText(node, 'The path of the signature is plain text.', report)) return undefined;
  const file = path.resolve(workspace.folder, node.value);
  const read = workspace.files.read(workspace, file, SIGNATURE_FILE_BYTES);
  if (!read.ok) {
    report.add(
      {
        code: read.code === 'FILE_NOT_FOUND' ? 'RELEASE_SIGNATURE_MISSING' : read.code,
        summary: 'The signature of the release cannot be read',
        detail: `${node.value} cannot be read. ${read.reason}`,
        next: 'accede release sign --key FILE',
      },
      node,
    );
    return undefined;
  }
  const signature = parseReleaseSignature(read.bytes);
  if (signature !== undefined) return { signature, path: file };
  report.add(
    {
      code: 'RELEASE_SIGNATURE_MALFORMED',
      summary: 'The signature of the release is none',
      detail: `${node.value} holds no signature.`,
      expected: 'what accede release sign writes, or the 64 bytes of an ed25519 signature, also in base64',
      next: 'accede release sign --key FILE',
    },
    node,
  );
  return undefined;
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
  const content = document?.kind === 'Release' ? checkRelease(document.root, report) : undefined;
  if (content === undefined) return { ok: false, diagnostics: report.sorted() };
  return settle({ paths: [file], digest: digestOf(content), document: content }, report.sorted());
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
