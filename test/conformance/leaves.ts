import type { Attributes, Value } from '../../src/core/value.ts';

/** Every place in attributes that holds a plain leaf, with the attributes as they are when that leaf is replaced. */
export function replacedLeaves(
  attributes: Attributes,
  replacement: (leaf: Value) => Value,
): readonly { readonly path: string; readonly attributes: Attributes }[] {
  const results: { readonly path: string; readonly attributes: Attributes }[] = [];
  const visit = (value: Value, path: string, rebuild: (changed: Value) => Value) => {
    if (Array.isArray(value)) {
      value.forEach((item: Value, index) =>
        visit(item, `${path}[${index}]`, (changed) => rebuild(value.map((one: Value, at) => (at === index ? changed : one)))),
      );
    } else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      const record = value as Attributes;
      for (const [name, item] of Object.entries(record))
        visit(item, path === '' ? name : `${path}.${name}`, (changed) => rebuild({ ...record, [name]: changed }));
    } else {
      results.push({ path, attributes: rebuild(replacement(value)) as Attributes });
    }
  };
  visit(attributes, '', (changed) => changed);
  return results;
}
