import type { Diagnostic } from '../../core/diagnostic.ts';

/** What is said of an exception that nobody expected. Its stack is for who works on Accede and asks for it. */
export function bugDiagnostic(error: unknown, options: { readonly version: string; readonly stack: boolean }): Diagnostic {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = options.stack && error instanceof Error && error.stack !== undefined ? `\n${error.stack}` : '';
  return {
    severity: 'error',
    code: 'BUG',
    summary: 'This is a bug in Accede.',
    detail: `Version ${options.version} met something that can not happen: ${message}. Please report it together with the command line.${
      options.stack ? stack : ' With ACCEDE_DEBUG=1 the place is shown.'
    }`,
  };
}
