import { compareText } from '../core/address.ts';
import { canonicalText, digestBytes } from '../core/canonical.ts';
import { BackendError, type Mutation } from './contract.ts';
import { sealRow } from './digest.ts';
import type { StepRow } from './model.ts';
import { prune } from './prune.ts';
import { parseCount } from './rows.ts';
import { keepSource } from './sources.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** Where a mutation is written to. */
export interface MutationTarget {
  readonly environment: string;
  /** Serial of the operation that is open. */
  readonly serial: number;
  /** The place in the order of all steps; kept by a step that is there already. */
  nextOrdinal(): number;
}

/** Whether the step's effect may have happened without being recorded. A creation that failed may have left a part of its object. */
export function isUnsettled(step: StepRow): boolean {
  switch (step.status) {
    case 'intended':
    case 'unknown':
    case 'compensating':
      return true;
    case 'failed':
      return step.object === 'create';
    case 'done':
    case 'compensated':
    case 'settled':
      return false;
  }
  return step.status satisfies never;
}

/** Writes one mutation. Its cost does not depend on how many resources there are. */
export async function applyMutation(transaction: Transaction, sql: Statements, target: MutationTarget, mutation: Mutation): Promise<void> {
  const { environment, serial } = target;
  switch (mutation.kind) {
    case 'row': {
      const { address } = mutation.row;
      const { body, digest } = sealRow(mutation.row);
      await transaction.execute(sql.putResource, [environment, address, digest, body]);
      await transaction.execute(sql.putHistory, [environment, address, serial, digest, body]);
      return;
    }
    case 'drop': {
      const dropped = await transaction.execute(sql.dropResource, [environment, mutation.address]);
      if (dropped > 0) await transaction.execute(sql.putHistory, [environment, mutation.address, serial, null, null]);
      return;
    }
    case 'step': {
      const { step } = mutation;
      const unsettled = isUnsettled(step) ? 1 : 0;
      await transaction.execute(sql.putStep, [environment, step.serial, step.step, target.nextOrdinal(), unsettled, canonicalText(step)]);
      return;
    }
    case 'outputs': {
      const outputs = [...mutation.outputs].sort((a, b) => compareText(a.name, b.name));
      await transaction.execute(sql.putOutputs, [environment, serial, canonicalText(outputs)]);
      return;
    }
    case 'encryption':
      await transaction.execute(sql.putEncryption, [environment, canonicalText(mutation.encryption)]);
      return;
    case 'evidence': {
      const last = (await transaction.query(sql.lastEvidence, [environment, serial]))[0];
      const part = last?.['part'] === null || last === undefined ? 1 : parseCount(sql.tables.evidence, last, 'part') + 1;
      const body = canonicalText(mutation.body);
      await transaction.execute(sql.putEvidence, [environment, serial, part, digestBytes(body), body]);
      return;
    }
    case 'spend': {
      const row = (await transaction.query(sql.spent, [environment, mutation.planDigest]))[0];
      const by = row === undefined ? mutation.serial : parseCount(sql.tables.spent, row, 'serial');
      if (by !== mutation.serial) {
        throw new BackendError('STATE_MOVED', `The plan ${mutation.planDigest} was carried out already, by the operation op-${by}.`, {
          next: 'accede plan',
        });
      }
      await transaction.execute(sql.putSpent, [environment, mutation.planDigest, mutation.serial]);
      return;
    }
    case 'source':
      await keepSource(transaction, sql, environment, mutation);
      return;
    case 'hold':
      if (mutation.hold === null) await transaction.execute(sql.dropHold, [environment, 'source']);
      else await transaction.execute(sql.putHold, [environment, mutation.hold.kind, canonicalText(mutation.hold)]);
      return;
    case 'retain': {
      const keys = await transaction.query(sql.evidenceKeys, [environment]);
      for (const row of keys.slice(mutation.evidence)) {
        const [at, part] = [parseCount(sql.tables.evidence, row, 'serial'), parseCount(sql.tables.evidence, row, 'part')];
        await transaction.execute(sql.dropEvidence, [environment, at, part]);
      }
      return;
    }
    case 'prune':
      await prune(transaction, sql, environment, mutation.before);
      return;
  }
  mutation satisfies never;
}
