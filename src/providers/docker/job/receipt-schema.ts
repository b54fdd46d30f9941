import { ProviderError } from '../../contract.ts';

/** Says why a receipt does not fit, one sentence per place; nothing when it fits. */
export type ReceiptCheck = (receipt: unknown) => readonly string[];

const TOLD = 5;

/**
 * Compiles the JSON Schema of a receipt: draft 2020-12 when it says so in `$schema`, else draft-07. Formats are not judged. Throws `INVALID`
 * when it is no schema, or refers to one that is not in it.
 */
export async function compileReceiptSchema(text: string): Promise<ReceiptCheck> {
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  const schema = JSON.parse(text) as { readonly [name: string]: unknown } | boolean;
  const named = typeof schema === 'object' ? schema['$schema'] : undefined;
  const isNewer = typeof named === 'string' && named.includes('2020-12');
  const ajv = isNewer ? new (await import('ajv/dist/2020.js')).Ajv2020(options) : new (await import('ajv')).Ajv(options);
  try {
    const validate = ajv.compile(schema);
    return (receipt) => {
      if (validate(receipt)) return [];
      return (validate.errors ?? []).slice(0, TOLD).map((error) => `${error.instancePath || '/'} ${error.message ?? 'does not fit'}`);
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ProviderError('INVALID', `The JSON Schema of the receipt cannot be used: ${error.message}.`, { cause: error });
  }
}
