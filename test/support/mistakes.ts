import { BLOCKS_MISTAKES } from './mistakes/blocks.ts';
import { DOCUMENTS_MISTAKES } from './mistakes/documents.ts';
import { EXPRESSIONS_MISTAKES } from './mistakes/expressions.ts';
import { INPUTS_MISTAKES } from './mistakes/inputs.ts';
import type { Mistake } from './mistakes/mistake.ts';
import { RESOURCES_MISTAKES } from './mistakes/resources.ts';
import { YAML_MISTAKES } from './mistakes/yaml.ts';

/** Wrong environments, each with the one thing that must be said of it: read in process by the unit tests, and given to the built program. */
export const MISTAKES: readonly Mistake[] = [
  ...YAML_MISTAKES,
  ...DOCUMENTS_MISTAKES,
  ...INPUTS_MISTAKES,
  ...EXPRESSIONS_MISTAKES,
  ...RESOURCES_MISTAKES,
  ...BLOCKS_MISTAKES,
];
