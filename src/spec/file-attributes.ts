import { FunctionRefusal } from '../core/expression-functions.ts';
import type { Template } from '../core/template.ts';
import { type Attributes, isList, Sensitive, Unknown, type Value } from '../core/value.ts';
import type { ResourceBlock } from './assemble.ts';
import type { Compiled } from './compile.ts';
import type { LoadContext } from './context.ts';

/** Reads the files that an attribute names, and puts what they hold in place of the names. */
export function withFiles(template: Template, compiled: Compiled, block: ResourceBlock, context: LoadContext): Template {
  const { node } = compiled;
  if (template.kind !== 'literal') {
    context.report.add(
      {
        code: 'PATH_NOT_KNOWN',
        summary: 'The path of a file is not known',
        detail: 'The file is read before anything else, so that its path cannot depend on another resource.',
        expected: 'a path relative to the document',
        address: block.base,
      },
      node,
    );
    return { kind: 'literal', value: new Unknown('a file that cannot be told') };
  }
  const refuse = (detail: string): Value => {
    context.report.add(
      {
        code: 'FILE_UNREADABLE',
        summary: 'A file that an attribute names cannot be read',
        detail,
        expected: 'a file of the Git work tree, at most 1 MiB',
        address: block.base,
      },
      node,
    );
    return new Unknown('a file that cannot be read');
  };
  const read = (value: Value): Value => {
    // Left to the provider, the secret itself would be taken for what the file holds.
    if (value instanceof Sensitive) return refuse('Its path comes from a secret, and paths are shown. Use a value that is no secret.');
    // Anything else is not for us: the schema says what is wrong with it.
    if (typeof value !== 'string') return value;
    try {
      return context.fixed.files.attribute(node.file.folder, value) satisfies Attributes;
    } catch (error) {
      if (!(error instanceof FunctionRefusal)) throw error;
      return refuse(error.message);
    }
  };
  return { ...template, value: isList(template.value) ? template.value.map(read) : read(template.value) };
}
