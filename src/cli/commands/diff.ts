import { resolve } from 'node:path';
import { diagnoseBackend } from '../../apply/failure.ts';
import { keptBundle, noSuchSerial } from '../../apply/past.ts';
import type { Bundle } from '../../core/bundle.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import { loadEnvironment } from '../../spec/load.ts';
import { BackendError } from '../../state/contract.ts';
import { type DiffArguments, parseDiffArguments } from '../arguments/diff.ts';
import { serialOf } from '../arguments/rollback.ts';
import { usageError } from '../arguments/values.ts';
import { compareSides, desiredSide, isEqual, plannedSide, recordedSide, type Side } from '../comparison.ts';
import { documentsOnly } from '../documents-only.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type LocatedState, openLocated } from '../past-workspace.ts';
import { kindOf } from '../paths.ts';
import { readPlanFile } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderComparison } from '../views/comparison.ts';
import { failWith } from './failing.ts';
import { noState } from './reading.ts';

/** One operand: which kind of thing it names. */
type Named = { readonly kind: 'serial'; readonly serial: number } | { readonly kind: 'plan' | 'folder'; readonly path: string };

/** `diff`: what differs between two environments, plans or serials. Takes no lock and reads nothing live. */
export async function runDiff(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseDiffArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const args = parsed.value;
  const named = nameBoth(args, shell);
  if (!named.ok) return failWith(shell, named.diagnostics);
  try {
    const sides = await readSides(named.value, args, shell);
    if (!sides.ok) return failWith(shell, sides.diagnostics);
    const comparison = compareSides(...sides.value);
    if (shell.output.json) shell.output.document(comparison);
    else shell.output.print(renderComparison(shell.output.clean(comparison), shell.output.answer));
    return args.detailedExitcode && !isEqual(comparison) ? EXIT.changes : EXIT.done;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  }
}

function nameBoth({ operands }: DiffArguments, shell: Shell): Outcome<readonly [Named, Named]> {
  const [one, other] = operands.map((word) => nameOf(word, shell));
  if (one === undefined || other === undefined) {
    const word = operands[one === undefined ? 0 : 1] ?? '';
    return fail(
      usageError(
        'NOTHING_TO_COMPARE',
        'There is nothing of that name to compare',
        `${JSON.stringify(word)} is no serial, no plan file and no folder.`,
        {
          expected: 'a serial as 12, a plan file, or the folder of an environment',
          observed: word,
        },
      ),
    );
  }
  if ([one, other].some(({ kind }) => kind === 'plan') && [one, other].some(({ kind }) => kind === 'folder')) {
    return fail(
      usageError(
        'NOTHING_TO_COMPARE',
        'A plan and documents do not compare',
        'A plan holds what objects will be, and documents hold what is written. Make a plan of the folder and compare the two plans.',
        { next: 'accede plan --out plan.json' },
      ),
    );
  }
  return succeed([one, other]);
}

function nameOf(word: string, shell: Shell): Named | undefined {
  const serial = serialOf(word);
  if (serial !== undefined) return { kind: 'serial', serial };
  const path = resolve(shell.folder, word);
  const kind = kindOf(path);
  return kind === 'none' ? undefined : { kind: kind === 'file' ? 'plan' : 'folder', path };
}

async function readSides(named: readonly [Named, Named], args: DiffArguments, shell: Shell): Promise<Outcome<readonly [Side, Side]>> {
  const isWritten = named.some(({ kind }) => kind === 'folder');
  const needsState = named.some(({ kind }) => kind === 'serial');
  const located = needsState ? await openLocated(shell, args) : undefined;
  if (located?.ok === false) return located;
  try {
    const [a, b] = await Promise.all(named.map((one) => readSide(one, { args, shell, located: located?.value, isWritten })));
    if (a === undefined || b === undefined) throw new Error('two operands give two sides');
    if (!a.ok || !b.ok) return { ok: false, diagnostics: [...a.diagnostics, ...b.diagnostics] };
    return succeed([a.value, b.value]);
  } finally {
    await located?.value.store.close();
  }
}

interface Reading {
  readonly args: DiffArguments;
  readonly shell: Shell;
  readonly located: LocatedState | undefined;
  /** Whether the other side is documents, so that this one has to be as well. */
  readonly isWritten: boolean;
}

async function readSide(named: Named, reading: Reading): Promise<Outcome<Side>> {
  const { shell, args, located } = reading;
  switch (named.kind) {
    case 'plan': {
      const plan = await readPlanFile(named.path);
      return plan.ok ? succeed(plannedSide(`plan ${plan.value.digest}`, plan.value)) : plan;
    }
    case 'folder': {
      const loaded = await loadEnvironment(documentsOnly(shell, args, named.path));
      return loaded.ok ? succeed(desiredSide(named.path, loaded.value)) : loaded;
    }
    case 'serial': {
      if (located === undefined) throw new Error('a serial is read from a state');
      return await readSerial(named.serial, located, reading.isWritten);
    }
  }
  return named satisfies never;
}

async function readSerial(serial: number, located: LocatedState, isWritten: boolean): Promise<Outcome<Side>> {
  const { store, location, options } = located;
  if ((await store.read()) === undefined) return fail(noState(location.name));
  const recorded = await store.readAt(serial);
  if (recorded === undefined) return fail(noSuchSerial({ operations: await store.history() }, serial));
  const bundle = await bundleAt(serial, located);
  if (!isWritten) return succeed(recordedSide(`#${serial}`, recorded, bundle));
  if (bundle === undefined) return fail(notKept(serial));
  const loaded = await loadEnvironment({ ...options, stateSecrets: 'none', folder: location.folder, bundle });
  return loaded.ok ? succeed(desiredSide(`#${serial}`, loaded.value)) : loaded;
}

/** What was in force when the operation had ended, where it is kept. */
async function bundleAt(serial: number, { store }: LocatedState): Promise<Bundle | undefined> {
  const sealed = (await store.sealings()).find((sealing) => sealing.serial <= serial)?.sealed ?? null;
  return sealed === null ? undefined : await keptBundle(store, sealed);
}

function notKept(serial: number): Diagnostic {
  return {
    severity: 'error',
    code: 'ENVIRONMENT_NOT_KEPT',
    summary: 'What the environment was made of is not kept',
    detail: `The documents that were in force at #${serial} are not in the state, so that they cannot be compared with those of a folder.`,
    next: 'accede status',
  };
}
