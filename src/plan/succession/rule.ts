import type { ClassName } from '../../core/successor-class.ts';
import type { Refusal } from '../model.ts';
import { classRow } from './classes.ts';
import { isRider, type PathChange } from './mask.ts';
import type { Match } from './match.ts';

const DOCUMENTS_ASIDE = 'the documents are left aside, as asked for';

/** Why a plan has its class, in words. */
export const ruleOf = {
  refused(refusals: readonly Refusal[], chosen: ClassName | null): string {
    const codes = [...new Set(refusals.map(({ code }) => code))].sort().join(', ');
    const count = `${refusals.length} refusal${refusals.length === 1 ? '' : 's'}: ${codes}`;
    return chosen === null ? count : `${count}; else it would be ${chosen}`;
  },
  destroy(keepsProtected: boolean, marked: boolean): string {
    return keepsProtected
      ? 'what is recorded is to be deleted, but for what is protected and what that needs, as asked for'
      : `everything that is recorded${marked ? ' or bears our mark' : ''} is to be deleted, as asked for`;
  },
  initial(isLost: boolean): string {
    return isLost
      ? 'there is no state, and what bears the mark of one that was is recorded again'
      : 'no environment of this name has been put in force yet';
  },
  nothing(refreshOnly: boolean): string {
    return refreshOnly ? `record and live world agree; ${DOCUMENTS_ASIDE}` : 'documents, record and live world agree';
  },
  repair(refreshOnly: boolean): string {
    return refreshOnly
      ? `the record takes over what is live; ${DOCUMENTS_ASIDE}`
      : 'the documents say what is in force, and only the live world differs from it';
  },
  matched({ class: name, refusal }: Match, changes: readonly PathChange[]): string {
    if (refusal !== null) return refusal.code;
    const rule = classRow(name)?.rule ?? name;
    const governs = name !== 'policy-change' && changes.some((change) => change.facet === 'governance' && isRider(change));
    return governs ? `${rule}; what governs differs as well` : rule;
  },
};
