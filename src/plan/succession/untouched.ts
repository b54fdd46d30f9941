import type { ResourceAddress } from '../../core/address.ts';
import { parsePath } from '../../core/path.ts';
import { evaluateTemplate, OMIT, type ResourceLookup, type Template } from '../../core/template.ts';
import {
  type Attributes,
  containsUnknown,
  findUnknown,
  isAttributes,
  mapLeaves,
  Sensitive,
  sameValue,
  Unknown,
  type Value,
} from '../../core/value.ts';
import type { Assessed } from '../assess.ts';
import { valueAt } from '../diff.ts';
import { evaluateInstance } from '../evaluate.ts';
import { recordedAttributes, recordedComputed } from '../live.ts';

/** Whether what an attribute is made of is as it was, so that a value which only an apply will know can differ no more than what it reads does. */
export type Untouched = (address: ResourceAddress, path: string) => boolean;

/**
 * Told from the record: with the computed attributes that are recorded in place of those to come, the candidate has the recorded value. What
 * is unknown even then waits for something that is only read.
 */
export function untouchedSinceRecord(resources: ReadonlyMap<ResourceAddress, Assessed>, key: Buffer | undefined): Untouched {
  const lookup = recordedLookup(resources);
  return (address, path) => {
    const assessed = resources.get(address);
    const row = assessed?.recorded?.row;
    if (assessed?.instance === undefined || row === undefined) return false;
    const outcome = evaluateInstance(assessed.instance, assessed.type, assessed.context, lookup, row);
    if (!outcome.ok) return false;
    const segments = parsePath(path) ?? [];
    const then = valueAt(outcome.value.normal, segments);
    if (then !== undefined && findUnknown(then) !== undefined) return true;
    return sameValue(valueAt(recordedAttributes(assessed.type, row), segments), then, key);
  };
}

/** What expressions see of the candidate's resources while the computed attributes are those of the record. */
function recordedLookup(resources: ReadonlyMap<ResourceAddress, Assessed>): ResourceLookup {
  const singles = new Map<string, Value>();
  const groups = new Map<string, Record<string, Value>>();
  for (const { instance, evaluated, recorded, address } of resources.values()) {
    if (instance === undefined) continue;
    const computed = recorded === undefined ? {} : recordedComputed(recorded.row);
    const seen: Value =
      evaluated === undefined || recorded === undefined
        ? new Unknown(address)
        : { ...evaluated.normal, ...evaluated.written, ...evaluated.foreseen, ...computed };
    const base = `${instance.type}.${instance.name}`;
    if (instance.key === undefined) singles.set(base, seen);
    else groups.set(base, { ...groups.get(base), [instance.key]: seen });
  }
  return (type, name) => singles.get(`${type}.${name}`) ?? groups.get(`${type}.${name}`) ?? new Unknown(`${type}.${name}`);
}

/** One side of a comparison of documents. */
export interface WrittenSide {
  readonly templates: ReadonlyMap<ResourceAddress, Template>;
  readonly lookup: ResourceLookup;
}

/** Told from two environments: with names in place of all that is unknown, both give the same. */
export function untouchedBetween(before: WrittenSide, after: WrittenSide): Untouched {
  return (address, path) => {
    const segments = parsePath(path) ?? [];
    const attribute = String(segments[0] ?? path);
    const [left, right] = [written(before, address), written(after, address)];
    if (left !== undefined && right !== undefined) {
      const [one, other] = [valueAt(left, segments), valueAt(right, segments)];
      // Where the normal form has other places than the documents, the whole attribute counts.
      if (one !== undefined && other !== undefined) return sameValue(one, other, undefined);
      return sameValue(left[attribute], right[attribute], undefined);
    }
    const [one, other] = [before.templates.get(address), after.templates.get(address)];
    return one !== undefined && other !== undefined && textOf(one, attribute) === textOf(other, attribute);
  };
}

function written({ templates, lookup }: WrittenSide, address: ResourceAddress): Attributes | undefined {
  const template = templates.get(address);
  if (template === undefined) return undefined;
  const outcome = evaluateTemplate(template, (type, name) => {
    const value = lookup(type, name);
    return value === undefined ? undefined : named(value);
  });
  return outcome.ok && outcome.value !== OMIT && isAttributes(outcome.value) ? outcome.value : undefined;
}

/** Every unknown as text that says what it is. */
function named(value: Value): Value {
  return mapLeaves(value, (leaf) => {
    if (leaf instanceof Unknown) return `(${leaf.of})`;
    if (leaf instanceof Sensitive && leaf.isOpen && containsUnknown(leaf.reveal())) return Sensitive.open(named(leaf.reveal()), leaf.names);
    return leaf;
  });
}

/** The text of an attribute as it is written, as far as it waits for resources. */
function textOf(template: Template, attribute: string): string | undefined {
  if (template.kind !== 'map') return undefined;
  const entry = template.entries.find(([name]) => name === attribute)?.[1];
  return entry === undefined ? undefined : render(entry);
}

function render(template: Template): string {
  switch (template.kind) {
    case 'literal':
      return JSON.stringify(template.value);
    case 'expression':
      return `\${${template.expression.text}}`;
    case 'text':
      return template.parts.map((part) => (typeof part === 'string' ? part : `\${${part.text}}`)).join('');
    case 'list':
      return `[${template.items.map(render).join(',')}]`;
    case 'map':
      return `{${template.entries.map(([name, item]) => `${name}:${render(item)}`).join(',')}}`;
  }
  return template satisfies never;
}
