import { resolve } from 'node:path';
import { parseAddress, type ResourceAddress } from '../../core/address.ts';
import { findCode } from '../../core/codes/search.ts';
import type { Diagnostic, SourceRange } from '../../core/diagnostic.ts';
import { addressHint, nearMiss } from '../../core/naming.ts';
import { causesOf, neighbours, waitsOf } from '../../plan/explain.ts';
import { InstanceIndex } from '../../plan/instances.ts';
import type { PlanDocument } from '../../plan/model.ts';
import { CODE_TABLES } from '../../providers/codes.ts';
import type { Environment } from '../../spec/environment.ts';
import type { ResourceRow } from '../../state/model.ts';
import { type ExplainArguments, parseExplainArguments } from '../arguments/explain.ts';
import { usageError } from '../arguments/values.ts';
import { hostFor, openDocuments } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { lineCommit } from '../line-commits.ts';
import { readPlanFile, recordedFolder } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderAddressExplanation, renderCodeExplanation, renderStepExplanation } from '../views/explain.ts';
import { failWith } from './failing.ts';
import { readingState } from './reading.ts';

const FORMAT = 'accede.explanation/v1';

/** `explain`: what a code means, where a resource comes from and what it is tied to, or why a step of a plan is there and when it runs. */
export async function runExplain(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseExplainArguments(input, shell.folder);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const { what, plan } = parsed.value;
  const step = stepParts(what);
  if (step === undefined && parseAddress(what) === undefined) return explainCode(what, shell);
  if (plan !== undefined) return explainByPlan(parsed.value, plan, shell);
  if (step === undefined) return explainByRecord(parsed.value, shell);
  return failWith(shell, [
    usageError('OPERAND_MISSING', 'An operand is missing', `${what} is a step of a plan, and no plan is named.`, {
      expected: 'accede explain ADDRESS:EFFECT PLAN',
      next: 'accede plan --out plan.json',
    }),
  ]);
}

/** The parts of `ADDRESS:EFFECT`. */
function stepParts(what: string): { readonly address: string; readonly effect: string } | undefined {
  const at = what.lastIndexOf(':');
  const address = what.slice(0, Math.max(at, 0));
  return at > 0 && parseAddress(address) !== undefined ? { address, effect: what.slice(at + 1) } : undefined;
}

function explainCode(what: string, shell: Shell): ExitCode {
  const { found, near } = findCode(CODE_TABLES, what);
  if (found.length === 0) {
    return failWith(shell, [
      usageError(
        'NOTHING_TO_EXPLAIN',
        'There is nothing of that name to explain',
        `${JSON.stringify(what)} is no code, no address and no step of a plan.${near === undefined ? '' : ` Did you mean ${near}?`}`,
        { expected: 'a code as STATE_MOVED, an address as TYPE.NAME, or a step as ADDRESS:EFFECT with its plan', observed: what },
      ),
    ]);
  }
  if (shell.output.json) shell.output.document({ format: FORMAT, kind: 'code', codes: found });
  else shell.output.print(renderCodeExplanation(found, shell.output.answer));
  return EXIT.done;
}

/** By the state and the documents of today. */
async function explainByRecord(args: ExplainArguments, shell: Shell): Promise<ExitCode> {
  return await readingState(shell, args, async (store, { workspace, environment: { folder } }) => {
    const snapshot = await store.read();
    const environment = workspace?.environment;
    const known = [...(snapshot?.resources.keys() ?? []), ...(environment?.resources.map(({ address }) => address) ?? [])];
    const address = known.find((candidate) => candidate === args.what);
    if (address === undefined) {
      const why =
        environment === undefined
          ? 'the state does not hold it, and the documents cannot be loaded'
          : 'neither the documents nor the state hold it';
      return failWith(shell, [unknownAddress(args.what, known, why)]);
    }
    const row = snapshot?.resources.get(address);
    return await tellAddress(
      { address, environment, folder, row, plan: undefined, rows: [...(snapshot?.resources.values() ?? [])] },
      shell,
    );
  });
}

/** By a saved plan and the documents that it was made from. */
async function explainByPlan(args: ExplainArguments, file: string, shell: Shell): Promise<ExitCode> {
  const path = resolve(shell.folder, file);
  const read = await readPlanFile(path);
  if (!read.ok) return failWith(shell, read.diagnostics);
  const plan = read.value;
  const folder = args.isPlaced ? resolve(shell.folder, args.folder) : recordedFolder(plan, path, shell.folder);
  const opened = await openDocuments(shell, { ...args, folder });
  const environment = opened.ok ? opened.value : undefined;
  if (environment?.sourceDigest !== plan.inputs.sourceDigest) shell.output.warn([movedOn(environment !== undefined)]);
  const step = stepParts(args.what);
  if (step !== undefined) return await tellStep(args.what, { plan, environment, folder }, shell);
  const known = plan.changes.map((change) => change.address);
  const address = known.find((candidate) => candidate === args.what);
  if (address === undefined) return failWith(shell, [unknownAddress(args.what, known, 'the plan does not hold it')]);
  return await tellAddress({ address, environment, folder, row: undefined, plan, rows: [] }, shell);
}

interface Known {
  readonly environment: Environment | undefined;
  readonly folder: string;
}

async function tellStep(
  what: string,
  { plan, environment, folder }: Known & { readonly plan: PlanDocument },
  shell: Shell,
): Promise<ExitCode> {
  const step = plan.steps.find(({ id }) => id === what);
  if (step === undefined) {
    const ids = plan.steps.map(({ id }) => id);
    const { address = '' } = stepParts(what) ?? {};
    const own = plan.steps.filter((other) => other.address === address).map(({ effect }) => effect);
    const near = nearMiss(what, ids);
    const hint = near === undefined ? (own.length > 0 ? ` ${address} has the steps ${own.join(', ')}.` : '') : ` Did you mean ${near}?`;
    return failWith(shell, [
      usageError('NOTHING_TO_EXPLAIN', 'There is nothing of that name to explain', `The plan has no step ${what}.${hint}`, {
        observed: what,
      }),
    ]);
  }
  const index = new InstanceIndex(environment?.resources ?? []);
  const change = plan.changes.find((other) => other.address === step.address);
  const causes = causesOf(plan, step.address, index);
  const rows = {
    step,
    action: change?.action ?? null,
    waits: waitsOf(plan, step, index),
    before: plan.steps.filter((other) => other.after.includes(step.id)).map(({ id }) => id),
    causes,
    causeOrigin: await originOf(causes.at(-1)?.places[0]?.source ?? null, folder, shell),
    commit: plan.inputs.commit,
  };
  if (shell.output.json) shell.output.document({ format: FORMAT, kind: 'step', ...rows });
  else shell.output.print(renderStepExplanation(shell.output.clean(rows), shell.output.answer));
  return EXIT.done;
}

async function tellAddress(
  known: Known & {
    readonly address: ResourceAddress;
    readonly row: ResourceRow | undefined;
    readonly rows: readonly ResourceRow[];
    readonly plan: PlanDocument | undefined;
  },
  shell: Shell,
): Promise<ExitCode> {
  const { address, environment, folder, row, plan } = known;
  const index = new InstanceIndex(environment?.resources ?? []);
  const instance = index.byAddress.get(address);
  const written = neighbours(index, address);
  const recordedBy = known.rows.filter(({ dependencies }) => dependencies.includes(address)).map((other) => other.address);
  const change = plan?.changes.find((other) => other.address === address);
  const source = instance?.source ?? change?.source ?? null;
  const causes = plan === undefined || change === undefined || change.cause === null ? [] : causesOf(plan, address, index);
  const rows = {
    address,
    type: instance?.type ?? row?.type ?? change?.type ?? null,
    provider: instance?.provider ?? row?.provider ?? change?.provider ?? null,
    role: instance?.role ?? row?.role ?? change?.role ?? null,
    source,
    origin: await originOf(source, folder, shell),
    needs: instance === undefined ? (row?.dependencies ?? []) : written.needs,
    neededBy: environment === undefined ? recordedBy : written.neededBy,
    recorded: row === undefined ? null : { ref: row.ref, status: row.status, dependencies: row.dependencies, protected: row.protected },
    planned:
      change === undefined
        ? null
        : {
            action: change.action,
            reason: change.reason,
            steps: (plan?.steps ?? []).filter((step) => step.address === address).map(({ id }) => id),
          },
    causes,
    causeOrigin: await originOf(causes.at(-1)?.places[0]?.source ?? null, folder, shell),
  };
  if (shell.output.json) shell.output.document({ format: FORMAT, kind: 'address', ...rows });
  else shell.output.print(renderAddressExplanation(shell.output.clean(rows), shell.output.answer));
  return EXIT.done;
}

/** The commit of a line, where there is a line. */
async function originOf(source: SourceRange | null, folder: string, shell: Shell) {
  return source === null ? null : ((await lineCommit(folder, source, hostFor(shell), shell.interrupts.reads)) ?? null);
}

function unknownAddress(what: string, known: readonly string[], why: string): Diagnostic {
  return usageError(
    'NOTHING_TO_EXPLAIN',
    'There is nothing of that name to explain',
    `There is no resource ${what}: ${why}.${addressHint(what, known)}`,
    { observed: what },
  );
}

function movedOn(areReadable: boolean): Diagnostic {
  return {
    severity: 'warning',
    code: 'EXPLAIN_MOVED_ON',
    summary: 'The documents are not those of the plan',
    detail: areReadable
      ? 'The documents changed since the plan was made. Places and dependencies are those of today.'
      : 'The documents have mistakes or are not there. Places and dependencies are told as far as the plan holds them.',
  };
}
