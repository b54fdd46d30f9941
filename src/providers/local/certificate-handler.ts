import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { randomBytes } from '../../core/random.ts';
import type { Attributes, Plain } from '../../core/value.ts';
import {
  type EffectIo,
  type Found,
  type Host,
  type ObjectQuery,
  type Observed,
  type Operation,
  ProviderError,
  type ReadHost,
  type ReadIo,
  type Receipt,
  type Residue,
  type Undo,
} from '../contract.ts';
import { accountAs, ownerNumber } from './accounts.ts';
import { makesNew, pathsIn, WHOLE } from './certificate-type.ts';
import { modeText } from './file-type.ts';
import { placeOf, readAtPath, resolveAtPath } from './path-object.ts';
import type { Made } from './recorded.ts';
import { desiredMode, desiredPath, makeStaged, removeStaged, requireDirectory, residueKey } from './stage.ts';
import { belongTogether, type CertificateFacts, type CertificatePair, makeCertificate, readCertificate, serialText } from './x509.ts';

const LIMIT = 64 * 1024;
const CERTIFICATE_MODE = 0o644;
/** From when on a plan warns that a certificate ends. */
const WARNED_BEFORE = 30 * 24 * 3600 * 1000;

/** Reads a certificate and its key. A directory in its place that holds neither is not taken for one of them. */
export async function readCertificateObject(query: ObjectQuery, io: ReadIo): Promise<Observed> {
  return await readAtPath(query, (path) => observe(path, query, io));
}

/** The absolute path of a directory with both files is its live id. */
export async function resolveCertificate(id: string, io: ReadIo): Promise<string | undefined> {
  if ((await resolveAtPath(id, 'directory', io)) === undefined) return undefined;
  const { certificate, key } = await readPair(id, io.host);
  return certificate === undefined || key === undefined ? undefined : id;
}

/** Carries out one effect of a certificate. */
export async function performCertificate(operation: Operation, io: EffectIo, made: Made): Promise<Receipt> {
  switch (operation.effect.object) {
    case 'create':
      return await create(operation, io);
    case 'update':
      return await once(operation, made, () => update(operation, io));
    case 'remove':
    case 'retire':
      if (operation.ref !== undefined) await remove(operation.ref, operation, io.host);
      return {};
    case 'depose':
    case 'keep':
      throw new Error(`local.certificate has no effect ${operation.effect.name}`);
  }
  return operation.effect.object satisfies never;
}

/** Takes one effect of a certificate back: what was made goes, what was changed or removed gets its former files. */
export async function undoCertificate(undo: Undo, io: EffectIo): Promise<void> {
  switch (undo.effect.object) {
    case 'create':
      // What the effect did not make is left alone.
      if (await isMadeFor(undo, desiredPath(undo), io.host)) await remove(desiredPath(undo), undo, io.host);
      return;
    case 'update':
    case 'remove':
      return await putBack(undo, io.host);
    case 'depose':
    case 'keep':
      return;
    case 'retire':
      throw new Error('a predecessor that was removed does not come back');
  }
  undo.effect.object satisfies never;
}

/** Removes what runs that were killed while they made a certificate left beside it. */
export async function removeCertificateResidue(left: Residue, host: Host): Promise<void> {
  for (const path of new Set([left.identity, left.ref ?? left.identity])) {
    if (path === '') continue;
    await removeStaged(path, left, host);
    for (const file of Object.values(pathsIn(path))) await host.removeResidue(file, { key: residueKey(left) });
  }
}

async function observe(path: string | undefined, query: ObjectQuery, io: ReadIo): Promise<Found | undefined> {
  const { host, clock } = io;
  const status = path === undefined ? undefined : await host.status(path);
  if (path === undefined || status === undefined) return undefined;
  requireDirectory(path, status);
  const recorded = query.recorded?.attributes;
  const { certificate, key, status: keyStatus } = await readPair(path, host);
  const facts = certificate === undefined ? undefined : readCertificate(certificate);
  const isRecorded = path === query.ref && recorded !== undefined;
  return {
    kind: 'found',
    owner: path === query.ref ? 'ours' : 'nobody',
    ref: path,
    attributes: {
      ...placeOf(path, query),
      ...(isRecorded && recorded['generation'] !== undefined ? { generation: recorded['generation'] } : {}),
      ...(facts === undefined ? {} : { names: facts.names, validity_days: facts.days }),
      ...(keyStatus === undefined
        ? {}
        : { owner: await accountAs(recorded?.['owner'], keyStatus.uid, (name) => host.userId(name)), mode: modeText(keyStatus.mode) }),
      pair: judgePair(certificate, key, facts, query.recorded?.computed['digest']),
      ...(certificate === undefined ? {} : { certificate_pem: certificate }),
      ...(key === undefined ? {} : { private_key: key }),
    },
    computed: { paths: pathsIn(path), ...factsOf(facts) },
    ...notesOn(facts, path, clock.now()),
  };
}

function factsOf(facts: CertificateFacts | undefined): Attributes {
  return { digest: facts?.digest ?? null, not_after: facts?.notAfter ?? null };
}

function judgePair(
  certificate: string | undefined,
  key: string | undefined,
  facts: CertificateFacts | undefined,
  recorded: unknown,
): string {
  if (certificate === undefined) return 'the certificate is missing';
  if (key === undefined) return 'the key is missing';
  if (facts === undefined) return 'the certificate cannot be read';
  if (!belongTogether({ certificate, key })) return 'the key is not that of the certificate';
  return typeof recorded === 'string' && recorded !== facts.digest ? 'another certificate' : WHOLE;
}

function notesOn(facts: CertificateFacts | undefined, path: string, now: number): Pick<Found, 'notes'> {
  if (facts === undefined) return {};
  const ends = Date.parse(facts.notAfter);
  if (now < ends - WARNED_BEFORE) return {};
  const says = now < ends ? `ends at ${facts.notAfter}` : `ended at ${facts.notAfter}, and clients refuse it`;
  const message = `The certificate in ${path} ${says}. Raise its generation to make a new one; what refers to its digest is restarted with it.`;
  return { notes: [{ code: 'CERTIFICATE_ENDS', message }] };
}

/** Does it once for its key: a repetition would make another certificate. */
async function once(operation: Operation, made: Made, act: () => Promise<Receipt>): Promise<Receipt> {
  const known = made.get(operation.key);
  if (known !== undefined) return known;
  const receipt = await act();
  made.set(operation.key, receipt);
  return receipt;
}

async function create(operation: Operation, io: EffectIo): Promise<Receipt> {
  const { host } = io;
  const path = desiredPath(operation);
  if ((await host.status(path)) !== undefined) {
    const { certificate, key } = await readPair(path, host);
    const isDone = certificate !== undefined && key !== undefined && (await isMadeFor(operation, path, host));
    if (isDone) return receiptOf(path, { certificate, key });
    throw new ProviderError('FOREIGN', `${path} is there already and is not ours.`, {
      next: `Move ${path} away, or take it over with an import block.`,
    });
  }
  const pair = await newPair(operation, io, serialOf(operation.id));
  await makeDefaultFolders(operation, host);
  await make(path, pair, operation, host);
  return receiptOf(path, pair);
}

async function update(operation: Operation, io: EffectIo): Promise<Receipt> {
  const { host } = io;
  const path = operation.ref ?? desiredPath(operation);
  const present = await readPair(path, host);
  const { certificate, key } = present;
  if (certificate !== undefined && key !== undefined && !operation.change.paths.some(makesNew)) {
    await setAccess(path, operation.desired, operation.address, host);
    return receiptOf(path, { certificate, key });
  }
  // Another serial than that of the first one: two certificates of one issuer must not share it.
  const pair = await newPair(operation, io, randomBytes(io.ids, 16));
  await writePair(path, pair, operation, host);
  return receiptOf(path, pair);
}

function receiptOf(path: string, { certificate }: CertificatePair): Receipt {
  return { ref: path, computed: { paths: pathsIn(path), ...factsOf(readCertificate(certificate)) } };
}

/** The serial number of the certificate that is made with an object: by it the object is known again. */
function serialOf(id: string): Buffer {
  return createHash('sha256').update(id).digest().subarray(0, 16);
}

async function isMadeFor({ id }: Pick<Operation, 'id'>, path: string, host: ReadHost): Promise<boolean> {
  if ((await host.status(path))?.kind !== 'directory') return false;
  const { certificate } = await readPair(path, host);
  return certificate !== undefined && readCertificate(certificate)?.serial === serialText(serialOf(id));
}

async function newPair({ desired, address }: Operation, { clock }: EffectIo, serial: Buffer): Promise<CertificatePair> {
  const { names, validity_days: days } = desired;
  if (!Array.isArray(names) || typeof days !== 'number') throw new Error(`${address} has no normal form`);
  return await makeCertificate({ names: names.map(String), days, serial }, clock.now());
}

/** The folders above the place where certificates stand when the documents name none. */
async function makeDefaultFolders({ desired, context }: Operation, host: Host): Promise<void> {
  if (typeof desired['path'] !== 'string' || !/^\.accede\/certificates\/[^/]+$/.test(desired['path'])) return;
  for (const folder of ['.accede', '.accede/certificates']) await host.makeFolder(join(context.folder, folder), { mode: 0o700 });
}

type About = Pick<Operation, 'mark' | 'address' | 'desired'>;

/** Makes the directory with both files: it is there whole or not at all. */
async function make(path: string, pair: CertificatePair, about: About, host: Host): Promise<void> {
  await makeStaged(path, { ...about, mode: 0o755 }, host, (stage) => writePair(stage, pair, about, host));
}

/** The key first: a server that is started in between finds a key that does not fit and says so, and never the other way round an old key in use. */
async function writePair(path: string, pair: CertificatePair, about: About, host: Host): Promise<void> {
  const files = pathsIn(path);
  const uid = await ownerNumber(about.desired['owner'], host);
  const owned = uid === undefined ? {} : { uid };
  const key = residueKey(about);
  await host.writeFile(files.key, Buffer.from(pair.key), { mode: desiredMode(about.desired['mode'], about.address), key, ...owned });
  await host.writeFile(files.certificate, Buffer.from(pair.certificate), { mode: CERTIFICATE_MODE, key, ...owned });
}

async function setAccess(path: string, desired: Operation['desired'], address: string, host: Host): Promise<void> {
  const files = pathsIn(path);
  const uid = await ownerNumber(desired['owner'], host);
  for (const file of [files.key, files.certificate]) {
    const status = await host.status(file);
    if (uid !== undefined && status !== undefined && status.uid !== uid) await host.setOwner(file, uid, status.gid);
  }
  await host.setMode(files.key, desiredMode(desired['mode'], address));
}

/** Removes both files, and the directory unless something else is in it. */
async function remove(path: string, about: Pick<Operation, 'mark' | 'address'>, host: Host): Promise<void> {
  const status = await host.status(path);
  if (status === undefined) return;
  requireDirectory(path, status);
  for (const file of Object.values(pathsIn(path))) await host.removeFile(file, { key: residueKey(about) });
  if ((await host.list(path)).length === 0) await host.removeFolder(path);
}

async function putBack(undo: Undo, host: Host): Promise<void> {
  const { before, ref: path, sealedBefore } = undo;
  if (before === undefined || path === undefined) return;
  const { certificate_pem: certificate, private_key: key } = before;
  if (typeof certificate !== 'string' || typeof key !== 'string') {
    if (!sealedBefore.includes('private_key')) return await restoreParts(path, before, undo, host);
    throw new ProviderError('OTHER', `The former key of ${path} is not known any more, since the state had no key to keep it with.`, {
      next: `Look at ${path}.`,
    });
  }
  const about = { ...undo, desired: before };
  if ((await host.status(path)) === undefined) await make(path, { certificate, key }, about, host);
  else await writePair(path, { certificate, key }, about, host);
}

/** Before the change one of the files was missing: it is missing again. */
async function restoreParts(path: string, before: { readonly [name: string]: Plain }, undo: Undo, host: Host): Promise<void> {
  const files = pathsIn(path);
  const key = residueKey(undo);
  for (const [name, file] of [
    ['certificate_pem', files.certificate],
    ['private_key', files.key],
  ] as const) {
    const content = before[name];
    const mode = name === 'private_key' ? desiredMode(before['mode'], undo.address) : CERTIFICATE_MODE;
    if (typeof content === 'string') await host.writeFile(file, Buffer.from(content), { mode, key });
    else await host.removeFile(file, { key });
  }
}

async function readPair(path: string, host: ReadHost) {
  const files = pathsIn(path);
  const read = async (file: string) => {
    const status = await host.status(file);
    if (status === undefined) return undefined;
    if (status.kind !== 'file')
      throw new ProviderError('CONFLICT', `What stands at ${file} is no regular file.`, { next: `Remove or move ${file}.` });
    return { text: new TextDecoder().decode(await host.readFile(file, { limit: LIMIT })), status };
  };
  const [certificate, key] = [await read(files.certificate), await read(files.key)];
  return { certificate: certificate?.text, key: key?.text, status: key?.status };
}
