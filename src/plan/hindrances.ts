import { compareText } from '../core/address.ts';
import { containsSensitive } from '../core/value.ts';
import type { Environment } from '../spec/environment.ts';
import type { Assessed } from './assess.ts';
import type { PlanMessage, Refusal } from './model.ts';

/** Why a change can not be carried out although its resource wants it: there is nowhere to keep what it makes, or what stands there is not to be removed. */
export function hindrance(environment: Environment, assessed: Assessed): Pick<Refusal, 'code' | 'message' | 'next'> | undefined {
  return keylessRefusal(environment, assessed) ?? unremovable(assessed);
}

function keylessRefusal(environment: Environment, { decision, type }: Assessed): Pick<Refusal, 'code' | 'message'> | undefined {
  if (environment.encryption !== undefined || !['create', 'replace', 'update', 'adopt'].includes(decision.action)) return undefined;
  const secrets = [...type.traits].filter(([, traits]) => traits.kept && traits.computed).map(([path]) => path);
  if (secrets.length === 0) return undefined;
  return {
    code: 'STATE_KEY_NEEDED',
    message: `It makes secrets that are kept in the state and nowhere else (${secrets.sort(compareText).join(', ')}), and the documents name no key to encrypt them with. Without one they would be lost as soon as they are made. Write state.encryption, with a key file or a passphrase.`,
  };
}

function unremovable({ decision, observed }: Assessed): Pick<Refusal, 'code' | 'message'> | undefined {
  const removes = decision.action === 'delete' || decision.action === 'replace';
  return removes && observed?.kind === 'found' ? observed.unremovable : undefined;
}

/** Secrets that a change takes away and that are not kept: going back after a run that broke off needs them from where they came from. */
export function notKeptWarnings(environment: Environment, shown: readonly Assessed[]): readonly PlanMessage[] {
  if (environment.encryption !== undefined) return [];
  return shown.flatMap(({ address, decision, type, masks }): readonly PlanMessage[] => {
    if (!['update', 'replace', 'delete'].includes(decision.action)) return [];
    const recorded = masks.recorded ?? {};
    const lost = Object.keys(recorded).filter((name) => type.traits.get(name)?.kept === true && containsSensitive(recorded[name] ?? null));
    if (lost.length === 0) return [];
    const message = `What ${lost.sort(compareText).join(' and ')} held is a secret, and the state has no key to keep it with (state.encryption). While this plan runs it can be put back; after a run that broke off, going back needs it from where it came from.`;
    return [{ code: 'SECRET_NOT_KEPT', message, address }];
  });
}
