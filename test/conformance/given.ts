import { ProviderError } from '../../src/providers/contract.ts';
import type { ConformanceCase, LiveCase, TypeCase } from './case.ts';
import type { Driver } from './driver.ts';

/** The resource name of every sample. */
export const NAME = 'sample';

/** What a case starts from; asked for inside of the case, since it is made anew for each. */
export type Given = () => { readonly workspace: ConformanceCase; readonly driver: Driver };

/** The samples of a type. */
export function caseOf(workspace: ConformanceCase, name: string): TypeCase {
  const found = workspace.types.find((one) => one.type === name);
  if (found === undefined) throw new Error(`no case for ${name}`);
  return found;
}

/** The ways to meddle with a type's objects. */
export function liveOf(workspace: ConformanceCase, name: string): LiveCase {
  const { live } = caseOf(workspace, name);
  if (live === undefined) throw new Error(`${name} has no live case`);
  return live;
}

/** The provider error of an attempt that has to fail; any other error goes on. */
export async function failureOf(attempt: Promise<unknown>): Promise<ProviderError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('it succeeded and should have failed');
}
