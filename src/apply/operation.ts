import type { ResourceLookup } from '../core/template.ts';
import {
  type Attributes,
  clearForm,
  containsUnknown,
  decodeValue,
  isAttributes,
  isList,
  MARKER,
  type Plain,
  reveal,
  Sensitive,
  sameValue,
  Unknown,
  type Value,
  withoutCiphertext,
} from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import { evaluateInstance } from '../plan/evaluate.ts';
import { recordedComputed } from '../plan/live.ts';
import type { PreparedChange } from '../plan/prepared.ts';
import type { Effect, Mark, Operation } from '../providers/contract.ts';
import type { ResourceRow } from '../state/model.ts';
import { encodedAttributes } from './record.ts';

/** What a handler gets to do one effect of a change: everything known, secrets in clear. */
export function effectOperation(
  change: PreparedChange,
  effect: Effect,
  intent: { readonly key: string; readonly id: string; readonly ref: string | null },
  run: {
    readonly operation: string;
    readonly mark: Mark;
    readonly desired: Attributes | undefined;
    readonly deposed: boolean;
    readonly key: Buffer;
    readonly vault: Vault | undefined;
  },
): Operation {
  const { planned } = change;
  const action = planned.action === 'adopt' ? 'update' : planned.action;
  if (action !== 'create' && action !== 'update' && action !== 'replace' && action !== 'start' && action !== 'delete') {
    throw new Error(`${planned.address}: ${planned.action} has no effects`);
  }
  // What goes away may depend on values that its successor will only know later; nothing but the record is needed for it.
  const going = effect.part === 'remove' || effect.part === 'retire';
  const isRecorded = going || run.desired === undefined;
  const desired = isRecorded ? withoutSecrets(change.row?.attributes ?? {}) : reveal(run.desired);
  const sealed = isRecorded ? withoutCiphertext(change.row?.attributes ?? {}) : encodedAttributes(run.desired, run.key);
  return {
    operation: run.operation,
    key: intent.key,
    effect,
    change: {
      action,
      order: planned.replaceOrder ?? 'destroy-first',
      paths: planned.paths.map(({ path }) => path),
      deposed: run.deposed,
    },
    address: planned.address,
    type: change.type.type,
    mark: run.mark,
    id: intent.id,
    ...(intent.ref === null ? {} : { ref: intent.ref }),
    desired: desired as { readonly [name: string]: Plain },
    sealed: sealed as { readonly [name: string]: Plain },
    ...(change.row === undefined ? {} : { computed: recordedInClear(change.row, run.key, run.vault) }),
    context: change.context,
    timeouts: change.instance?.timeouts ?? {},
  };
}

/** The recorded computed attributes, secrets that are kept in clear. */
function recordedInClear(row: ResourceRow, key: Buffer, vault: Vault | undefined): { readonly [name: string]: Plain } {
  return clearForm(recordedComputed(row, vault), key) as { readonly [name: string]: Plain };
}

/** Whether everything that the plan knew came out the same. */
export function agrees(planned: Value, final: Value, key: Buffer): boolean {
  if (planned instanceof Unknown) return true;
  if (isAttributes(planned) && isAttributes(final)) {
    const names = new Set([...Object.keys(planned), ...Object.keys(final)]);
    return [...names].every((name) => {
      const [was, is] = [planned[name], final[name]];
      if (was instanceof Unknown) return true;
      return was !== undefined && is !== undefined && agrees(was, is, key);
    });
  }
  if (containsUnknown(planned)) return true;
  return sameValue(planned, final, key);
}

/** The form in which the record will hold it: secrets as fingerprints. */
export function sealedForm(attributes: Attributes, key: Buffer): Attributes {
  return decodeValue(encodedAttributes(attributes, key)) as Attributes;
}

/** What was recorded, for removing an object: a secret is of no use for that and is not there any more. */
export function withoutSecrets(stored: { readonly [name: string]: Plain }): { readonly [name: string]: Plain } {
  const strip = (value: Plain): Plain => {
    if (Array.isArray(value)) return value.map((item: Plain) => strip(item));
    if (typeof value !== 'object' || value === null) return value;
    if (MARKER in value) return null;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, strip(item)]));
  };
  return Object.fromEntries(Object.entries(stored).map(([name, item]) => [name, strip(item)]));
}

/** What was there before, secrets in clear where they are open, and the names of the attributes that hold one which is not. */
export function preimageInClear(attributes: Attributes): {
  readonly attributes: { readonly [name: string]: Plain };
  readonly sealed: readonly string[];
} {
  const isSealed = (value: Value): boolean =>
    value instanceof Sensitive
      ? !value.isOpen
      : isList(value)
        ? value.some(isSealed)
        : isAttributes(value) && Object.values(value).some(isSealed);
  const sealed = Object.keys(attributes).filter((name) => isSealed(attributes[name] ?? null));
  const open = Object.fromEntries(Object.entries(attributes).filter(([name]) => !sealed.includes(name)));
  return { attributes: reveal(open) as { readonly [name: string]: Plain }, sealed };
}

/** What is known of the desired attributes before anything was done, for effects that only prepare. */
export function foreseeable(change: PreparedChange, lookup: ResourceLookup): Attributes {
  const { instance, type, context } = change;
  if (instance === undefined) return {};
  const outcome = evaluateInstance(instance, type, context, lookup, change.row);
  if (!outcome.ok) return {};
  return Object.fromEntries(Object.entries(outcome.value.normal).filter(([, value]) => !containsUnknown(value)));
}
