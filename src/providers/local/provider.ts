import { succeed } from '../../core/diagnostic.ts';
import type { Provider, ReadSession, Session } from '../contract.ts';
import { localConfig } from './config.ts';
import { performFile, readFileObject, removeResidue, resolveFile, undoFile } from './file-handler.ts';
import { fileType } from './file-type.ts';
import { performValue, readValue, valueType } from './value.ts';

const readSession: ReadSession = {
  versions: {},
  async read(query, io) {
    return query.type === fileType.type ? await readFileObject(query, io) : readValue(query);
  },
  async resolve(type, id, io) {
    return type === fileType.type ? await resolveFile(id, io) : undefined;
  },
  async close() {},
};

const session: Session = {
  ...readSession,
  async perform(operation, io) {
    return operation.type === fileType.type ? await performFile(operation, io) : performValue(operation);
  },
  async undo(undo, io) {
    // A value is nowhere but in the record, which the engine puts back.
    if (undo.type === fileType.type) await undoFile(undo, io);
  },
  async reconcile(residue, io) {
    await removeResidue(residue, io.host);
  },
};

/** Files on this machine and values in the state. Opening it reaches nothing and always succeeds. */
export const localProvider: Provider = {
  name: 'local',
  summary: 'Files on this machine, and values that are kept in the state',
  config: localConfig,
  types: [fileType, valueType],
  exposes: [],
  openReadOnly: async () => succeed(readSession),
  open: async () => succeed(session),
};
