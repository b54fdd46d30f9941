import { formatAddress, parseAddress } from '../../src/core/address.ts';
import { digestOf } from '../../src/core/canonical.ts';
import type { Role } from '../../src/core/facet.ts';
import { type Expression, type ResourceReference, type Template, templateReferences } from '../../src/core/template.ts';
import { containsUnknown, encodeValue, isAttributes, Sensitive, Unknown, type Value } from '../../src/core/value.ts';
import type { Environment, Lifecycle, ResourceInstance, Update } from '../../src/spec/environment.ts';

/** Environments made in tests without YAML. A `Reference` among the attributes becomes an expression. */
export class Reference {
  readonly address: string;
  readonly path: readonly string[];
  constructor(address: string, ...path: readonly string[]) {
    this.address = address;
    this.path = path;
  }
}

export type Desired = { readonly [name: string]: Value | Reference | { readonly [name: string]: Value | Reference } };

const NOWHERE = { file: 'environment.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };

export interface DesiredOptions {
  readonly provider?: string;
  readonly role?: Role;
  readonly dependsOn?: readonly string[];
  readonly lifecycle?: Partial<Lifecycle>;
  readonly update?: Partial<Update>;
  readonly commitAfter?: readonly string[];
}

export function desired(address: string, attributes: Desired, options: DesiredOptions = {}): ResourceInstance {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is no address`);
  const template = templateOf(attributes as Value | Reference);
  return {
    address: formatAddress(parts),
    type: parts.type,
    name: parts.name,
    ...(parts.key === undefined ? {} : { key: parts.key }),
    provider: options.provider ?? parts.type.split('.')[0] ?? '',
    role: options.role ?? 'infrastructure',
    attributes: template,
    references: [...templateReferences(template), ...(options.lifecycle?.replaceTriggeredBy ?? [])],
    dependsOn: (options.dependsOn ?? []).map((needed) => ({ address: needed, restart: false })),
    lifecycle: {
      preventDestroy: undefined,
      ignoreChanges: [],
      createBeforeDestroy: options.update?.order === 'start-first',
      replaceTriggeredBy: [],
      preconditions: [],
      postconditions: [],
      ...options.lifecycle,
    },
    timeouts: {},
    update: options.update === undefined ? undefined : { batch: 1, pause: 0, drain: 0, order: 'stop-first', ...options.update },
    commitAfter: options.commitAfter ?? [],
    folder: '/environment',
    source: NOWHERE,
    locate: () => NOWHERE,
  };
}

export function environment(resources: readonly ResourceInstance[], more: Partial<Environment> = {}): Environment {
  const sorted = [...resources].sort((a, b) => (a.address < b.address ? -1 : 1));
  return {
    name: 'test',
    folder: '/environment',
    workTree: '/environment',
    sourceDigest: digestOf(sorted.map((resource) => [resource.address, fixed(resource.attributes)])),
    variables: {},
    secrets: new Map(),
    state: { backend: 'sqlite', path: '/environment/.accede/state.db' },
    providers: [],
    resources: sorted,
    outputs: [],
    moved: [],
    removed: [],
    imports: [],
    policy: {},
    hooks: { backup: 'none' },
    quiesce: {},
    ...more,
  };
}

/** An expression that reads one place of one resource. */
export function expression(address: string, ...path: readonly string[]): Expression {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is no address`);
  const reference: ResourceReference = { type: parts.type, name: parts.name, ...(parts.key === undefined ? {} : { key: parts.key }), path };
  return {
    text: [address, ...path].join('.'),
    references: [reference],
    evaluate: (lookup) => {
      let value = lookup(parts.type, parts.name);
      for (const segment of [...(parts.key === undefined ? [] : [parts.key]), ...path]) {
        if (value instanceof Unknown || value === undefined) break;
        value = isAttributes(value) ? value[segment] : undefined;
      }
      return { ok: true, value: value ?? null, diagnostics: [] };
    },
  };
}

/** An expression over a value, for conditions. */
export function condition(address: string, path: string, test: (value: Value) => boolean): Expression {
  const inner = expression(address, path);
  return {
    ...inner,
    evaluate: (lookup) => {
      const outcome = inner.evaluate(lookup);
      if (!outcome.ok || typeof outcome.value === 'symbol') return outcome;
      return { ok: true, value: containsUnknown(outcome.value) ? outcome.value : test(outcome.value), diagnostics: [] };
    },
  };
}

function templateOf(value: Value | Reference | Desired[string]): Template {
  if (value instanceof Reference) return { kind: 'expression', expression: expression(value.address, ...value.path) };
  if (value instanceof Sensitive || value instanceof Unknown || Array.isArray(value)) return { kind: 'literal', value: value as Value };
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value as Desired).map(([name, item]) => [name, templateOf(item as Value | Reference)] as const);
    return { kind: 'map', entries };
  }
  return { kind: 'literal', value: value as Value };
}

function fixed(template: Template): unknown {
  if (template.kind === 'literal') return encodeValue(template.value, undefined);
  if (template.kind === 'map') return Object.fromEntries(template.entries.map(([name, item]) => [name, fixed(item)]));
  return template.kind === 'expression' ? template.expression.text : template.kind;
}
