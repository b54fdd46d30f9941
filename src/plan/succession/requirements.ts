import type { ClassName } from '../../core/successor-class.ts';
import { type Attributes, isAttributes } from '../../core/value.ts';
import type { Refusal } from '../model.ts';
import { classRow } from './classes.ts';
import type { PathChange } from './mask.ts';

/** The backup hook as it is in force, and as the candidate has it. */
export interface BackupHooks {
  readonly inForce: Attributes;
  readonly candidate: Attributes;
}

/**
 * What a class requires beside its mask, and what no class and no policy may do. Anything in the answer makes the plan's class `refuse`; no
 * wider class is tried.
 */
export function unmetRequirements(chosen: ClassName, changes: readonly PathChange[], hooks: BackupHooks | undefined): readonly Refusal[] {
  return [...removedFamilies(changes), ...(hooks === undefined ? [] : missingBackup(chosen, changes, hooks))];
}

/** Work that is queued for a family is nobody's once the family is gone. */
function removedFamilies(changes: readonly PathChange[]): readonly Refusal[] {
  return changes.filter(isFamilyRemoval).map(({ path }) => ({
    code: 'ROLE_REMOVED',
    path,
    message: 'A family of workers would be removed, and what is queued for it would be left to nobody. Put it back.',
  }));
}

function isFamilyRemoval({ path, role, action }: PathChange): boolean {
  if (action !== 'removed') return false;
  return role === 'ownership' || (role === 'worker' && path.startsWith('release.roles'));
}

function missingBackup(chosen: ClassName, changes: readonly PathChange[], { inForce, candidate }: BackupHooks): readonly Refusal[] {
  if (classRow(chosen)?.backup !== true || hasProgram(candidate) || inForce['backup'] !== undefined) return [];
  const [first] = changes.filter(({ role }) => role === 'store' || role === 'data' || role === 'catalog');
  const isWaived = candidate['backup'] === 'none';
  const how = isWaived
    ? 'hooks.backup: none counts once it is in force: apply that in a commit of its own first.'
    : 'Name a program in hooks.backup; or affirm with hooks.backup: none, in a commit of its own, that none is needed.';
  return [
    {
      code: 'BACKUP_MISSING',
      path: first?.path ?? chosen,
      message: `A change of the class ${chosen} needs a backup, and the documents name none. ${how}`,
      expected: 'hooks.backup',
    },
  ];
}

function hasProgram(hooks: Attributes): boolean {
  const { backup } = hooks as { readonly backup?: Attributes[string] };
  return isAttributes(backup ?? null);
}
