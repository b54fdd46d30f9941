import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Outcome, succeed } from '../core/diagnostic.ts';
import type { Plain } from '../core/value.ts';
import { parseApprovalsFile } from '../policy/approval.ts';
import { readBounded } from './planfiles.ts';

const MOST_BYTES = 1024 * 1024;

/** The file beside a plan in which its approvals are. */
export function approvalsBeside(plan: string): string {
  return `${plan}.approvals.json`;
}

/** The approvals in a file. */
export async function readApprovals(path: string): Promise<Outcome<readonly Plain[]>> {
  const read = await readBounded(path, MOST_BYTES);
  return read.ok ? parseApprovalsFile(read.value, path) : read;
}

/** The approvals for an apply: of the file that was named, else of the one beside the saved plan, where there is one. */
export async function approvalsFor(
  folder: string,
  named: string | undefined,
  plan: string | undefined,
): Promise<Outcome<readonly Plain[]>> {
  if (named !== undefined) return await readApprovals(resolve(folder, named));
  const beside = plan === undefined ? undefined : approvalsBeside(resolve(folder, plan));
  return beside !== undefined && existsSync(beside) ? await readApprovals(beside) : succeed([]);
}
