import { parseReadingArguments } from '../arguments/reading.ts';
import { usageError } from '../arguments/values.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderAudit, renderEvidence } from '../views/audit.ts';
import { failWith } from './failing.ts';
import { readingState } from './reading.ts';

/** `audit list`. */
export async function runAuditList(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store) => {
    const records = (await store.audit()).toReversed();
    if (shell.output.json) shell.output.document({ format: 'accede.audit/v1', records });
    else shell.output.print(renderAudit(shell.output.clean(records), shell.output.answer));
    return EXIT.done;
  });
}

/** `audit verify`: a broken chain is a difference, exit 2. */
export async function runAuditVerify(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store) => {
    const verdict = (await store.verifyAudit()) ?? { records: 0, keyFingerprint: '', problem: null };
    const { records, keyFingerprint, problem } = verdict;
    if (problem !== null) {
      if (shell.output.json) shell.output.document({ format: 'accede.audit-verdict/v1', ...verdict });
      else {
        const detail = `The record ${problem.ordinal} is ${problem.kind}: ${problem.detail}.`;
        shell.output.report([{ severity: 'error', code: 'AUDIT_BROKEN', summary: 'The audit chain is broken', detail }]);
      }
      return EXIT.changes;
    }
    if (shell.output.json) shell.output.document({ format: 'accede.audit-verdict/v1', ...verdict });
    else
      shell.output.print(records === 0 ? 'Nothing was ever recorded.' : `The chain is whole: ${records} records, key ${keyFingerprint}.`);
    return EXIT.done;
  });
}

/** `evidence list`. */
export async function runEvidenceList(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store) => {
    const rows = (await store.evidence()).toReversed();
    if (shell.output.json)
      shell.output.document({ format: 'accede.evidence-list/v1', evidence: rows.map(({ body: _body, ...row }) => row) });
    else shell.output.print(renderEvidence(shell.output.clean(rows), shell.output.answer));
    return EXIT.done;
  });
}

/** `evidence show SERIAL`: one document a line. */
export async function runEvidenceShow(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: true });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const text = (args.value.what ?? '').replace(/^(op-|#)/, '');
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    const detail = `${JSON.stringify(args.value.what)} is no serial.`;
    return failWith(shell, [
      usageError('BAD_OPERAND', 'An operand has to be a serial and is not one', detail, { expected: 'a number, as 12' }),
    ]);
  }
  return await readingState(shell, args.value, async (store) => {
    const rows = await store.evidence(Number(text));
    if (rows.length === 0) {
      const detail = `No run of op-${text} left evidence: there is no such operation, or all of its runs were killed.`;
      return failWith(shell, [
        { severity: 'error', code: 'NO_EVIDENCE', summary: 'There is no evidence', detail, next: 'accede evidence list' },
      ]);
    }
    for (const { body } of rows) shell.output.document(body);
    return EXIT.done;
  });
}
