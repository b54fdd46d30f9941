import { succeed } from '../../core/diagnostic.ts';
import type {
  EffectIo,
  Host,
  ObjectQuery,
  Observed,
  Operation,
  Provider,
  ReadIo,
  ReadSession,
  Receipt,
  Residue,
  ResourceType,
  Session,
  Undo,
} from '../contract.ts';
import {
  performCertificate,
  readCertificateObject,
  removeCertificateResidue,
  resolveCertificate,
  undoCertificate,
} from './certificate-handler.ts';
import { certificateType } from './certificate-type.ts';
import { localConfig } from './config.ts';
import { performDirectory, readDirectory, removeDirectoryResidue, resolveDirectory, undoDirectory } from './directory-handler.ts';
import { directoryType } from './directory-type.ts';
import { performFile, readFileObject, removeResidue, resolveFile, undoFile } from './file-handler.ts';
import { fileType } from './file-type.ts';
import { keypairType, makeKeypair } from './keypair.ts';
import { performPorts, portsType } from './ports.ts';
import { type Made, madeOnce, readRecorded } from './recorded.ts';
import { makeSecret, secretType } from './secret.ts';
import { performValue, readValue, valueType } from './value.ts';

/** What acts for one type. What exists in the state alone needs no way back: the engine puts its record back. */
interface Handler {
  readonly type: ResourceType;
  read(query: ObjectQuery, io: ReadIo): Observed | Promise<Observed>;
  perform(operation: Operation, io: EffectIo, made: Made): Receipt | Promise<Receipt>;
  resolve?(id: string, io: ReadIo): Promise<string | undefined>;
  undo?(undo: Undo, io: EffectIo): Promise<void>;
  removeResidue?(left: Residue, host: Host): Promise<void>;
}

const HANDLERS: readonly Handler[] = [
  {
    type: certificateType,
    read: readCertificateObject,
    perform: performCertificate,
    resolve: resolveCertificate,
    undo: undoCertificate,
    removeResidue: removeCertificateResidue,
  },
  {
    type: directoryType,
    read: readDirectory,
    perform: performDirectory,
    resolve: resolveDirectory,
    undo: undoDirectory,
    removeResidue: removeDirectoryResidue,
  },
  {
    type: fileType,
    read: readFileObject,
    perform: performFile,
    resolve: resolveFile,
    undo: undoFile,
    removeResidue: (left, host) => removeResidue([left], host),
  },
  {
    type: keypairType,
    read: readRecorded,
    perform: (operation, { ids }, made) => madeOnce(operation, made, () => makeKeypair(operation, ids)),
  },
  { type: portsType, read: readRecorded, perform: performPorts },
  {
    type: secretType,
    read: readRecorded,
    perform: (operation, { ids }, made) => madeOnce(operation, made, () => makeSecret(operation, ids)),
  },
  { type: valueType, read: readValue, perform: performValue },
];

function handlerOf(type: string): Handler {
  const handler = HANDLERS.find((candidate) => candidate.type.type === type);
  if (handler === undefined) throw new Error(`local has no type ${type}`);
  return handler;
}

const readSession: ReadSession = {
  versions: {},
  read: async (query, io) => await handlerOf(query.type).read(query, io),
  resolve: async (type, id, io) => await handlerOf(type).resolve?.(id, io),
  async close() {},
};

function openSession(): Session {
  const made: Made = new Map();
  return {
    ...readSession,
    perform: async (operation, io) => await handlerOf(operation.type).perform(operation, io, made),
    async undo(undo, io) {
      await handlerOf(undo.type).undo?.(undo, io);
    },
    async reconcile(residue, io) {
      for (const left of residue) await handlerOf(left.type).removeResidue?.(left, io.host);
    },
  };
}

/** Files and directories on this machine, and what is made once and kept in the state. Opening it reaches nothing and always succeeds. */
export const localProvider: Provider = {
  name: 'local',
  summary: 'Files on this machine, and values, secrets, keys and ports that are kept in the state',
  config: localConfig,
  types: HANDLERS.map(({ type }) => type),
  exposes: [],
  openReadOnly: async () => succeed(readSession),
  open: async () => succeed(openSession()),
};
