import type { PlannedStep, Refusal, Succession } from '../model.ts';
import { isBeforeEffects } from '../stages.ts';
import { DIRECTION } from './direction.ts';

/**
 * What a class runs beside the changes themselves. `backup`: `required` always; `for protected data` where data that is protected would be
 * removed or replaced, and else when declared; `when declared`; `when forward`: when declared, and there is a step that cannot be taken back.
 * `quiesces`: old writers are stopped first.
 */
export interface Procedure {
  readonly backup: 'required' | 'for protected data' | 'when declared' | 'when forward' | 'none';
  readonly quiesces: boolean;
}

const PROCEDURES: { readonly [name: string]: Procedure } = {
  initial: { backup: 'none', quiesces: true },
  'catalog-upgrade': { backup: 'required', quiesces: true },
  'data-reset': { backup: 'required', quiesces: true },
  'store-refresh': { backup: 'required', quiesces: false },
  destroy: { backup: 'for protected data', quiesces: false },
  replacement: { backup: 'for protected data', quiesces: false },
  'reference-completion': { backup: 'when declared', quiesces: false },
  'trust-transition': { backup: 'when declared', quiesces: false },
  'job-run': { backup: 'when declared', quiesces: false },
  'worker-implementation': { backup: 'when forward', quiesces: false },
  'serving-refresh': { backup: 'when forward', quiesces: false },
  'release-refresh': { backup: 'when forward', quiesces: false },
  topology: { backup: 'when forward', quiesces: false },
  composite: { backup: 'when forward', quiesces: false },
};

const PLAIN: Procedure = { backup: 'none', quiesces: false };

/** The procedure of a class. A class without an entry runs its changes and the hooks around them, and nothing else. */
export function procedureOf(name: string): Procedure {
  return Object.hasOwn(PROCEDURES, name) ? (PROCEDURES[name] ?? PLAIN) : PLAIN;
}

/** What of a plan decides whether there has to be a backup first. */
export interface BackupFacts {
  /** Addresses of protected data that would be removed or replaced. */
  readonly protectedData: readonly string[];
  readonly succession: Pick<Succession, 'direction' | 'pointOfNoReturn'>;
}

/** Whether the class cannot go without a backup, and whether one that is declared runs. */
export function backupOf(procedure: Procedure, facts: BackupFacts): { readonly required: boolean; readonly runs: boolean } {
  const { direction, pointOfNoReturn } = facts.succession;
  switch (procedure.backup) {
    case 'required':
      return { required: true, runs: true };
    case 'for protected data':
      return { required: facts.protectedData.length > 0, runs: true };
    case 'when declared':
      return { required: false, runs: true };
    case 'when forward':
      return { required: false, runs: direction === DIRECTION.forward || pointOfNoReturn !== null };
    case 'none':
      return { required: false, runs: false };
  }
  return procedure.backup satisfies never;
}

/** The refusal of a plan whose class needs a backup that nobody declares. */
export function backupMissing(name: string, facts: BackupFacts): Refusal {
  const [first] = facts.protectedData;
  const what = first === undefined ? `The class ${name} needs a backup first` : 'Data that is protected would go, so a backup comes first';
  return {
    code: 'BACKUP_MISSING',
    path: first ?? 'hooks.backup',
    message: `${what}, and the documents name none. Name a program in hooks.backup; or affirm with hooks.backup: none, in a commit of its own, that none is needed.`,
    expected: 'hooks.backup',
    observed: 'nothing declared',
  };
}

/** Whether any step does something to the world that a hook could be about. */
export function hasEffects(steps: readonly PlannedStep[]): boolean {
  return steps.some((step) => !isBeforeEffects(step.stage));
}
