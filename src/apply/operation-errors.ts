import { z } from 'zod';
import type { OperationRow } from '../state/model.ts';

/** How much of what an operation failed with is told: the first errors, each up to so many characters. */
const MOST_ERRORS = 10;
const LONGEST_MESSAGE = 1000;

const summarySchema = z.looseObject({ errors: z.array(z.looseObject({ code: z.string(), message: z.string() })) });

/** Why an operation failed, in the words of its run: bounded, and without any secret, as the journal has it. Empty for one that did not. */
export function errorsOf({ summary }: Pick<OperationRow, 'summary'>): readonly { readonly code: string; readonly message: string }[] {
  const { errors } = summarySchema.safeParse(summary).data ?? { errors: [] };
  return errors.slice(0, MOST_ERRORS).map(({ code, message }) => ({
    code,
    message: message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message,
  }));
}
