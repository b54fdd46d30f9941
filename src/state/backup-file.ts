import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { canonicalText, type Digest, digestBytes } from '../core/canonical.ts';
import { judgeChain } from './audit.ts';
import { BackendError } from './contract.ts';
import { SECTIONS, type Section, type SectionRow } from './sections.ts';
import type { SqlRow } from './sql.ts';

export const BACKUP_FORMAT = 'accede.backup/v1';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/) as unknown as z.ZodType<Digest>;
const count = z.int().nonnegative();

/** What the first line of a backup says. */
export const backupHeaderSchema = z.strictObject({
  format: z.literal(BACKUP_FORMAT),
  environment: z.string(),
  lineage: z.string().regex(/^[0-9a-f]{32}$/),
  epoch: z.int().positive().describe('Of the state that was read; a restore raises it.'),
  schema: z.int().positive().describe('Version of the tables whose rows these are.'),
  serial: count,
  digest: digest.describe('Over resources and outputs, as in the state document.'),
  open: z.string().nullable().describe('The operation that had not ended, if there was one.'),
  createdAt: z.string(),
  by: z.string(),
});
export type BackupHeader = Readonly<z.infer<typeof backupHeaderSchema>>;

const entrySchema = z.strictObject({ name: z.string(), rows: count, bytes: count, digest });
/** One part of the file: so many lines and bytes, in a row, with this digest. */
export type BackupEntry = Readonly<z.infer<typeof entrySchema>>;

/** What the last line of a backup says: its own digest is over `sections` in canonical form, and names the backup. */
export const backupManifestSchema = z.strictObject({ sections: z.array(entrySchema), digest });

const CHUNK = 1024 * 1024;
const NEWLINE = 0x0a;
/** The last line is far shorter. */
const MANIFEST_BYTES = 64 * 1024;

/** Sums up the lines of one section. */
export class SectionSum {
  readonly #hash: Hash = createHash('sha256');
  #rows = 0;
  #bytes = 0;

  /** A line with its end. */
  add(line: Buffer): void {
    this.#hash.update(line);
    this.#rows += 1;
    this.#bytes += line.length;
  }

  /** Nothing can be added any more. */
  entry(name: string): BackupEntry {
    return { name, rows: this.#rows, bytes: this.#bytes, digest: `sha256:${this.#hash.digest('hex')}` as Digest };
  }
}

/** The line of a row. Equal rows have equal lines, whichever database they come from. Throws `STATE_CORRUPT` for a row of another form. */
export function lineOf(section: Section, row: SqlRow): Buffer {
  const parsed = section.row.safeParse({ ...row });
  if (parsed.success) return Buffer.from(`${canonicalText(parsed.data)}\n`);
  throw new BackendError('STATE_CORRUPT', `The state is damaged: a row of the ${section.name} has another form than accede writes.`);
}

/** Writes a backup into an empty file, section by section. */
export class BackupWriter {
  readonly #file: FileHandle;
  readonly #entries: BackupEntry[] = [];
  #waiting: Buffer[] = [];
  #size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async header(header: BackupHeader): Promise<void> {
    await this.section('header', [Buffer.from(`${canonicalText(header)}\n`)]);
  }

  async section(name: string, lines: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    const sum = new SectionSum();
    for await (const line of lines) {
      sum.add(line);
      this.#waiting.push(line);
      this.#size += line.length;
      if (this.#size >= CHUNK) await this.#flush();
    }
    this.#entries.push(sum.entry(name));
  }

  /** Writes the manifest and makes the file durable. */
  async end(): Promise<void> {
    const sections = this.#entries;
    this.#waiting.push(Buffer.from(`${canonicalText({ sections, digest: digestBytes(canonicalText(sections)) })}\n`));
    await this.#flush();
    await this.#file.sync();
  }

  async #flush(): Promise<void> {
    await this.#file.writeFile(Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#size = 0;
  }
}

/** A backup whose every byte was found to be what was written. Whoever opened it closes it. */
export class BackupFile {
  readonly path: string;
  readonly header: BackupHeader;
  readonly entries: readonly BackupEntry[];
  /** Over the manifest, and by it over the whole file. */
  readonly digest: Digest;
  readonly bytes: number;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle, found: { readonly header: BackupHeader } & Manifest) {
    this.path = path;
    this.header = found.header;
    this.entries = found.sections;
    this.digest = found.digest;
    this.bytes = found.size;
    this.#file = file;
  }

  /**
   * Opens a backup and goes through all of it: manifest, every section's digest and rows, and the audit chain. Throws `FILE_UNREADABLE`,
   * `STATE_BACKUP_FORMAT`, `STATE_BACKUP_DAMAGED` (which names the first section that is not what was written) and `AUDIT_BROKEN`.
   */
  static async open(path: string): Promise<BackupFile> {
    const file = await openRegular(path);
    try {
      const manifest = await readManifest(file, path);
      const header = await verifyHeader(file, path, manifest);
      const opened = new BackupFile(path, file, { ...manifest, header });
      const audited: { [name: string]: SqlRow[] } = { audit: [], 'audit-tip': [] };
      for (const section of SECTIONS) {
        for await (const row of opened.rows(section)) audited[section.name]?.push(row);
      }
      const { problem } = judgeChain(audited['audit-tip']?.[0], audited['audit'] ?? [], 'audit-tip of the backup');
      if (problem !== null) {
        const detail = `The audit chain in the backup ${path} is broken: the record ${problem.ordinal} is ${problem.kind}, ${problem.detail}.`;
        throw new BackendError('AUDIT_BROKEN', detail, { next: 'accede audit verify' });
      }
      return opened;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** How many rows a section has. */
  count(name: string): number {
    return this.entries.find((entry) => entry.name === name)?.rows ?? 0;
  }

  /** The rows of a section. Throws `STATE_BACKUP_DAMAGED` at its end, or before, when it is not what the manifest says. */
  async *rows(section: Section): AsyncGenerator<SectionRow> {
    const at = this.entries.findIndex((entry) => entry.name === section.name);
    const entry = this.entries[at];
    if (entry === undefined) throw damagedBackup(this.path, section.name);
    const begin = this.entries.slice(0, at).reduce((sum, { bytes }) => sum + bytes, 0);
    const sum = new SectionSum();
    let isWhole = true;
    for await (const line of linesOf(this.#file, begin, entry.bytes)) {
      sum.add(line);
      const row = isWhole ? parseRow(section, line) : undefined;
      if (row === undefined) isWhole = false;
      else yield row;
    }
    if (!isWhole || canonicalText(sum.entry(section.name)) !== canonicalText(entry)) throw damagedBackup(this.path, section.name);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

interface Manifest {
  readonly sections: readonly BackupEntry[];
  readonly digest: Digest;
  readonly size: number;
}

/** Says which part of a backup is not what was written. */
export function damagedBackup(path: string, section: string, more = ''): BackendError {
  return new BackendError(
    'STATE_BACKUP_DAMAGED',
    `The backup ${path} is not what was written: the section ${section} was altered or cut${more}. Nothing was changed. Take another copy of it.`,
  );
}

async function openRegular(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new BackendError('FILE_UNREADABLE', `${path} can not be read. It is no regular file.`);
}

function unreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const reason = error.code === 'ENOENT' ? 'It does not exist.' : `The system answered ${String(error.code)}.`;
  return new BackendError('FILE_UNREADABLE', `${path} can not be read. ${reason}`, { cause: error });
}

async function readManifest(file: FileHandle, path: string): Promise<Manifest> {
  const { size } = await file.stat();
  const tail = await readAt(file, Math.max(0, size - MANIFEST_BYTES), Math.min(size, MANIFEST_BYTES));
  const begin = tail.lastIndexOf(NEWLINE, tail.length - 2) + 1;
  const line = tail.subarray(begin);
  const manifest = parseLine(backupManifestSchema, line);
  const names = ['header', ...SECTIONS.map(({ name }) => name)];
  if (
    manifest === undefined ||
    digestBytes(canonicalText(manifest.sections)) !== manifest.digest ||
    manifest.sections.map(({ name }) => name).join() !== names.join()
  ) {
    await requireFormat(file, path);
    throw damagedBackup(path, 'manifest');
  }
  return { ...manifest, size };
}

/** A file of another kind or version is told from one that is damaged by its first bytes. */
async function requireFormat(file: FileHandle, path: string): Promise<void> {
  const head = (await readAt(file, 0, 4096)).toString('latin1');
  const format = /"format":"(accede\.[a-z-]+\/v\d+)"/.exec(head)?.[1];
  if (format === BACKUP_FORMAT || (format === undefined && head.includes('"accede.'))) return;
  const what = format === undefined ? 'It is no backup of accede' : `It has the format ${format}`;
  throw new BackendError(
    'STATE_BACKUP_FORMAT',
    `${path} is not restored: ${what}, and this version reads ${BACKUP_FORMAT} alone.`,
    format === 'accede.state/v1' ? { next: `accede state push ${path}` } : {},
  );
}

async function verifyHeader(file: FileHandle, path: string, { sections, size }: Manifest): Promise<BackupHeader> {
  const [entry] = sections;
  if (entry === undefined) throw damagedBackup(path, 'manifest');
  const line = await readAt(file, 0, entry.bytes);
  const sum = new SectionSum();
  sum.add(line);
  if (canonicalText(sum.entry('header')) !== canonicalText(entry)) throw damagedBackup(path, 'header');
  const header = parseLine(backupHeaderSchema, line);
  if (header === undefined) {
    await requireFormat(file, path);
    throw damagedBackup(path, 'header');
  }
  const manifest = Buffer.byteLength(`${canonicalText({ sections, digest: digestBytes(canonicalText(sections)) })}\n`);
  const whole = sections.reduce((all, { bytes }) => all + bytes, manifest);
  // Whatever was put in or taken out shows in the first section that it moved; what is left over is behind all of them.
  if (whole !== size) {
    for (const section of sections.slice(1)) await verifyBytes(file, path, sections, section);
    throw damagedBackup(path, 'manifest');
  }
  return header;
}

async function verifyBytes(file: FileHandle, path: string, entries: readonly BackupEntry[], entry: BackupEntry): Promise<void> {
  const begin = entries.slice(0, entries.indexOf(entry)).reduce((sum, { bytes }) => sum + bytes, 0);
  const sum = new SectionSum();
  for await (const line of linesOf(file, begin, entry.bytes)) sum.add(line);
  if (canonicalText(sum.entry(entry.name)) !== canonicalText(entry)) throw damagedBackup(path, entry.name);
}

/** A line that is in canonical form, and of this one. */
function parseLine<T>(schema: z.ZodType<T>, line: Buffer): T | undefined {
  const parsed = schema.safeParse(parseJson(line));
  return parsed.success && line.equals(Buffer.from(`${canonicalText(parsed.data)}\n`)) ? parsed.data : undefined;
}

function parseRow(section: Section, line: Buffer): SectionRow | undefined {
  const parsed = section.row.safeParse(parseJson(line));
  return parsed.success ? parsed.data : undefined;
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The lines of a stretch of the file, each with its end; the last one may have none. */
async function* linesOf(file: FileHandle, begin: number, length: number): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for (let at = 0; at < length; ) {
    const chunk = await readAt(file, begin + at, Math.min(CHUNK, length - at));
    if (chunk.length === 0) break;
    at += chunk.length;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield rest.length === 0 ? chunk.subarray(from, end + 1) : Buffer.concat([...rest, chunk.subarray(0, end + 1)]);
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(buffer, read, length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
