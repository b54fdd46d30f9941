import { ENVIRONMENT, ENVIRONMENT_TYPE } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import type { Clock } from '../core/clock.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { type HookList, hookEffect, hooksOf } from '../plan/environment-steps.ts';
import { type EffectIo, ProviderError } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { WriteSession } from '../state/contract.ts';
import type { StepRow } from '../state/model.ts';
import type { ApplyResult } from './events.ts';
import { diagnoseProvider } from './failure.ts';
import { type HookFacts, runHook } from './hooks.ts';

export interface Closing {
  readonly environment: Pick<Environment, 'hooks'>;
  readonly facts: HookFacts;
  readonly serial: number;
  readonly state: WriteSession;
  readonly clock: Clock;
  readonly io: EffectIo;
}

/**
 * Runs the hooks that are told how a run came out: `after` when all went well, `failed` else. Each is journalled. One that fails is a warning: the
 * outcome stands already.
 */
export async function runClosingHooks(outcome: ApplyResult['outcome'], closing: Closing): Promise<readonly Diagnostic[]> {
  const list: HookList = outcome === 'done' ? 'after' : 'failed';
  const warnings: Diagnostic[] = [];
  for (const [index, hook] of hooksOf(closing.environment, list).entries()) {
    const effect = hookEffect(list, index);
    const startedAt = new Date(closing.clock.now()).toISOString();
    await closing.state.write([{ kind: 'step', step: row(effect, 'intended', startedAt, closing) }]);
    let failed: Diagnostic | undefined;
    try {
      await runHook(hook, closing.facts, closing.io, outcome);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      failed = { ...diagnoseProvider(error, ENVIRONMENT, effect), severity: 'warning' };
      warnings.push(failed);
    }
    const error = failed === undefined ? null : { code: failed.code, message: failed.detail };
    await closing.state.write([{ kind: 'step', step: row(effect, error === null ? 'done' : 'failed', startedAt, closing, error) }]);
  }
  return warnings;
}

function row(effect: string, status: StepRow['status'], startedAt: string, closing: Closing, error: StepRow['error'] = null): StepRow {
  return {
    serial: closing.serial,
    step: `${ENVIRONMENT}:${effect}`,
    address: ENVIRONMENT,
    type: ENVIRONMENT_TYPE,
    provider: '',
    effect,
    object: 'keep',
    action: 'update',
    part: 'prepare',
    // It changes nothing of its own, so it stands in the way of no way back.
    stage: 'verify',
    direction: 'back',
    after: [],
    key: digestOf([closing.facts.operation, ENVIRONMENT, effect]),
    status,
    id: '',
    ref: null,
    identity: '',
    desired: null,
    preimage: null,
    folder: '.',
    startedAt,
    endedAt: status === 'intended' ? null : new Date(closing.clock.now()).toISOString(),
    error,
  };
}
