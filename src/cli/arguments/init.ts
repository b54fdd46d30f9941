import type { RawInput } from '../shell.ts';
import { TEMPLATES, type TemplateName } from '../templates.ts';

/** `init` as it was written. */
export interface InitArguments {
  readonly folder: string;
  readonly template: TemplateName;
}

export function parseInitArguments(input: RawInput): InitArguments {
  return {
    folder: input.operands[0] ?? '.',
    // Commander has checked the choice.
    template: TEMPLATES.find((known) => known === input.options['template']) ?? 'quickstart',
  };
}
