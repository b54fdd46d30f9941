import { resolve } from 'node:path';
import { compareText } from '../../core/address.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { PrivateKey } from '../../core/ed25519.ts';
import type { Plain } from '../../core/value.ts';
import type { PlanDocument } from '../../plan/model.ts';
import { type Approval, approvalsText, parseApproval, signApproval } from '../../policy/approval.ts';
import { approvalsBeside, approvalsFor } from '../approvals-file.ts';
import { type ApproveArguments, parseApproveArguments } from '../arguments/approval.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { plannedVariables, readPlanFile, recordedFolder, writePrivateFile } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { readSigningKey } from '../signing-key.ts';
import { failWith } from './failing.ts';
import { noState, readingState } from './reading.ts';

/** `approve PLAN --key FILE`: signs the digest of a plan, for a file beside it or for the state store. */
export async function runApprove(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseApproveArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const path = resolve(shell.folder, args.value.plan);
  const plan = await readPlanFile(path);
  if (!plan.ok) return failWith(shell, plan.diagnostics);
  if (!plan.value.applicable) return failWith(shell, [notApplicable(plan.value)]);
  const key = await readSigningKey(resolve(shell.folder, args.value.key));
  if (!key.ok) return failWith(shell, key.diagnostics);
  const approval = signApproval(plan.value.digest, key.value, new Date(shell.clock.now()).toISOString());
  return args.value.store
    ? await intoStore(shell, { args: args.value, path, plan: plan.value, key: key.value, approval })
    : await intoFile(shell, { args: args.value, path, plan: plan.value, key: key.value, approval });
}

interface Approving {
  readonly args: ApproveArguments;
  readonly path: string;
  readonly plan: PlanDocument;
  readonly key: PrivateKey;
  readonly approval: Approval;
}

async function intoFile(shell: Shell, approving: Approving): Promise<ExitCode> {
  const present = await approvalsFor(shell.folder, undefined, approving.path);
  if (!present.ok) return failWith(shell, present.diagnostics);
  const file = approvalsBeside(approving.path);
  const problems = await writePrivateFile(file, approvalsText(withApproval(present.value, approving.approval)), shell.ids, 0o644);
  return problems.length > 0 ? failWith(shell, problems) : said(shell, approving, `${approving.args.plan}.approvals.json`);
}

/** The approvals with this one: in place of an earlier one by the same key, and without those of an earlier plan. */
function withApproval(present: readonly Plain[], approval: Approval): readonly Plain[] {
  const others = present.filter((item) => {
    const other = parseApproval(item);
    return other !== undefined && other.plan === approval.plan && other.key !== approval.key;
  });
  return [...others, { ...approval }].sort((a, b) => compareText(keyOf(a), keyOf(b)));
}

function keyOf(item: Plain): string {
  return parseApproval(item)?.key ?? '';
}

async function intoStore(shell: Shell, approving: Approving): Promise<ExitCode> {
  const place = placeOf(shell, approving.args.folder, approving.path, approving.plan);
  return await readingState(shell, place, async (store, { environment }) => {
    const { plan, key, approval } = approving;
    const kept = await store.putApproval(
      { planDigest: plan.digest, signer: key.publicKey.fingerprint, body: { ...approval } },
      actorOf(shell),
    );
    return kept ? said(shell, approving, 'the state store') : failWith(shell, [noState(environment.name)]);
  });
}

/** Where the state of a plan is: in the folder that was named, else in the one that the plan was made for. */
export function placeOf(shell: Shell, folder: string | undefined, path: string, plan: PlanDocument) {
  return { folder: folder ?? recordedFolder(plan, path, shell.folder), variables: plannedVariables(plan), variableFiles: [] };
}

function said(shell: Shell, { plan, key, approval }: Approving, where: string): ExitCode {
  const { text, fingerprint } = key.publicKey;
  if (shell.output.json) shell.output.document({ ...approval, environment: plan.environment, class: plan.succession.class, fingerprint });
  else {
    shell.output.print(
      `Approved: the plan ${plan.digest} of ${plan.environment}, class ${plan.succession.class}.\nKey ${fingerprint} (${text}), kept in ${where}.\n`,
    );
  }
  return EXIT.done;
}

function notApplicable(plan: PlanDocument): Diagnostic {
  return {
    severity: 'error',
    code: 'PLAN_NOT_APPLICABLE',
    summary: 'The plan is not applicable',
    detail: `The plan of ${plan.environment} cannot be applied, approved or not: its class is ${plan.succession.class}. Nothing was signed.`,
  };
}
