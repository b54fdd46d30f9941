import { compareText } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { MARKER, type Plain } from '../core/value.ts';
import type { Mutation } from './contract.ts';
import type { StateDocument } from './document.ts';
import type { Identity, ResourceRow, Sealed, Snapshot } from './model.ts';

/** What `state push` writes: one operation of the kind `state-push` with these mutations, sealed with `sealed` at its end. */
export interface PushPlan {
  /** For `acquire` when the store is empty: the lineage goes on at the document's serial, with a new key. */
  readonly create: { readonly identity: Identity; readonly serial: number } | undefined;
  readonly mutations: readonly Mutation[];
  /** What was in force; its serial is to be that of the operation. */
  readonly sealed: Omit<Sealed, 'serial'> | null;
}

/**
 * Decides what a push changes. Refuses another environment, another lineage and a serial older than the store's. Into an empty store it needs
 * `fingerprintKey`, a new one: fingerprints under the old key are taken out, so that the next plan shows those
 * secrets as changed. What is kept encrypted goes along and opens with the same key as before.
 */
export function preparePush(
  document: StateDocument,
  current: Snapshot | undefined,
  target: { readonly environment: string; readonly fingerprintKey: string },
): Outcome<PushPlan> {
  if (document.environment !== target.environment) {
    return fail(
      refusal(
        'The state document belongs to another environment',
        'A state can only be pushed to the environment that it was pulled from.',
        {
          expected: target.environment,
          observed: document.environment,
        },
      ),
    );
  }
  if (current === undefined) {
    const rows = [...document.resources.values()].map(withoutFingerprints);
    const outputs = document.outputs.map((output) => ({ name: output.name, value: dropFingerprints(output.value) }));
    const { environment, lineage, createdAt, encryption, serial } = document;
    return succeed({
      create: { identity: { format: 1, environment, lineage, fingerprintKey: target.fingerprintKey, encryption, createdAt }, serial },
      mutations: [...rows.map((row): Mutation => ({ kind: 'row', row })), { kind: 'outputs', outputs }],
      // The fingerprints of secrets were made under a key that this store does not have.
      sealed: document.sealed === null ? null : { ...withoutSerial(document.sealed), secrets: {} },
    });
  }
  if (document.lineage !== current.identity.lineage) {
    return fail(
      refusal(
        'The state document is of another lineage',
        'The store holds a state that was made apart from this one, even though both have one name.',
        {
          expected: current.identity.lineage,
          observed: document.lineage,
        },
      ),
    );
  }
  if (document.serial < current.head.serial) {
    return fail(
      refusal(
        'The state document is older than the state',
        'Operations that came after it would be forgotten, and with them what they made.',
        {
          expected: `serial ${current.head.serial}`,
          observed: `serial ${document.serial}`,
          next: 'accede state pull',
        },
      ),
    );
  }
  if (document.serial > current.head.serial) {
    return fail(
      refusal(
        'The state document is newer than the state',
        'The store was set back: operations that it makes from now on would be taken for those of the document. Push into an empty store instead.',
        { expected: `serial ${current.head.serial}`, observed: `serial ${document.serial}` },
      ),
    );
  }
  if (canonicalText(document.encryption) !== canonicalText(current.identity.encryption)) {
    return fail(
      refusal(
        'The state document is encrypted with another key',
        'What it keeps encrypted could not be opened with the key of the store. The encryption of a state is changed by accede state rekey alone.',
        { next: 'accede state pull' },
      ),
    );
  }
  return succeed({
    create: undefined,
    mutations: changes(document, current),
    sealed: document.sealed === null ? null : withoutSerial(document.sealed),
  });
}

function changes(document: StateDocument, current: Snapshot): readonly Mutation[] {
  const dropped = [...current.resources.keys()].filter((address) => !document.resources.has(address)).sort(compareText);
  return [
    ...dropped.map((address): Mutation => ({ kind: 'drop', address })),
    ...[...document.resources.values()].map((row): Mutation => ({ kind: 'row', row })),
    { kind: 'outputs', outputs: document.outputs },
  ];
}

function withoutSerial(sealed: Sealed): Omit<Sealed, 'serial'> {
  const { serial: _, ...rest } = sealed;
  return rest;
}

function withoutFingerprints(row: ResourceRow): ResourceRow {
  const strip = (attributes: ResourceRow['attributes']) =>
    Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, dropFingerprints(value)]));
  return { ...row, attributes: strip(row.attributes), computed: strip(row.computed) };
}

function dropFingerprints(stored: Plain): Plain {
  if (Array.isArray(stored)) return stored.map((item: Plain) => dropFingerprints(item));
  if (typeof stored !== 'object' || stored === null) return stored;
  const entries = Object.entries(stored as { readonly [name: string]: Plain });
  if (Object.hasOwn(stored, MARKER)) return Object.fromEntries(entries.filter(([name]) => name !== 'fingerprint'));
  return Object.fromEntries(entries.map(([name, item]) => [name, dropFingerprints(item)]));
}

function refusal(summary: string, detail: string, more: Pick<Diagnostic, 'expected' | 'observed' | 'next'>): Diagnostic {
  return { severity: 'error', code: 'STATE_PUSH_REFUSED', summary, detail, ...more };
}
