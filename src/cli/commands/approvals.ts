import { resolve } from 'node:path';
import { admitPlan } from '../../apply/admission.ts';
import { isWhole } from '../../apply/seal.ts';
import { classesOf, requirementsOf } from '../../policy/admit.ts';
import { countApprovals } from '../../policy/count.ts';
import { changesGovernance, policyInForce } from '../../policy/policy.ts';
import { approvalsFor } from '../approvals-file.ts';
import { parseApprovalsArguments } from '../arguments/approval.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readPlanFile } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderApprovals } from '../views/approvals.ts';
import { placeOf } from './approve.ts';
import { failWith } from './failing.ts';
import { readingState } from './reading.ts';

/** `approvals PLAN`: which approvals a plan has, what each of them is worth, and what is missing. Reads only. */
export async function runApprovals(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseApprovalsArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const path = resolve(shell.folder, args.value.plan);
  const read = await readPlanFile(path);
  if (!read.ok) return failWith(shell, read.diagnostics);
  const plan = read.value;
  const given = await approvalsFor(shell.folder, args.value.approvals, path);
  if (!given.ok) return failWith(shell, given.diagnostics);
  return await readingState(shell, placeOf(shell, args.value.folder, path, plan), async (store, { workspace }) => {
    const snapshot = await store.read();
    const environment = workspace?.environment ?? { policy: {}, hooks: {}, quiesce: {} };
    const policy = policyInForce(snapshot?.sealed, environment);
    if (policy === undefined || workspace === undefined) {
      const admission = workspace === undefined ? undefined : await admitPlan(workspace.context, snapshot, { plan });
      return failWith(shell, admission?.refusals ?? [undecided()]);
    }
    const changes = isWhole(plan) && changesGovernance(snapshot?.sealed, environment);
    const requirements = requirementsOf(classesOf({ plan, changesGovernance: changes }), policy, false);
    const found = [...given.value, ...(await store.approvals(plan.digest))];
    const { tallies, verdicts } = countApprovals(found, { plan: plan.digest, policy, requirements });
    const rows = {
      format: 'accede.approval-list/v1' as const,
      plan: plan.digest,
      class: plan.succession.class,
      complete: tallies.every(({ needed, by }) => by.length >= needed),
      requirements: tallies,
      approvals: verdicts,
    };
    if (shell.output.json) shell.output.document(rows);
    else shell.output.print(renderApprovals(shell.output.clean(rows), shell.output.answer));
    return EXIT.done;
  });
}

function undecided() {
  return {
    severity: 'error',
    code: 'DOCUMENTS_UNREADABLE',
    summary: 'The documents have mistakes',
    detail: 'What the plan needs depends on the documents, and they cannot be loaded.',
    next: 'accede validate',
  } as const;
}
