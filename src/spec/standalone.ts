import { fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { Expression } from '../core/template.ts';
import { type Binding, bindExpression } from './binding.ts';
import { compileNode } from './compile.ts';
import type { LoadContext } from './context.ts';
import type { SpecDocument } from './documents.ts';
import { readChecks } from './references.ts';
import { Report } from './report.ts';
import { placeFor, USES } from './scopes.ts';
import { sourceFile } from './source.ts';

/** Compiles an expression that stands in no document, with the names that outputs have. */
export function compileText(text: string, environment: SpecDocument, context: LoadContext): Outcome<Expression> {
  const report = new Report();
  const whole = `\${${text}}`;
  const file = sourceFile('(expression)', environment.file.path, environment.file.folder, whole);
  const place = placeFor(USES.output, context.fixed, readChecks(USES.output, context.referable, context.references, report));
  context.fixed.files.open();
  try {
    const compiled = compileNode({ kind: 'scalar', value: whole, file, start: 0, end: whole.length }, place, report);
    const binding: Binding = {
      references: context.references,
      report,
      places: new Map(),
      key: undefined,
      fixed: context.scope(environment.file),
      scope: (lookup) => context.scope(environment.file, {}, lookup),
    };
    if (compiled.kind === 'expression') {
      const expression = bindExpression(compiled.expression, binding);
      return report.hasErrors ? fail(...report.sorted()) : succeed(expression, report.sorted());
    }
    if (!report.hasErrors)
      report.add({
        code: 'BAD_EXPRESSION',
        summary: 'An expression cannot be read',
        detail: 'The text is more than one expression. Give what stands between ${ and }.',
        expected: 'a CEL expression',
      });
    return fail(...report.sorted());
  } finally {
    context.fixed.files.close();
  }
}
