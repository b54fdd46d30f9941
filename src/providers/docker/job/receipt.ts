import { unpackTar } from 'modern-tar';
import { canonicalText } from '../../../core/canonical.ts';
import { MARKER, type Plain } from '../../../core/value.ts';
import { ProviderError } from '../../contract.ts';
import type { Acting } from '../acting.ts';
import { isNotFound } from '../errors.ts';
import { demultiplex } from '../logs.ts';
import type { ContainerReply } from '../wire.ts';
import { compileReceiptSchema } from './receipt-schema.ts';

/** The most that a receipt may hold. */
export const RECEIPT_LIMIT = 1024 * 1024;
/** Headers of the archive in which the engine hands a file over. */
const ARCHIVE_ROOM = 64 * 1024;
/** Each write of a process comes in a frame of its own. */
const FRAMES_ROOM = 16 * 1024 * 1024;
const DEEPEST = 64;

/** The receipt that an ended container left, checked; null when the job has none. Throws `INVALID` with what is wrong with it. */
export async function readReceipt(acting: Acting, container: ContainerReply): Promise<Plain> {
  const { output, stdout, schema } = acting.operation.desired;
  if (typeof output !== 'string' && stdout !== true) return null;
  const bytes = typeof output === 'string' ? await readOutput(acting, container, output) : await readStdout(acting, container);
  const receipt = parseReceipt(bytes);
  if (typeof schema !== 'string') return receipt;
  const complaints = (await compileReceiptSchema(schema))(receipt);
  if (complaints.length === 0) return receipt;
  throw new ProviderError('INVALID', `The receipt does not fit its schema: ${complaints.join('; ')}.`);
}

/** Reads a receipt's bytes as one JSON document that the state can hold. Throws `INVALID`. */
export function parseReceipt(bytes: Uint8Array): Plain {
  if (bytes.byteLength > RECEIPT_LIMIT) throw tooLarge();
  let receipt: Plain;
  try {
    receipt = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Plain;
  } catch (error) {
    throw new ProviderError('INVALID', `The receipt is not JSON: it is ${bytes.byteLength === 0 ? 'empty' : 'no single JSON document'}.`, {
      cause: error,
      next: 'Write one JSON document and nothing else there; what is for people belongs on standard error.',
    });
  }
  requireHoldable(receipt, 0);
  try {
    canonicalText(receipt);
  } catch (error) {
    throw new ProviderError('INVALID', 'The receipt holds text that is no Unicode.', { cause: error });
  }
  return receipt;
}

function requireHoldable(value: Plain, depth: number): void {
  if (depth > DEEPEST) throw new ProviderError('INVALID', `The receipt is nested deeper than ${DEEPEST} levels.`);
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && Object.hasOwn(value, MARKER)) {
    throw new ProviderError('INVALID', `The receipt has a member ${MARKER}, which is kept for the state.`);
  }
  for (const item of Object.values(value) as readonly Plain[]) requireHoldable(item, depth + 1);
}

async function readOutput(acting: Acting, container: ContainerReply, path: string): Promise<Uint8Array> {
  let archive: Buffer;
  const limit = RECEIPT_LIMIT + ARCHIVE_ROOM;
  try {
    archive = await acting.client.bytes(`/containers/${container.Id}/archive`, {
      signal: acting.io.signal,
      doing: `read ${path} of the container ${container.Name}`,
      query: { path },
      limit,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ProviderError('INVALID', `The job ended without its receipt: there is no ${path} in the container.`, { cause: error });
  }
  if (archive.length >= limit) throw tooLarge();
  const [file, ...more] = await unpackTar(new Uint8Array(archive));
  if (file?.data === undefined || more.length > 0) {
    throw new ProviderError(
      'INVALID',
      `The receipt is no regular file: ${path} is a ${more.length > 0 ? 'folder' : (file?.header.type ?? 'folder')}.`,
    );
  }
  return file.data;
}

async function readStdout(acting: Acting, container: ContainerReply): Promise<Uint8Array> {
  const bytes = await acting.client.bytes(`/containers/${container.Id}/logs`, {
    signal: acting.io.signal,
    doing: `read the output of the container ${container.Name}`,
    query: { stdout: true, stderr: false },
    limit: FRAMES_ROOM,
  });
  if (bytes.length >= FRAMES_ROOM) throw tooLarge();
  return demultiplex(bytes);
}

function tooLarge(): ProviderError {
  return new ProviderError('INVALID', 'The receipt is larger than 1 MiB.', {
    next: 'Keep what is large in a volume, and let the receipt name it.',
  });
}
