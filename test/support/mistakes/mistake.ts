/** One wrong folder and what must be said of it. The types in it are those of the program itself. */
export interface Mistake {
  readonly name: string;
  /** The whole of environment.yaml, or several files. */
  readonly files: string | Readonly<Record<string, string | Uint8Array>>;
  readonly code: string;
  /** `line:column` in environment.yaml, `file:line:column`, or nothing when the mistake is in no document. */
  readonly at: string | undefined;
  /** A part of the detail; a near miss stands in it as `Did you mean …?`. */
  readonly says: string;
  readonly expected?: string;
  /** Values given on the command line with `--var`. */
  readonly variables?: readonly (readonly [name: string, value: string])[];
  /** How many diagnostics there are when it is not one. */
  readonly count?: number;
  /** Found where secrets are read: by `plan`, and not by `validate`. */
  readonly readsSecrets?: true;
}

export const HEAD = 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: test }\n';
export const PART = 'apiVersion: accede/v1\nkind: Fragment\n';
export const IMAGE = `reg/x@sha256:${'a'.repeat(64)}`;

/** An environment with this text; HEAD has three lines, so that the text begins at line 4. */
export const env = (text: string): string => `${HEAD}${text}`;
/** An environment with one container that has these attributes; they begin at line 8. */
export const box = (attributes: string): string => env(`resources:\n  docker.container:\n    api:\n      image: ${IMAGE}\n${attributes}`);

/** The files of a mistake by their names. */
export const filesOf = ({ files }: Mistake): Readonly<Record<string, string | Uint8Array>> =>
  typeof files === 'string' ? { 'environment.yaml': files } : files;

/** Where it is, as `file:line:column`; undefined when it is in no document. */
export const placeOf = ({ at }: Mistake): string | undefined =>
  at === undefined || at.split(':').length === 3 ? at : `environment.yaml:${at}`;
