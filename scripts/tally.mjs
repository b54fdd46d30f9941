// Turns the JSON report of one vitest project into numbers and the reasons why it counts as failed.

/**
 * Counts a report (`undefined` when vitest left none). A file that could not be run, an empty project, an error outside of every test and,
 * where `strict` is set, a test that was skipped count as a failure each.
 */
export function tally(report, { exitCode, strict }) {
  if (report === undefined) return { passed: 0, failed: 1, reasons: [`vitest left no report (exit code ${exitCode})`] };
  const reasons = [];
  let failed = report.numFailedTests;
  if (failed > 0) reasons.push(`${failed} failed`);

  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  for (const file of broken) reasons.push(`${file.name} could not be run`);
  failed += broken.length;

  const skipped = report.testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status !== 'passed' && test.status !== 'failed'),
  );
  if (strict && skipped.length > 0) {
    for (const test of skipped) reasons.push(`skipped: ${test.fullName}`);
    failed += skipped.length;
  }
  if (report.numPassedTests + report.numFailedTests === 0) {
    reasons.push('not a single test ran');
    failed += 1;
  }
  if (failed === 0 && exitCode !== 0) {
    reasons.push(`an error outside of every test (vitest's exit code is ${exitCode})`);
    failed += 1;
  }
  return { passed: report.numPassedTests, failed, reasons };
}
