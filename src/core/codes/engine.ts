import { APPLY_CODES } from './apply.ts';
import { CLI_CODES } from './cli.ts';
import { DOCUMENT_CODES } from './documents.ts';
import type { CodeTable } from './entry.ts';
import { EXPRESSION_CODES } from './expressions.ts';
import { PLAN_CODES } from './plan.ts';
import { POLICY_CODES } from './policy.ts';
import { RELEASE_CODES } from './release.ts';
import { RESOURCE_CODES } from './resources.ts';
import { STATE_CODES } from './state.ts';

/** Every code that Accede itself gives: of diagnostics, refusals and warnings. Those of a provider stand with the provider. */
export const ENGINE_CODES: CodeTable = {
  ...DOCUMENT_CODES,
  ...RELEASE_CODES,
  ...RESOURCE_CODES,
  ...EXPRESSION_CODES,
  ...PLAN_CODES,
  ...POLICY_CODES,
  ...APPLY_CODES,
  ...STATE_CODES,
  ...CLI_CODES,
};
