import { compareText } from '../core/address.ts';
import { containsSensitive } from '../core/value.ts';
import type { Environment } from '../spec/environment.ts';
import type { Assessed } from './assess.ts';
import type { PlanMessage, Refusal } from './model.ts';

/** Why a change can not be carried out although its resource wants it: there is nowhere to keep what it makes, or what stands there is not to be removed. */
export function hindrance(
  environment: Environment,
  assessed: Assessed,
  gone: ReadonlySet<string>,
): Pick<Refusal, 'code' | 'message' | 'next'> | undefined {
  return keylessRefusal(environment, assessed) ?? holdingRefusal(assessed, gone);
}

/** Live ids of what a plan removes, each with its provider. */
export function removedRefs(resources: Iterable<Assessed>): ReadonlySet<string> {
  const gone = new Set<string>();
  for (const assessed of resources) {
    if (removes(assessed) && assessed.observed?.kind === 'found') gone.add(`${providerOf(assessed)} ${assessed.observed.ref}`);
  }
  return gone;
}

function removes({ decision }: Assessed): boolean {
  return decision.action === 'delete' || decision.action === 'replace';
}

function providerOf({ recorded, instance }: Assessed): string {
  return recorded?.row.provider ?? instance?.provider ?? '';
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

function holdingRefusal(assessed: Assessed, gone: ReadonlySet<string>): Pick<Refusal, 'code' | 'message'> | undefined {
  const { observed } = assessed;
  if (!removes(assessed) || observed?.kind !== 'found' || observed.holding === undefined) return undefined;
  const { code, message, refs } = observed.holding;
  const left = refs.filter((ref) => !gone.has(`${providerOf(assessed)} ${ref}`));
  if (left.length === 0) return undefined;
  const rest = left.length > NAMED ? ` and ${left.length - NAMED} more` : '';
  return { code, message: `${message} In the way: ${left.slice(0, NAMED).join(', ')}${rest}.` };
}

/** How many of the things that are in the way are named. */
const NAMED = 3;

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
